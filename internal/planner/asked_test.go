package planner_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// notedTables are the public tables of the test data, and note what somebody asks about.
type notedTables struct {
	tables
	asked map[string]bool
}

func (n notedTables) Values(table, column string, limit int) ([]policy.Value, error) {
	n.asked[table] = true
	return n.tables.Values(table, column, limit)
}

func (n notedTables) Most(table string, columns []string) (int64, error) {
	n.asked[table] = true
	return n.tables.Most(table, columns)
}

func (n notedTables) Rows(table string, limit int) ([][]tree.Value, error) {
	n.asked[table] = true
	return n.tables.Rows(table, limit)
}

// TestAsksAboutPublicTables: a plan follows from the text, the policy and public tables. No planner
// asks what a private table has, whatever the engine would say.
func TestAsksAboutPublicTables(t *testing.T) {
	ds := hospital(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	public := 0
	look := func(ds *policy.Dataset, sql string) {
		noted := notedTables{asked: map[string]bool{}}
		_, _ = planner.Prepare(ds, sql, planner.Options{Public: noted})
		for name := range noted.asked {
			if public++; !ds.Tables[name].Public {
				t.Errorf("%s: what the private table %s has decides about the plan", sql, name)
			}
		}
	}
	for _, file := range files {
		for _, c := range readCases(t, file)[1:] {
			sql, _, _ := strings.Cut(c, "----\n")
			look(ds, strings.TrimSuffix(sql, "\n"))
		}
	}
	if public < 50 {
		t.Errorf("only %d questions ask about a public table, so this test looks at nothing", public)
	}
	moments := parsed(t, `
datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: people.id
    budget: {epsilon: 1}
    analysts: {ana: {}}
    tables:
      people:
        unique: id
        columns:
          day:  {type: date, bounds: [2020-01-01, 2024-12-31]}
          seen: {type: timestamp, bounds: ["2020-01-01 00:00:00", "2024-12-31 23:59:59.999999"]}
`)
	for _, key := range []string{"seen", "date_trunc('month', seen)", "day", "extract(year FROM seen)", "date_trunc('year', day)"} {
		look(moments, "SELECT "+key+", COUNT(*) FROM people GROUP BY 1")
	}
}

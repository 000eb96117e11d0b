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
	for _, file := range files {
		for _, c := range readCases(t, file)[1:] {
			sql, _, _ := strings.Cut(c, "----\n")
			noted := notedTables{asked: map[string]bool{}}
			_, _ = planner.Prepare(ds, strings.TrimSuffix(sql, "\n"), planner.Options{Public: noted})
			for name := range noted.asked {
				if public++; !ds.Tables[name].Public {
					t.Errorf("%s: what the private table %s has decides about the plan", sql, name)
				}
			}
		}
	}
	if public < 50 {
		t.Errorf("only %d questions ask about a public table, so this test looks at nothing", public)
	}
}

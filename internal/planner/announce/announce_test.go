package announce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner/announce"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/policy"
)

const shop = `datasets:
  shop:
    engine: duckdb
    source: shop.duckdb
    unit: people.pid
    budget: {epsilon: 1}
    analysts: {ana: {share: 1}}
    tables:
      people:
        unique: pid
        columns:
          age:  {type: integer, bounds: [0, 110]}
          paid: {type: decimal, bounds: [-5, 1000], granularity: 0.01}
          part: {type: decimal, bounds: [0, 0.5], granularity: 0.001}
          odd:  {type: decimal, bounds: [0, 1], granularity: 1/3}
          any:  {type: decimal}
          town: {type: text}
          born: {type: date}
      towns:
        public: true
        columns:
          town: {type: text}
          size: {type: integer}
    views:
      months: SELECT date_trunc('month', born) AS month, paid, town FROM people
      again: SELECT * FROM again
      joined: SELECT * FROM months JOIN towns USING (town)
`

func dataset(t *testing.T) *policy.Dataset {
	t.Helper()
	p, err := policy.Parse("shop.yaml", []byte(strings.Replace(shop, "1/3", "0.25", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets["shop"]
}

func describe(t *testing.T, ds *policy.Dataset, sql string, kinds ...string) string {
	t.Helper()
	s, err := syntax.Open(sql, nil).SelectOf("shop")
	if err != nil {
		t.Fatal(err)
	}
	columns, work := announce.Columns(ds, s, kinds)
	if work <= 0 {
		t.Errorf("%s: took no work", sql)
	}
	var out []string
	for _, c := range columns {
		text := c.Name + " " + c.Type.Name
		if c.Modifier != 0 {
			text += fmt.Sprintf("(%d,%d)", (c.Modifier-4)>>16, (c.Modifier-4)&0x7ff)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// TestColumns follows names; the types of operators and functions are compared with a PostgreSQL's
// in internal/server/pgwire.
func TestColumns(t *testing.T) {
	ds := dataset(t)
	golden.Run(t, "testdata/columns.txt", func(sql string) string { return describe(t, ds, sql) + "\n" })
}

// TestParameters holds that a type follows from the kind of a parameter and not from its value.
func TestParameters(t *testing.T) {
	ds := dataset(t)
	const sql = "SELECT $1 + 1 AS a, sum(age * $1) AS b, $2 AS c, $3 AS d, round($2, 1) AS e FROM people"
	if got := describe(t, ds, sql, "integer", "decimal", "text"); got != "a int8, b numeric, c numeric, d text, e numeric" {
		t.Error(got)
	}
}

// TestBounded gives up where the columns double with every line, after a number of steps that does
// not depend on how many there would be.
func TestBounded(t *testing.T) {
	sql := "WITH a0 AS (SELECT * FROM people)"
	for i := range 30 {
		sql += fmt.Sprintf(", a%d AS (SELECT * FROM a%d AS x, a%d AS y)", i+1, i, i)
	}
	if got := describe(t, dataset(t), sql+" SELECT * FROM a30"); got != "" {
		t.Errorf("%.100s", got)
	}
}

package plan

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/plan/verify"
	"github.com/discreet-dp/discreet/policy"
)

const averaging = `datasets:
  d:
    engine: duckdb
    source: people.duckdb
    unit: people.who
    budget: {epsilon: 1}
    analysts: {ana: }
    tables:
      people:
        unique: who
        columns:
          age:  {type: integer, bounds: [0, 110], nullable: false}
          owed: {type: decimal, bounds: [-50, 100], granularity: 0.01}
          rate: {type: integer, bounds: [3, 9]}
          much: {type: decimal, bounds: [0, 1000000000], granularity: 0.01}
          sex:  {type: text, keys: [F, M]}
      visits: {path: who -> people.who, max_rows: 3, max_groups: 2, columns: {cost: {type: integer, bounds: [0, 9]}}}
`

// Averages are made of twins where that is better: with Laplace noise, of people who have one row
// and are added or removed, and of one or two of them alone.
func TestTwins(t *testing.T) {
	for _, c := range []struct {
		sql, old, new string
		pairs         int
		width         string
	}{
		{"SELECT AVG(age) FROM people", "", "", 1, "110"},
		{"SELECT AVG(owed) FROM people", "", "", 1, "15000"},
		{"SELECT AVG(rate) FROM people WHERE age > 3", "", "", 1, "6"},
		{"SELECT AVG(rate) FILTER (WHERE age > 3) FROM people", "", "", 1, "6"},
		{"SELECT sex, AVG(rate + 1) FROM people GROUP BY sex", "", "", 1, "6"},
		{"SELECT AVG(age), AVG(owed) FROM people", "", "", 2, "110"},
		{"SELECT SUM(age), SUM(110 - age) FROM people", "", "", 1, "110"}, // as they are written
		{"SELECT AVG(age), AVG(owed), AVG(rate) FROM people", "", "", 0, ""},
		{"SELECT AVG(age), COUNT(*) FROM people", "", "", 0, ""},
		{"SELECT AVG(age), VAR_POP(age) FROM people", "", "", 0, ""},
		{"SELECT AVG(much) FROM people", "", "", 0, ""}, // which is rounded
		{"SELECT AVG(cost) FROM visits", "", "", 0, ""},
		{"SELECT SUM(age), SUM(111 - age) FROM people", "", "", 0, ""},
		{"SELECT SUM(age), SUM(110 - rate) FROM people", "", "", 0, ""},
		{"SELECT AVG(age) FROM people", "{epsilon: 1}", "{epsilon: 1, delta: 1e-6}", 0, ""},
		{"SELECT AVG(age) FROM people", "    budget", "    neighbours: substitute\n    budget", 0, ""},
		{"SELECT SUM(age), SUM(110 - age) FROM people", "    budget", "    neighbours: substitute\n    budget", 0, ""},
	} {
		p, err := policy.Parse("d.yaml", []byte(strings.Replace(averaging, c.old, c.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		ds := p.Datasets["d"]
		st, err := Prepare(ds, c.sql, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		q := &st.Plans[0].Query
		pairs := q.Twins()
		if len(pairs) != c.pairs || c.pairs > 0 && q.TwinSensitivity(pairs[0]).L1().String() != c.width && c.pairs == 1 {
			t.Errorf("%s: %v of\n%s", c.sql, pairs, q.Format())
		}
		if err := verify.Query(ds, q); err != nil {
			t.Errorf("%s: %v", c.sql, err)
		}
		for i := range st.Plans[0].Stats {
			if s := st.Plans[0].Stats[i]; s.Kind == tree.AverageStat && s.Twin != (c.pairs > 0) {
				t.Errorf("%s: %+v", c.sql, s)
			}
		}
	}
}

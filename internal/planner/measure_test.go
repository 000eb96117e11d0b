package planner

import (
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/policy"
)

const summing = `datasets:
  shop:
    engine: duckdb
    source: shop.duckdb
    unit: people.who
    budget: {epsilon: 1}
    analysts: {ana: }
    tables:
      people: {unique: who, columns: {age: {type: integer, bounds: [0, 110]}}}
      items:
        path: who -> people.who
        max_rows: 40
        max_groups: 3
        columns:
          kind:  {type: text, keys: [a, b, c, d, e]}
          price: {type: decimal, bounds: [0, 500], granularity: 0.01, max_sum: 2000}
          saved: {type: integer, bounds: [-50, 100]}
          large: {type: decimal, bounds: [0, 1000000], granularity: 0.01}
`

// What one person adds to a sum is the least of what the rows that count come to, what the owner
// has said about the column, and what the analyst says.
func TestMaxSum(t *testing.T) {
	p, err := policy.Parse("shop.yaml", []byte(summing))
	if err != nil {
		t.Fatal(err)
	}
	ds := p.Datasets["shop"]
	for _, c := range []struct {
		sql, max, most string
		sensitivity    int64 // l1, in steps
	}{
		{"SELECT kind, SUM(price) FROM items GROUP BY kind", "", "200000", 3 * 200000},
		{"SELECT kind, SUM(price) FROM items GROUP BY kind", "500", "50000", 3 * 50000},
		{"SELECT kind, SUM(price) FROM items GROUP BY kind", "5000", "200000", 3 * 200000},
		{"SELECT SUM(price) FILTER (WHERE kind = 'a') FROM items", "", "200000", 200000},
		{"SELECT SUM(price * 2) FROM items", "", "", 40 * 100000}, // another expression than the column
		{"SELECT SUM(price * 2) FROM items", "99.999", "9999", 9999},
		{"SELECT SUM(saved) FROM items", "", "", 40 * 100},
		{"SELECT SUM(saved) FROM items", "150", "150", 150},
		{"SELECT SUM(saved) FROM items", "3000", "3000", 3000}, // below -2000 there is nobody
		{"SELECT SUM(saved) FROM items", "4000", "", 4000},     // which nobody has anyway
		{"SELECT SUM(age) FROM people", "50", "50", 50},
		{"SELECT SUM(age) FROM people", "110", "", 110},
		{"SELECT SUM(large) FROM items", "", "", 40 * 10000000},       // its own lattice is too fine for so many
		{"SELECT SUM(large) FROM items", "1000000", "100000000", 1e8}, // and not for so much
		{"SELECT kind, SUM(price) FROM items GROUP BY kind ORDER BY SUM(price) DESC LIMIT 1", "7", "700", 3 * 700},
		{"SELECT kind, SUM(n) FROM (SELECT who, kind, SUM(price) AS n FROM items GROUP BY who, kind) AS t GROUP BY kind", "10",
			"1000", 3 * 1000},
		// The same, said in the question: one row for each person and kind, with bounded values.
		{"SELECT kind, SUM(n) FROM (SELECT who, kind, LEAST(SUM(price), 10) AS n FROM items GROUP BY who, kind) AS t GROUP BY kind", "",
			"bounded", 3 * 1000},
		{"SELECT SUM(n) FROM (SELECT who, LEAST(GREATEST(SUM(saved), -7), 7) AS n FROM items GROUP BY who) AS t", "", "bounded", 7},
	} {
		o := Options{}
		if c.max != "" {
			o.MaxSum, _ = new(big.Rat).SetString(c.max)
		}
		st, err := Prepare(ds, c.sql, o)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		q := &st.Plans[0].Query
		m := q.Measures[0]
		got := ""
		if c.most == "bounded" && m.Most == nil {
			got = c.most
		}
		if m.Most != nil {
			got = m.Most.String()
		}
		if q.Choice != nil {
			if lo, hi := q.Interval(m); lo.Sign() != 0 || hi.Cmp(m.Most) != 0 {
				t.Errorf("%s: a score is from %v to %v", c.sql, lo, hi)
			}
			continue
		}
		if d := q.Sensitivity(m, dp.L1).L1(); got != c.most || d.Int64() != c.sensitivity && c.most != "" {
			t.Errorf("%s at most %q: %q, %v; expected %q, %d", c.sql, c.max, got, d, c.most, c.sensitivity)
		}
		if err := verify.Query(ds, q); err != nil {
			t.Errorf("%s: %v", c.sql, err)
		}
		if m.Most == nil {
			continue
		}
		// Another bound is another question, and one that is no bound is seen.
		other := *q
		other.Measures = append(other.Measures[:0:0], q.Measures...)
		other.Measures[0].Most = new(big.Int).Add(m.Most, big.NewInt(1))
		if other.Hash() == q.Hash() || other.Measures[0].Name() == m.Name() {
			t.Errorf("%s: another bound has the same name", c.sql)
		}
		for _, wrong := range []int64{0, -5} {
			other.Measures[0].Most = big.NewInt(wrong)
			if verify.Query(ds, &other) == nil {
				t.Errorf("%s: nothing is said against a bound of %d", c.sql, wrong)
			}
		}
	}
	// An average divides a sum that has no such bound.
	st, err := Prepare(ds, "SELECT SUM(price), AVG(price) FROM items", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if q := &st.Plans[0].Query; len(q.Measures) != 3 {
		t.Errorf("%s", q.Format())
	}
	if _, err := Prepare(ds, "SELECT SUM(price) FROM items", Options{MaxSum: big.NewRat(1, 1000)}); err == nil ||
		!strings.Contains(err.Error(), "adds anything") {
		t.Error(err)
	}
}

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

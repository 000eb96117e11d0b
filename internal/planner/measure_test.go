package planner

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/policy"
)

// world is a query reduced to what its sensitivity depends on.
type world struct {
	groups, maxGroups, rows, lo, hi int64
}

// query makes a query of that shape: a sum of one column, over one key.
func (w world) query(n dp.Neighbours) (*tree.Query, tree.Measure) {
	column := &tree.Column{Field: tree.Field{Name: "x", Type: tree.NumberType(tree.One, big.NewInt(w.lo), big.NewInt(w.hi), true)}}
	q := &tree.Query{
		From:       &tree.Scan{Table: &policy.Table{UnitKind: policy.Many}},
		Neighbours: n,
		Keys:       []tree.Key{{Expr: column, Values: make([]policy.Value, w.groups)}},
		RowLimit:   w.rows, GroupLimit: w.maxGroups,
	}
	return q, tree.Measure{Kind: tree.Sum, Arg: column}
}

// vectors calls f with every vector that one person can contribute, as the
// engine's steps define it: any rows with values in [lo, hi] in any groups, of
// which at most maxGroups are kept, the sums clamped to at most rows times the
// bounds. A person can have more rows than that, so every sum in the clamped interval
// can occur. Only the ends and 0 matter to a distance that is convex in every entry.
func (w world) vectors(f func([]int64)) {
	ends := []int64{0}
	if w.lo < 0 {
		ends = append(ends, w.rows*w.lo)
	}
	if w.hi > 0 {
		ends = append(ends, w.rows*w.hi)
	}
	v := make([]int64, w.groups)
	var fill func(g int, left int64)
	fill = func(g int, left int64) {
		if g == len(v) {
			f(v)
			return
		}
		for _, e := range ends {
			if e != 0 && left == 0 {
				continue
			}
			v[g] = e
			used := int64(0)
			if e != 0 {
				used = 1
			}
			fill(g+1, left-used)
		}
		v[g] = 0
	}
	fill(0, w.maxGroups)
}

func distance(a, b []int64, norm dp.Norm) int64 {
	sum := int64(0)
	for i := range a {
		d := a[i] - b[i]
		if norm == dp.L2 {
			d *= d
		}
		sum += max(d, -d)
	}
	return sum
}

// farthest returns the largest distance between the vectors of two neighbours.
func (w world) farthest(n dp.Neighbours, norm dp.Norm) int64 {
	far := int64(0)
	nobody := make([]int64, w.groups)
	w.vectors(func(a []int64) {
		if n == dp.AddRemove {
			far = max(far, distance(a, nobody, norm))
			return
		}
		a = append([]int64(nil), a...)
		w.vectors(func(b []int64) { far = max(far, distance(a, b, norm)) })
	})
	return far
}

func worlds(f func(world)) {
	for groups := int64(1); groups <= 4; groups++ {
		for c := int64(1); c <= groups+1; c++ {
			for rows := int64(1); rows <= 3; rows += 2 {
				for _, b := range [][2]int64{{0, 1}, {0, 5}, {-5, 0}, {-2, 3}, {-3, 2}, {-3, 3}, {2, 3}, {-3, -2}, {-1, 100}} {
					f(world{groups, c, rows, b[0], b[1]})
				}
			}
		}
	}
}

// TestSensitivityIsExact compares the bound with the largest distance among all that one person can
// do. It must hold, which is privacy, and be attained, which is all the noise that can be saved.
func TestSensitivityIsExact(t *testing.T) {
	worlds(func(w world) {
		for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
			q, m := w.query(n)
			for _, norm := range []dp.Norm{dp.L1, dp.L2} {
				if got, want := bound(q, m, norm), w.farthest(n, norm); got != want {
					t.Errorf("%+v, %v: %v is %d, but the farthest neighbours are %d apart", w, n, norm, got, want)
				}
			}
		}
	})
}

func bound(q *tree.Query, m tree.Measure, norm dp.Norm) int64 {
	if s := q.Sensitivity(m, norm); norm == dp.L1 {
		return s.L1().Int64()
	} else {
		return s.L2Squared().Int64()
	}
}

// TestPlantedSensitivities shows that the comparison above finds the mistakes
// that are usually made.
func TestPlantedSensitivities(t *testing.T) {
	for name, wrong := range map[string]func(w world, n dp.Neighbours, norm dp.Norm) int64{
		"substitution costs as much as removal": func(w world, _ dp.Neighbours, norm dp.Norm) int64 {
			q, m := w.query(dp.AddRemove)
			return bound(q, m, norm)
		},
		"substitution costs twice as much": func(w world, n dp.Neighbours, norm dp.Norm) int64 {
			q, m := w.query(dp.AddRemove)
			if n == dp.Substitute {
				return 2 * bound(q, m, norm)
			}
			return bound(q, m, norm)
		},
		"l2 is not squared": func(w world, n dp.Neighbours, _ dp.Norm) int64 {
			q, m := w.query(n)
			return bound(q, m, dp.L1)
		},
		"one group is forgotten": func(w world, n dp.Neighbours, norm dp.Norm) int64 {
			w.maxGroups = max(1, w.maxGroups-1)
			q, m := w.query(n)
			return bound(q, m, norm)
		},
		"max_rows is forgotten": func(w world, n dp.Neighbours, norm dp.Norm) int64 {
			w.rows = 1
			q, m := w.query(n)
			return bound(q, m, norm)
		},
		"the lower bound is forgotten": func(w world, n dp.Neighbours, norm dp.Norm) int64 {
			if w.hi > 0 {
				w.lo = max(w.lo, 0)
			}
			q, m := w.query(n)
			return bound(q, m, norm)
		},
	} {
		found := 0
		worlds(func(w world) {
			for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
				for _, norm := range []dp.Norm{dp.L1, dp.L2} {
					if wrong(w, n, norm) != w.farthest(n, norm) {
						found++
					}
				}
			}
		})
		if found == 0 {
			t.Errorf("not found: %s", name)
		}
	}
}

// TestIntervalHoldsZero checks what the argument rests on: a person who is not
// there adds 0, so 0 must be possible.
func TestIntervalHoldsZero(t *testing.T) {
	worlds(func(w world) {
		q, m := w.query(dp.AddRemove)
		for _, m := range []tree.Measure{m, {Kind: tree.CountRows}, {Kind: tree.CountValues, Arg: m.Arg}} {
			lo, hi := q.Interval(m)
			if lo.Sign() > 0 || hi.Sign() < 0 {
				t.Error(fmt.Sprint(w, lo, hi))
			}
		}
	})
}

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
		!strings.Contains(err.Error(), "adds nothing") {
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

package curator_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/policy"
)

// asked prices a question about a small table.
func asked(t testing.TB, sql string) (*pricing.Priced, error) {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte("datasets:\n"+small))
	if err != nil {
		t.Fatal(err)
	}
	st, err := planner.Prepare(p.Datasets["small"], sql, planner.Options{})
	if err != nil {
		return nil, err
	}
	return pricing.Price(p.Datasets["small"], st, api.Settings{}, pricing.Currency{Pure: p.Datasets["small"].Budget.Pure()})
}

const small = `  small:
    engine: duckdb
    source: small.csv
    unit: row
    budget: {epsilon: 1, delta: 1e-6, per_query: {default: 1}}
    analysts: {ana: {}}
    tables:
      small:
        columns:
          k: {type: text, keys: [b, a, null]}
          f: {type: boolean}
          d: {type: date, bounds: [2020-02-28, 2020-03-01]}
          n: {type: integer, bounds: [0, 10]}
          m: {type: integer, bounds: [-3, 3], nullable: false}
          c: {type: decimal, bounds: [-1, 2], granularity: 0.05}
          e: {type: date}
`

// Noisy integers in, rows out: what is done after the noise. The measures are in
// their canonical order, which is that of their spelling: counts, then sums.
func TestFinish(t *testing.T) {
	for _, x := range []struct {
		sql   string
		noisy [][]int64
		want  string
	}{
		{"SELECT k, COUNT(*) FROM small GROUP BY k", [][]int64{{5, -2, 0}}, "b 5|a -2|NULL 0"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY 2 DESC FETCH FIRST ROW WITH TIES", [][]int64{{5, -2, 5}}, "b 5|NULL 5"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY 2 FETCH FIRST ROW WITH TIES", [][]int64{{5, -2, 5}}, "a -2"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY 2 OFFSET 1 FETCH FIRST ROW WITH TIES", [][]int64{{5, -2, 5}}, "b 5|NULL 5"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY 2 FETCH FIRST 9 ROWS WITH TIES", [][]int64{{5, -2, 0}}, "a -2|NULL 0|b 5"},
		{"SELECT COUNT(*) FROM small GROUP BY k", [][]int64{{5, -2, 0}}, "5|-2|0"},
		{"SELECT COUNT(*), k, COUNT(*) AS again FROM small GROUP BY k", [][]int64{{5, -2, 0}}, "5 b 5|-2 a -2|0 NULL 0"},
		{"SELECT COUNT(*) FROM small", [][]int64{{-7}}, "-7"},
		// The last key changes fastest, in the canonical order of the keys.
		{"SELECT k, f, COUNT(*) FROM small GROUP BY f, k", [][]int64{{1, 2, 3, 4, 5, 6}},
			"b false 1|b true 2|a false 3|a true 4|NULL false 5|NULL true 6"},
		{"SELECT d, COUNT(*) FROM small GROUP BY d", [][]int64{{1, 2, 3}}, "2020-02-28 1|2020-02-29 2|2020-03-01 3"},
		{"SELECT m, COUNT(*) FROM small GROUP BY m", [][]int64{{1, 2, 3, 4, 5, 6, 7}}, "-3 1|-2 2|-1 3|0 4|1 5|2 6|3 7"},
		{"SELECT SUM(c) FROM small", [][]int64{{-3}}, "-0.15"},
		{"SELECT SUM(c) FROM small", [][]int64{{40}}, "2.00"},
		// NULL is larger than everything, unless the question says where it goes.
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY k", [][]int64{{1, 2, 3}}, "a 2|b 1|NULL 3"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY k DESC", [][]int64{{1, 2, 3}}, "NULL 3|b 1|a 2"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY k NULLS FIRST", [][]int64{{1, 2, 3}}, "NULL 3|a 2|b 1"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY k DESC NULLS LAST", [][]int64{{1, 2, 3}}, "b 1|a 2|NULL 3"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY COUNT(*) DESC, k", [][]int64{{1, 2, 2}}, "a 2|NULL 2|b 1"},
		// Ties stay in the order of the keys, in both directions.
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY 2", [][]int64{{2, 1, 2}}, "a 1|b 2|NULL 2"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY 2 DESC", [][]int64{{2, 1, 2}}, "b 2|NULL 2|a 1"},
		// By a key and by an aggregate that are not selected.
		{"SELECT COUNT(*) FROM small GROUP BY k ORDER BY k", [][]int64{{1, 2, 3}}, "2|1|3"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k ORDER BY SUM(n)", [][]int64{{1, 2, 3}, {30, 10, 20}}, "a 2|NULL 3|b 1"},
		{"SELECT k, COUNT(*) AS x FROM small GROUP BY k ORDER BY x DESC LIMIT 1", [][]int64{{1, 2, 3}}, "NULL 3"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k LIMIT 2 OFFSET 2", [][]int64{{1, 2, 3}}, "NULL 3"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k OFFSET 3", [][]int64{{1, 2, 3}}, ""},
		{"SELECT k, COUNT(*) FROM small GROUP BY k OFFSET 2000000000", [][]int64{{1, 2, 3}}, ""},
		{"SELECT k, COUNT(*) FROM small GROUP BY k LIMIT 0", [][]int64{{1, 2, 3}}, ""},
		{"SELECT k, COUNT(*) FROM small GROUP BY k LIMIT 2000000000", [][]int64{{1, 2, 3}}, "b 1|a 2|NULL 3"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k LIMIT ALL", [][]int64{{1, 2, 3}}, "b 1|a 2|NULL 3"},
		// HAVING sees noisy values; what it does not know to be true it leaves out.
		{"SELECT k, COUNT(*) FROM small GROUP BY k HAVING COUNT(*) >= 2", [][]int64{{1, 2, 3}}, "a 2|NULL 3"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k HAVING k = 'a'", [][]int64{{1, 2, 3}}, "a 2"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k HAVING NOT k = 'a'", [][]int64{{1, 2, 3}}, "b 1"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k HAVING k IS NULL", [][]int64{{1, 2, 3}}, "NULL 3"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k HAVING SUM(n) > COUNT(*) * 10", [][]int64{{1, 2, 3}, {10, 21, 30}}, "a 2"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k HAVING SUM(c) > 0.1", [][]int64{{1, 2, 3}, {2, 3, -9}}, "a 2"},
		{"SELECT k, COUNT(*) FROM small GROUP BY k HAVING COUNT(*) / 0 = 1", [][]int64{{1, 2, 3}}, ""},
		{"SELECT COUNT(*) FROM small HAVING COUNT(*) > 1", [][]int64{{1}}, ""},
		// Averages are taken around the middle of the bounds (5, for n), and stay within them.
		{"SELECT AVG(n) FROM small", [][]int64{{10}, {20}}, "7"},
		{"SELECT AVG(n) FROM small", [][]int64{{10}, {-500}}, "0"},
		{"SELECT AVG(n) FROM small", [][]int64{{10}, {500}}, "10"},
		{"SELECT AVG(n) FROM small", [][]int64{{0}, {500}}, "5"},
		{"SELECT AVG(n) FROM small", [][]int64{{-3}, {500}}, "5"},
		{"SELECT AVG(m), COUNT(*) FROM small", [][]int64{{10}, {5}}, "0.5 10"},
		{"SELECT AVG(n), SUM(n), COUNT(n) FROM small", [][]int64{{10}, {70}}, "7 70 10"},
		{"SELECT AVG(n), SUM(n), COUNT(n) FROM small", [][]int64{{10}, {700}}, "10 700 10"},
		{"SELECT k, AVG(n) FROM small GROUP BY k HAVING AVG(n) > 6.5 ORDER BY AVG(n)", [][]int64{{10, 10, 10}, {40, 20, 0}}, "a 7|b 9"},
		{"SELECT AVG(c) FROM small", [][]int64{{2}, {9}}, "0.725"},
	} {
		p, err := asked(t, x.sql)
		if err != nil {
			t.Errorf("%s: %v", x.sql, err)
			continue
		}
		if len(x.noisy) != len(p.Purchases[0].Query.Measures) || len(x.noisy[0]) != p.Purchases[0].Query.Groups() {
			t.Errorf("%s: %d measures in %d groups", x.sql, len(p.Purchases[0].Query.Measures), p.Purchases[0].Query.Groups())
			continue
		}
		a := made(t, p, x.noisy)
		if got := lines(a); got != x.want {
			t.Errorf("%s\ngot  %s\nwant %s", x.sql, got, x.want)
		}
		checkErrors(t, a)
	}
}

func TestColumns(t *testing.T) {
	p, err := asked(t, `SELECT k, COUNT(*) AS "how many", SUM(c), AVG(c) FROM small GROUP BY k ORDER BY SUM(n)`)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(made(t, p, make3(len(p.Purchases[0].Query.Measures))).Columns)
	if want := "[{k text text 0 false false false -1} {how many integer int8 0 true false true 0} " +
		"{sum decimal numeric 0 true false true 2} {avg real numeric 0 true true true -1}]"; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

// make3 returns zeros for n measures of three groups.
func make3(n int) [][]int64 {
	out := make([][]int64, n)
	for i := range out {
		out[i] = make([]int64, 3)
	}
	return out
}

// Rows that ORDER BY does not tell apart stay in the order of their keys. There are
// more of them than a sort that is stable only for a few would leave alone.
func TestTiesAreStable(t *testing.T) {
	for _, direction := range []string{"", " DESC"} {
		p, err := asked(t, "SELECT n, m, COUNT(*) FROM small GROUP BY n, m ORDER BY COUNT(*)"+direction)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int64, p.Purchases[0].Query.Groups())
		for i := range counts {
			counts[i] = int64(i % 2)
		}
		var order []string
		last := map[string]int{}
		place := map[string]int{}
		for g := range counts {
			k, n := p.Purchases[0].Query.Group(g), 0
			if p.Purchases[0].Query.Keys[0].Describe() == "m" {
				n = 1
			}
			place[k[n].String()+" "+k[1-n].String()] = g
		}
		for _, row := range made(t, p, [][]int64{counts}).Rows {
			key, count := fmt.Sprint(row[0], " ", row[1]), fmt.Sprint(row[2])
			if last[count] > place[key] {
				t.Errorf("%s comes too late among those with %s", key, count)
			}
			last[count] = place[key]
			order = append(order, count)
		}
		if first := order[0]; first != map[string]string{"": "0", " DESC": "1"}[direction] {
			t.Errorf("%q begins with %s", direction, first)
		}
	}
}

// Whatever the noise does, a variance is within public limits, finite and without a sign.
func TestVarianceStaysWithinItsLimits(t *testing.T) {
	p, err := asked(t, "SELECT VARIANCE(n), STDDEV(n), VAR_POP(n), STDDEV_POP(n), SUM(n) / COUNT(*), 0 * AVG(m) FROM small")
	if err != nil {
		t.Fatal(err)
	}
	extreme := []int64{math.MinInt64, -1 << 40, -100, -1, 0, 1, 2, 3, 100, 1 << 40, math.MaxInt64}
	n := len(p.Purchases[0].Query.Measures)
	for i := range 3000 {
		noisy := make([][]int64, n)
		for j := range noisy {
			noisy[j] = []int64{extreme[(i*7+j*(i/11+3)+i/5)%len(extreme)]}
		}
		a := made(t, p, noisy)
		for j, most := range []float64{50, math.Sqrt(50), 25, 5} {
			v := asFloat(a.Rows[0][j])
			if e := a.Errors[0][j]; !(v >= 0 && v <= most) || e == nil || !(*e >= 0 && *e <= most*(1+1e-9)) {
				t.Fatalf("%v: %s is %v, with an error of %v", noisy, a.Columns[j].Name, v, e)
			}
		}
		for j, v := range a.Rows[0] {
			if text := fmt.Sprint(v); text == "-0" || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Fatalf("%v: %s is %s", noisy, a.Columns[j].Name, text)
			}
			if e := a.Errors[0][j]; e != nil && (math.IsNaN(*e) || math.IsInf(*e, 0)) {
				t.Fatalf("%v: %s has the error %v", noisy, a.Columns[j].Name, *e)
			}
		}
	}
}

func TestRoundedSpan(t *testing.T) {
	for _, c := range []struct {
		fn     string
		digits int
		in     [2]float64
		lo, hi float64
	}{
		{"round", 1, [2]float64{0.24, 0.26}, 0.2, 0.3},
		{"round", 0, [2]float64{-0.5, 0.5}, -1, 1},
		{"round", -2, [2]float64{149, 151}, 100, 200},
		{"trunc", 0, [2]float64{-1.5, 1.5}, -1, 1},
		{"floor", 0, [2]float64{-1.5, 1.5}, -2, 1},
		{"ceil", 0, [2]float64{-1.5, 1.5}, -1, 2},
		{"floor", 0, [2]float64{2, 2}, 1, 2}, // a point on the edge is taken one step outwards
	} {
		if lo, hi, ok := answers.Round(c.fn, c.digits, c.in[0], c.in[1]); !ok || math.Abs(lo-c.lo) > 1e-9 || math.Abs(hi-c.hi) > 1e-9 {
			t.Errorf("%s(%v, %d) is %v to %v", c.fn, c.in, c.digits, lo, hi)
		}
	}
}

// The error bars of what is computed hold for sure, and are exact for counts and sums alone.
func TestCompositeBars(t *testing.T) {
	p, err := asked(t, "SELECT COUNT(*), SUM(n), COUNT(*) + SUM(n), SUM(n) - COUNT(*), 2 * SUM(n), SUM(c) / COUNT(*), COUNT(*) / 7, "+
		"COUNT(*) % 7, COUNT(*) > 3, dp_error(SUM(n)), dp_low(SUM(n)), dp_high(COUNT(*)) FROM small")
	if err != nil {
		t.Fatal(err)
	}
	noisy := make([][]int64, len(p.Purchases[0].Query.Measures))
	for i := range noisy {
		noisy[i] = []int64{1000}
	}
	a := made(t, p, noisy)
	half := func(i, parts int) float64 {
		return pricing.Scaled(big.NewInt(p.Purchases[0].Noise[i].HalfWidth(0.05/float64(parts))), p.Purchases[0].Query.Measures[i].Step())
	}
	count, sum := 0, 2 // count rows, sum c, sum n
	if p.Purchases[0].Query.Measures[1].Describe() == "sum(n)" {
		sum = 1
	}
	near := func(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) <= 1e-6*want }
	bars := a.Errors[0]
	for i, want := range map[int]float64{
		0: half(count, 1), 1: half(sum, 1), 2: half(count, 2) + half(sum, 2), 3: half(count, 2) + half(sum, 2), 4: 2 * half(sum, 1),
	} {
		if !near(bars[i], want) {
			t.Errorf("%s has the error %v; want %v", a.Columns[i].Name, bars[i], want)
		}
	}
	if bars[5] == nil || bars[6] == nil || bars[7] != nil || bars[8] != nil || bars[9] != nil {
		t.Errorf("errors %v", bars)
	}
	if got := asFloat(a.Rows[0][9]); got != half(sum, 1) || asFloat(a.Rows[0][10]) != 1000-half(sum, 1) ||
		asFloat(a.Rows[0][11]) != 1000+half(count, 1) {
		t.Errorf("dp_error is %v, of %v", got, a.Rows)
	}
	for i, approximate := range []bool{false, false, true, true, true, true} {
		if a.Columns[i].Approximate != approximate {
			t.Errorf("%+v", a.Columns[i])
		}
	}
	// A divisor that may be zero leaves nothing known.
	noisy[count] = []int64{1}
	if a := made(t, p, noisy); a.Errors[0][5] != nil {
		t.Errorf("divided by zero, perhaps, with an error of %v", *a.Errors[0][5])
	}
}

// DISTINCT shows equal rows once.
func TestDistinct(t *testing.T) {
	p, err := asked(t, "SELECT DISTINCT COUNT(*) > 2 AS many FROM small GROUP BY k ORDER BY many LIMIT 5")
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(made(t, p, [][]int64{{5, 1, 3}})); got != "false|true" {
		t.Errorf("got %s", got)
	}
}

func asFloat(v any) float64 {
	f, err := v.(json.Number).Float64()
	if err != nil {
		panic(err)
	}
	return f
}

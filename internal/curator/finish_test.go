package curator

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/policy"
)

// parsed reads a dataset's policy; its data need not exist.
func parsed(t testing.TB, dataset string) *policy.Dataset {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte("datasets:\n"+dataset))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets[p.Names()[0]]
}

// small has keys of every type.
const small = `  small:
    engine: duckdb
    source: small.csv
    unit: row
    budget: {epsilon: 1, per_query: {default: 1}}
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
`

// Noisy integers in, rows out: what is done after the noise. The measures are in
// their canonical order, which is that of their spelling: counts, then sums.
func TestFinish(t *testing.T) {
	c := New(parsed(t, small), nil, nil, nil)
	for _, x := range []struct {
		sql   string
		noisy [][]int64
		want  string
	}{
		{"SELECT k, COUNT(*) FROM small GROUP BY k", [][]int64{{5, -2, 0}}, "b 5|a -2|NULL 0"},
		{"SELECT COUNT(*) FROM small GROUP BY k", [][]int64{{5, -2, 0}}, "5|-2|0"},
		{"SELECT COUNT(*), k, COUNT(*) AS again FROM small GROUP BY k", [][]int64{{5, -2, 0}}, "5 b 5|-2 a -2|0 NULL 0"},
		{"SELECT COUNT(*) FROM small", [][]int64{{-7}}, "-7"},
		// The last key changes fastest, in the canonical order of the keys.
		{"SELECT k, f, COUNT(*) FROM small GROUP BY f, k", [][]int64{{1, 2, 3, 4, 5, 6}}, "b false 1|b true 2|a false 3|a true 4|NULL false 5|NULL true 6"},
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
		p, err := c.prepare(ctx, api.Question{Analyst: "ana", SQL: x.sql})
		if err != nil {
			t.Errorf("%s: %v", x.sql, err)
			continue
		}
		if len(x.noisy) != len(p.query().Measures) || len(x.noisy[0]) != p.query().Groups() {
			t.Errorf("%s: %d measures in %d groups", x.sql, len(p.query().Measures), p.query().Groups())
			continue
		}
		a := made(t, p, x.noisy)
		if got := lines(a); got != x.want {
			t.Errorf("%s\ngot  %s\nwant %s", x.sql, got, x.want)
		}
		checkErrors(t, a)
	}
}

// checkErrors compares the shape of the errors with that of the rows.
func checkErrors(t *testing.T, a *api.Answer) {
	t.Helper()
	for i, row := range a.Rows {
		for j := range row {
			if bar := a.Errors[i][j]; (bar == nil) == a.Columns[j].Noisy || bar != nil && *bar < 0 {
				t.Errorf("column %s: noisy %v, error %v", a.Columns[j].Name, a.Columns[j].Noisy, bar)
			}
		}
	}
}

func lines(a *api.Answer) string {
	rows := make([]string, len(a.Rows))
	for i, r := range a.Rows {
		cells := make([]string, len(r))
		for j, v := range r {
			if v == nil {
				v = "NULL"
			}
			if n, ok := v.(json.Number); ok {
				v = n.String()
			}
			cells[j] = fmt.Sprint(v)
		}
		rows[i] = strings.Join(cells, " ")
	}
	return strings.Join(rows, "|")
}

func TestColumns(t *testing.T) {
	c := New(parsed(t, small), nil, nil, nil)
	p, err := c.prepare(ctx, api.Question{Analyst: "ana", SQL: `SELECT k, COUNT(*) AS "how many", SUM(c), AVG(c) FROM small GROUP BY k ORDER BY SUM(n)`})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(made(t, p, make3(len(p.query().Measures))).Columns)
	if want := "[{k text false false -1} {how many integer true false 0} {sum decimal true false 2} {avg real true true -1}]"; got != want {
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

// A group that no row is in is in the answer like all others.
func TestEmptyGroups(t *testing.T) {
	w := newWorld(t, plenty)
	a := w.mustAsk("SELECT sex, zip, COUNT(*), SUM(cost), AVG(age) FROM patients WHERE age > 200 GROUP BY sex, zip")
	if len(a.Rows) != 15 {
		t.Errorf("%d rows; want one for each of 3 x 5 keys", len(a.Rows))
	}
	checkErrors(t, a)
}

// Rows that ORDER BY does not tell apart stay in the order of their keys. There are
// more of them than a sort that is stable only for a few would leave alone.
func TestTiesAreStable(t *testing.T) {
	c := New(parsed(t, small), nil, nil, nil)
	for _, direction := range []string{"", " DESC"} {
		p, err := c.prepare(ctx, api.Question{Analyst: "ana", SQL: "SELECT n, m, COUNT(*) FROM small GROUP BY n, m ORDER BY COUNT(*)" + direction})
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int64, p.query().Groups())
		for i := range counts {
			counts[i] = int64(i % 2)
		}
		var order []string
		last := map[string]int{}
		place := map[string]int{}
		for g := range counts {
			k, n := p.query().Group(g), 0
			if p.query().Keys[0].Describe() == "m" {
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

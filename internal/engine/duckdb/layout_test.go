package duckdb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

const layoutKeys = `
source: v.duckdb
unit: visits.pid
tables:
  visits: {max_rows: 3, max_groups: 2, columns: {vid: {type: integer, bounds: [0, 2000000]}, day: {type: date}, ward: {type: text, keys: [a, b, c]}}}
  codes: {public: true, max_rows: 900, columns: {code: {type: integer}}}
`

// layout is one way to store the same rows, and to read them.
type layout struct {
	order  string // by which rows are stored
	limits Limits
}

// laidOut opens people with 200 visits each over three days, so that most visits are equal in the
// day to others of the same person, and perhaps one more person with 500.
func laidOut(t testing.TB, people int, more bool, l layout) *Engine {
	t.Helper()
	folder := t.TempDir()
	rows := fmt.Sprintf("SELECT i // 200 AS pid, i AS vid, DATE '2024-01-01' + CAST(i %% 3 AS INTEGER) AS day, "+
		"['a', 'b', 'c'][1 + (i // 7) %% 3] AS ward FROM range(%d) r(i)", 200*people)
	if more {
		rows += " UNION ALL SELECT -1, 1000000 + i, DATE '2024-01-01' + CAST(i % 3 AS INTEGER), 'a' FROM range(500) r(i)"
	}
	owner(t, filepath.Join(folder, "v.duckdb"), "CREATE TABLE visits AS SELECT * FROM ("+rows+") ORDER BY "+l.order,
		"CREATE TABLE codes AS SELECT i AS code FROM range(900) r(i)")
	e, err := OpenWith(t.Context(), dataset(t, folder, layoutKeys), l.limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// overWindows are questions in which a person's rows are numbered by an order that leaves ties, and
// so much is computed with each that people are cut, and whether everybody is counted all the same.
func overWindows() map[string]bool {
	const (
		heavy  = "EXISTS (SELECT 1 FROM codes c WHERE c.code > extract(doy FROM day) + 100)"
		number = "row_number() OVER (PARTITION BY pid ORDER BY day) AS n"
		window = "lag(ward) OVER (PARTITION BY pid ORDER BY day) AS n"
	)
	var columns []string
	for i := range 24 {
		var list []string
		for k := range 300 {
			list = append(list, fmt.Sprint(i+k*9))
		}
		columns = append(columns, fmt.Sprintf("extract(doy FROM day) = ANY('{%s}') AS f%d", strings.Join(list, ","), i))
	}
	many := strings.Join(columns, ", ")
	return map[string]bool{
		"SELECT COUNT(*) FROM (SELECT pid, " + number + ", " + heavy + " AS f FROM visits) t WHERE n = 1":                    true,
		"SELECT COUNT(*) FROM (SELECT pid, " + number + ", " + many + " FROM visits) t WHERE n = 1":                          true,
		"SELECT COUNT(*) FROM (SELECT pid, " + number + " FROM visits WHERE " + heavy + ") t WHERE n = 1":                    true,
		"SELECT COUNT(DISTINCT pid) FROM (SELECT pid, " + window + ", " + heavy + " AS f FROM visits) t WHERE n = 'c' AND f": false,
		"SELECT COUNT(*) FROM (SELECT DISTINCT ON (pid) pid, " + heavy + " AS f FROM visits ORDER BY pid, day) t WHERE f":    true,
		"SELECT COUNT(DISTINCT pid) FROM visits WHERE pid IN (SELECT pid FROM (SELECT pid, " + number + ", " + heavy +
			" AS f FROM visits) t WHERE n = 1)": true,
		"SELECT ward, COUNT(*) FROM (SELECT pid, ward, " + number + ", " + heavy + " AS f FROM visits) t WHERE n <= 2 GROUP BY ward": false,
		"SELECT COUNT(DISTINCT pid) FROM (SELECT pid, " + number + ", day FROM visits) t WHERE n = 1 AND " + heavy:                   false,
	}
}

// TestWindowsOfCutPeople: where people are cut and windows number their rows, an answer moves by no
// more than is claimed, is about everybody, and does not depend on how rows are stored or read.
func TestWindowsOfCutPeople(t *testing.T) {
	const people = 300
	layouts := []layout{
		{"vid", Limits{Threads: 1}}, {"hash(vid)", Limits{Threads: 2}}, {"vid DESC", Limits{Threads: 4, Memory: MinMemory}},
		{"pid, vid", Limits{Threads: 1, Memory: MinMemory}}, {"ward, hash(vid, 1)", Limits{Threads: 2}},
	}
	without, with := make([]*Engine, len(layouts)), make([]*Engine, len(layouts))
	for i, l := range layouts {
		without[i], with[i] = laidOut(t, people, false, l), laidOut(t, people, true, l)
	}
	for text, everybody := range overWindows() {
		q := question(t, without[0], text)
		if q.Joined() == 0 {
			t.Errorf("%s: nobody is cut", text)
		}
		first, more := totals(t, without[0], text), totals(t, with[0], text)
		l1, _ := distances(first, more)
		if most := q.Sensitivity(q.Measures[0], dp.L1).L1(); l1.Cmp(most) > 0 {
			t.Errorf("%s: moves by %v, and at most %v is claimed", text, l1, most)
		}
		if everybody && first[0] != people {
			t.Errorf("%s: %d of %d people", text, first[0], people)
		}
		for i := range layouts {
			for range 2 {
				if got := totals(t, without[i], text); fmt.Sprint(got) != fmt.Sprint(first) {
					t.Errorf("%s: %v stored by %s with %+v, and %v by %s", text, got, layouts[i].order, layouts[i].limits, first,
						layouts[0].order)
					break
				}
			}
			if got := totals(t, with[i], text); fmt.Sprint(got) != fmt.Sprint(more) {
				t.Errorf("%s: %v of one more person, stored by %s with %+v, and %v by %s", text, got, layouts[i].order,
					layouts[i].limits, more, layouts[0].order)
			}
		}
	}
}

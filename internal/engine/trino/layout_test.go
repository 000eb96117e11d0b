package trino

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestLayout: where people are cut and windows number their rows, a result is the same however rows
// are stored and as often as it is computed, one person moves it by no more than is claimed, and 0
// and -0 are one number.
func TestLayout(t *testing.T) {
	const people = 100
	p := newSchema(t, "memory")
	rows := fmt.Sprintf("SELECT i / 150 AS pid, i AS vid, date_add('day', i %% 3, DATE '2024-01-01') AS day, "+
		"CASE i %% 2 WHEN 0 THEN DOUBLE '0' ELSE DOUBLE '-0' END AS w FROM "+
		"(SELECT a * 1000 + b AS i FROM UNNEST(sequence(0, %d)) AS x (a), UNNEST(sequence(0, 999)) AS y (b))", people*150/1000-1)
	for name, order := range map[string]string{"one": "i", "other": "i DESC", "third": "xxhash64(to_big_endian_64(i))"} {
		p.Run(t, "CREATE TABLE "+p.table(name)+" AS "+rows+" ORDER BY "+order)
	}
	p.Run(t, "CREATE TABLE "+p.table("more")+" AS SELECT -1 AS pid, 1000000 + vid AS vid, day, w FROM "+p.table("one")+
		" WHERE pid < 3 UNION ALL SELECT * FROM "+p.table("one"))
	var list []string
	for i := range 1900 {
		list = append(list, fmt.Sprint(i*9-7))
	}
	heavy := " = ANY('{" + strings.Join(list, ",") + "}')"
	for _, question := range []string{
		"SELECT COUNT(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY day) AS n, extract(doy FROM day)" + heavy +
			" AS f FROM v) t WHERE n = 1",
		"SELECT COUNT(DISTINCT pid) FROM (SELECT pid, w, row_number() OVER (PARTITION BY pid ORDER BY day) AS n, extract(doy FROM day) " +
			"AS d FROM v) t WHERE n <= 2 AND w < 1 AND (d" + heavy + ") IS NOT NULL",
	} {
		var want []int64
		for _, name := range []string{"one", "other", "third", "one", "more"} {
			ds := p.dataset(t, "unit: v.pid\ntables:\n  v:\n    source: "+name+"\n    max_rows: 3\n    max_groups: 2\n    max_joined: 20\n"+
				"    columns: {vid: {type: integer, bounds: [0, 2000000]}, day: {type: date}, w: {type: decimal}}\n")
			e := open(t, ds)
			q := &prepare(t, ds, question).Query
			out, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatalf("%.20s: %v", question, why(t, e, q))
			}
			if q.Joined() == 0 || q.Joined() >= 150 {
				t.Errorf("nobody is cut in %.20s", question)
			}
			got := opened(out)[0]
			switch {
			case want == nil:
				want = got
			case name == "more":
				if d := got[0] - want[0]; d < -1 || d > 1 {
					t.Errorf("%.40s: one person moves it by %d", question, d)
				}
			case !reflect.DeepEqual(got, want):
				t.Errorf("%.40s: %v, and %v stored as %s", question, want, got, name)
			}
		}
		if strings.Contains(question, "n = 1") && want[0] != people {
			t.Errorf("%.40s: %d of %d people", question, want[0], people)
		}
	}
}

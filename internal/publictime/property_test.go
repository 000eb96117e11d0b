package publictime_test

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/publictime"
)

// grown is sizes in which everything is some times as large.
func grown(s publictime.Sizes, by int64) publictime.Sizes {
	out := publictime.Sizes{Tables: map[string]publictime.Table{}, People: s.People * by, Fanout: s.Fanout}
	for name, t := range s.Tables {
		t.Rows *= by
		out.Tables[name] = t
	}
	return out
}

// A public time follows from the tree and the sizes, is above 0, and is no shorter where there are
// more rows, longer texts, fewer threads, less memory or a slower machine.
func TestMonotone(t *testing.T) {
	for _, c := range corpora(t) {
		small := publictime.Sizes{Tables: map[string]publictime.Table{}, People: 4096, Fanout: 1000}
		for name, table := range c.Dataset.Tables {
			rows := int64(8192)
			if table.Public {
				rows = 24
			}
			small.Tables[name] = publictime.Table{Rows: rows, Lengths: map[string]int64{"zip": 8, "diagnosis": 8, "ward": 8}}
		}
		long := grown(small, 1)
		for name, table := range long.Tables {
			table.Lengths = map[string]int64{"zip": 64, "diagnosis": 64, "ward": 64}
			long.Tables[name] = table
		}
		slow := publictime.Machine{Threads: 1, Factor: 2}
		two := publictime.Machine{Threads: 2, Factor: 1}
		tight := publictime.Machine{Threads: 1, Factor: 1, Memory: 1 << 20}
		stored := publictime.Machine{Threads: 1, Factor: 1, SQL: true}
		trino := publictime.Machine{Threads: 1, Factor: 1, Cluster: true}
		for _, a := range c.Asked {
			of := func(m publictime.Machine, s publictime.Sizes) int64 {
				if a.Query != nil {
					return int64(m.Query(a.Query, s))
				}
				return int64(m.Fetch(a.Table, s))
			}
			base := of(machine, small)
			for what, other := range map[string]int64{"the same again": of(machine, grown(small, 1)), "more " +
				"rows": of(machine, grown(small, 2)),
				"many more rows": of(machine, grown(small, 2048)), "longer texts": of(machine, long), "a slower machine": of(slow, small),
				"less memory": of(tight, small), "a cluster": of(trino, small)} {
				if other < base || what == "the same again" && other != base {
					t.Errorf("%s %d: %d and, with %s, %d", a.Of, a.Number, base, what, other)
				}
			}
			if large := grown(small, 1000); of(two, large) > of(machine, large) || base <= 0 || of(stored, small) <= 0 {
				t.Errorf("%s %d: %d with one thread, %d with two", a.Of, a.Number, base, of(two, large))
			}
		}
	}
}

// What everybody may know is all that a time follows from: a question about a person who is there
// and one about nobody have one time, if their trees differ in constants of one length alone.
func TestConstants(t *testing.T) {
	folder := t.TempDir()
	ds := parse(t, folder, clinic)
	store(t, folder+"/d.duckdb", clinicRows(1000)...)
	e := open(t, ds, duckdb.Limits{})
	sizes, err := e.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var times []int64
	for _, zip := range []string{"z7", "z8", "q9"} {
		all, err := queries(ds, e, "SELECT COUNT(*) FROM people WHERE zip = '"+zip+"' AND diag LIKE '%v%'")
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, int64(machine.Query(all[0], sizes)))
	}
	if times[0] != times[1] || times[1] != times[2] {
		t.Error(times)
	}
}

// quantiles is so many of one column.
func quantiles(n int) string {
	return chain(",", n, func(i int) string { return fmt.Sprintf("PERCENTILE_DISC(0.%02d) WITHIN GROUP (ORDER BY cost)", i+1) })
}

// What multiplies work is counted: each quantile is a draw among all points, and a subquery within
// another looks at pairs of pairs.
func TestMultiplied(t *testing.T) {
	folder := t.TempDir()
	ds := parse(t, folder, clinic)
	store(t, folder+"/d.duckdb", clinicRows(1000)...)
	e := open(t, ds, duckdb.Limits{})
	sizes, err := e.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sizes = grown(sizes, 64)
	within := func(inner string) string {
		return "SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.cost > a.cost" + inner + ")"
	}
	for _, c := range []struct {
		less, more string
		times      int64
	}{
		{"SELECT " + quantiles(1) + " FROM people", "SELECT " + quantiles(40) + " FROM people", 8},
		{within(""), within(" AND EXISTS (SELECT 1 FROM visits c WHERE c.pid = a.pid AND c.cost > b.cost)"), 4},
	} {
		var times [2]int64
		for i, text := range []string{c.less, c.more} {
			all, err := queries(ds, e, text)
			if err != nil {
				t.Fatal(text, err)
			}
			times[i] = int64(machine.Query(all[0], sizes))
		}
		if times[1] < c.times*times[0] {
			t.Errorf("%d ns and %d ns: %s", times[0], times[1], c.more)
		}
	}
}

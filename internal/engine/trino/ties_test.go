package trino

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// Two texts of one xxhash64, whatever follows them. They take no time to find, and whoever writes a
// question can have them in it.
const (
	twin      = "KZaAtY3o........................CsGl7Hn7........................"
	otherTwin = "2ZOfDGIP........................#Fgakz9z........................"
)

// TestTies: of groups and values of one rank the same are kept in whatever order rows are found.
func TestTies(t *testing.T) {
	if xxhash.Sum64String(twin+"x") != xxhash.Sum64String(otherTwin+"x") {
		t.Fatal("the texts have two hashes")
	}
	const unknown = 7046029254386353131 // what a NULL counts as
	p := newSchema(t, "memory")
	for name, turned := range map[string]func(u int) bool{
		"one": func(int) bool { return false }, "other": func(u int) bool { return u%2 == 0 },
	} {
		p.Run(t, "CREATE TABLE "+p.table(name)+" (u bigint, k varchar, i bigint)")
		for _, second := range []bool{false, true} {
			var rows [][]any
			for u := range 20 {
				row := []any{int64(u), twin, nil}
				if second != turned(u) {
					row = []any{int64(u), otherTwin, int64(unknown)}
				}
				rows = append(rows, row)
			}
			p.insert(t, name, rows)
		}
	}
	for _, question := range []string{
		"SELECT k, COUNT(*) FROM t GROUP BY k", "SELECT i, COUNT(*) FROM t GROUP BY i", "SELECT COUNT(DISTINCT k) FROM t",
		"SELECT k, COUNT(DISTINCT i) FROM t GROUP BY k",
	} {
		var want [][]int64
		for _, name := range []string{"one", "other"} {
			ds := p.dataset(t, "unit: t.u\ntables:\n  t:\n    source: "+name+"\n    max_rows: 1\n    max_groups: 1\n    columns:\n"+
				"      k: {type: text, keys: private}\n      i: {type: integer, keys: private, nullable: true}\n")
			e := open(t, ds)
			q := &prepare(t, ds, question).Query
			out, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatalf("%s: %v", question, why(t, e, q))
			}
			got := opened(out)
			for i := range out.Persons.Open() {
				got = append(got, []int64{int64(xxhash.Sum64String(fmt.Sprint(out.Combos.Pick([]int{i}))) % 1000)})
			}
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, and in another order %v", question, got, want)
			}
		}
	}
}

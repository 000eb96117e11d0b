package cells

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/policy"
)

// streamed is a policy with a stream of many columns.
func streamed(t testing.TB, columns int) (*policy.Dataset, *Grid) {
	t.Helper()
	var own, in []string
	for i := range columns {
		own = append(own, fmt.Sprintf("          c%d: {type: integer, bounds: [0, 99], nullable: false}", i))
		in = append(in, fmt.Sprintf("c%d: {width: 25}", i))
	}
	p, err := policy.Parse("p.yaml", []byte(`datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: people.pid
    budget: {epsilon: 1}
    analysts: {ana: }
    tables:
      people:
        unique: pid
        columns:
`+strings.Join(own, "\n")+`
    streams:
      s: {table: people, columns: {`+strings.Join(in, ", ")+`}, size: 10000, alpha: 0.1}
`))
	if err != nil {
		t.Fatal(err)
	}
	ds := p.Datasets["d"]
	g, err := NewGrid(ds, ds.Streams["s"])
	if err != nil {
		t.Fatal(err)
	}
	return ds, g
}

// A conjunction of many columns is read column by column; what mixes many of them is left to the
// ordinary way, and soon.
func TestLinearIsBounded(t *testing.T) {
	_, g := streamed(t, 12)
	all, mixed := []string{}, []string{}
	for i := range 12 {
		all = append(all, fmt.Sprintf("c%d < 50", i))
		mixed = append(mixed, fmt.Sprintf("c%d", i))
	}
	q, err := g.LinearWhere(strings.Join(all, " AND "), planner.Options{})
	if err != nil || !q.Conjunction() || len(q.Attributes()) != 12 {
		t.Fatalf("%v", err)
	}
	for _, text := range []string{
		strings.Join(all, " OR "), // 4^12 cells
		strings.Join(mixed, " + ") + " > 100",
		"c0 * c1 * c2 > 5",
		strings.Join(mixed[:3], " + ") + " >= 75 AND c0 < 50",
	} {
		l := &linearReader{grid: g}
		st, err := planner.Prepare(g.dataset, "SELECT COUNT(*) FROM people WHERE "+text, planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !l.take(&st.Plans[0].Query) {
			t.Fatal("not taken")
		}
		if _, ok := l.measure(l.measures[0], 1); ok || l.work > maxLinearWork || l.cells > maxLinearCells {
			t.Errorf("%s: %t with %d computed", text, ok, l.work)
		}
	}
	// The other way round: two columns may depend on each other.
	same, err := g.LinearWhere("c0 < 25 AND c1 < 25 OR c0 >= 25 AND c1 >= 25", planner.Options{})
	if err != nil || same.Conjunction() {
		t.Errorf("%v", err)
	}
}

// What is no count over cells is refused with what to do, wherever a hostile condition ends.
func TestLinearWhereRefuses(t *testing.T) {
	_, g := streamed(t, 2)
	for _, text := range []string{"c0 < 30", "c9 < 30", "true) OR (SELECT 1", "c0 < 25) GROUP BY (c0",
		"c0 < 25) UNION ALL SELECT COUNT(*) FROM people WHERE (true", "1; DROP TABLE people", "false"} {
		_, err := g.LinearWhere(text, planner.Options{})
		var no *api.Refusal
		if !errors.As(err, &no) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "  ", "true", "c0 < 25 -- and nothing else", "c0 = c0 AND c1 < 50", "c0 / 0 = 1"} {
		if _, err := g.LinearWhere(text, planner.Options{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

package reference

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// TestZerosAreOne: 0 and -0 are equal, so which of two rows with them comes first is nobody's
// choice, and a cut may not tell it.
func TestZerosAreOne(t *testing.T) {
	ds, tables := shop()
	orders := ds.Tables["orders"]
	orders.Columns["weight"] = &policy.Column{Name: "weight", Type: policy.Decimal, Nullable: true}
	var rows [][]any
	for i := range int64(40) {
		rows = append(rows, []any{i, i, int64(1), "x", 0.0}, []any{i, i + 100, int64(1), "x", math.Copysign(0, -1)})
	}
	count := func(rows [][]any) string {
		tables["orders"] = Table{[]string{"pid", "oid", "total", "city", "weight"}, rows}
		e := New(ds, tables)
		s, err := plan.Prepare(ds, "SELECT COUNT(*) FROM (SELECT pid, weight, total + 1 AS more, row_number() OVER (PARTITION BY pid "+
			"ORDER BY total) AS n FROM orders) t WHERE n <= 1 AND more > 0 AND weight < 1", plan.Options{Public: e.Public()})
		if err != nil {
			t.Fatal(err)
		}
		q := &s.Plans[0].Query
		q.From = &tree.Cut{From: q.From.(*tree.Select), Rows: 1}
		return show(q, e, t)
	}
	one := count(slices.Clone(rows))
	slices.Reverse(rows)
	if other := count(rows); one != other {
		t.Errorf("%s, and %s in another order", one, other)
	}
}

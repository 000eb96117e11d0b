package reference_test

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// Somebody with three visits counts with two of them, because the policy says so. What an engine
// computed is sealed, and shows itself to nobody.
func Example() {
	ds := &policy.Dataset{Name: "hospital", Unit: policy.Unit{Table: "visits", Column: "pid"}, Tables: map[string]*policy.Table{
		"visits": {Name: "visits", UnitKind: policy.Many, UnitColumn: "pid", MaxRows: 2, MaxGroups: 1, Columns: map[string]*policy.Column{
			"days": {Name: "days", Type: policy.Integer, Granularity: big.NewRat(1, 1), Bounds: &policy.Bounds{HiSteps: 10}},
		}},
	}}
	e := reference.New(ds, map[string]reference.Table{"visits": {
		Columns: []string{"pid", "days"},
		Rows:    [][]any{{int64(1), int64(4)}, {int64(1), int64(99)}, {int64(1), int64(7)}, {int64(2), nil}, {nil, int64(3)}},
	}})
	s, err := planner.Prepare(ds, "SELECT COUNT(*), SUM(days) FROM visits", planner.Options{Public: e.Public()})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := e.Run(context.Background(), &s.Plans[0].Query)
	fmt.Println(r.Measures, err)
	// Output: [[exact] [exact]] <nil>
}

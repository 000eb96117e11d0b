package neighbours_test

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/policy"
)

// TestTwins: where every row is a person, equal rows at the same place of two tables are two
// people. Were they taken for one, their sums would be clamped together, and who is left without
// the other would move from one end to the other.
func TestTwins(t *testing.T) {
	number := func(name string) map[string]*policy.Column {
		return map[string]*policy.Column{name: {Name: name, Type: policy.Integer, Nullable: true, Granularity: big.NewRat(1, 1),
			Bounds: &policy.Bounds{Lo: big.NewRat(-5, 1), Hi: big.NewRat(5, 1), LoSteps: -5, HiSteps: 5}}}
	}
	ds := &policy.Dataset{Name: "twins", Engine: "duckdb", Tables: map[string]*policy.Table{
		"north": {Name: "north", UnitKind: policy.Row, MaxRows: 1, MaxGroups: 1, Columns: number("x")},
		"south": {Name: "south", UnitKind: policy.Row, MaxRows: 1, MaxGroups: 1, Columns: number("x")},
		"three": {Name: "three", Public: true, UnitKind: policy.NoUnit, MaxRows: 1, MaxGroups: 1, Columns: number("k")},
	}}
	made := func(south ...[]any) *generate.Database {
		return &generate.Database{Dataset: ds, Tables: map[string]reference.Table{
			"north": {Columns: []string{"x"}, Rows: [][]any{{int64(5)}}},
			"south": {Columns: []string{"x"}, Rows: south},
			"three": {Columns: []string{"k"}, Rows: [][]any{{int64(1)}, {int64(2)}, {int64(3)}}},
		}}
	}
	s, err := plan.Prepare(ds, "SELECT SUM(t.x) FROM (SELECT x FROM north UNION ALL SELECT -2 * x FROM south) AS t "+
		"CROSS JOIN three", plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := &s.Plans[0].Query
	for name, opener := range openers {
		open := opener(t)
		a, closeA, err := open(t.Context(), made([]any{int64(5)}))
		if err != nil {
			t.Fatal(err)
		}
		b, closeB, err := open(t.Context(), made())
		if err != nil {
			t.Fatal(err)
		}
		x, err1 := a.Run(t.Context(), q)
		y, err2 := b.Run(t.Context(), q)
		if err1 != nil || err2 != nil {
			t.Fatal(name, err1, err2)
		}
		if _, err := neighbours.Judge(q, x, y); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := closeA(); err != nil {
			t.Error(err)
		}
		if err := closeB(); err != nil {
			t.Error(err)
		}
	}
}

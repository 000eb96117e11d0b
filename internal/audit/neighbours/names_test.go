package neighbours_test

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/policy"
)

func score(name string) map[string]*policy.Column {
	return map[string]*policy.Column{name: {Name: name, Type: policy.Integer, Nullable: true, Granularity: big.NewRat(1, 1),
		Bounds: &policy.Bounds{Lo: new(big.Rat), Hi: big.NewRat(5, 1), HiSteps: 5}}}
}

// TestNames tries policies whose names look like something else. Whose a row is must not depend on
// how things are called.
func TestNames(t *testing.T) {
	rows := &policy.Dataset{
		// The planner says "row of people" where every row is a person; here that is a table's
		// name.
		Name: "rows", Neighbours: dp.AddRemove, Unit: policy.Unit{Table: "row of people", Column: "pid"},
		Tables: map[string]*policy.Table{
			"row of people": {Name: "row of people", UnitKind: policy.Unique, UnitColumn: "pid", MaxRows: 1, MaxGroups: 1,
				Columns: score("a")},
			"row of cards": {Name: "row of cards", UnitKind: policy.Unique, UnitColumn: "pid", MaxRows: 1, MaxGroups: 1,
				Columns: score("b"),
				Path:    []policy.Step{{Column: "pid", Table: "row of people", Key: "pid"}}},
		},
	}
	// The unit is the column "b.c" of a, and an order is told by the column c of "a.b".
	person, order := policy.Step{Column: "who", Table: "a", Key: "b.c"}, policy.Step{Column: "c", Table: "a.b", Key: "c"}
	dots := &policy.Dataset{
		Name: "dots", Neighbours: dp.AddRemove, Unit: policy.Unit{Table: "a", Column: "b.c"},
		Tables: map[string]*policy.Table{
			"a": {Name: "a", UnitKind: policy.Unique, UnitColumn: "b.c", MaxRows: 1, MaxGroups: 1, Columns: score("x")},
			"a.b": {Name: "a.b", UnitKind: policy.Many, UnitColumn: "who", Path: []policy.Step{person}, MaxRows: 1, MaxGroups: 1,
				Columns: score("y")},
			"items": {Name: "items", UnitKind: policy.Many, Path: []policy.Step{order, person}, MaxRows: 1, MaxGroups: 1,
				Columns: score("z")},
		},
	}
	for _, c := range []struct {
		world *policy.Dataset
		texts []string
		taken bool
	}{
		{rows, []string{`SELECT COUNT(*), SUM(x) FROM (SELECT a AS x FROM "row of people" UNION ALL SELECT b FROM "row of cards") AS t`},
			true},
		// Orders of one person whose number is the name of another are nothing of the other's.
		{dots, []string{`SELECT COUNT(*) FROM a JOIN "a.b" AS o ON a."b.c" = o.c`}, false},
		{dots, []string{`SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM items WHERE items.c = a."b.c")`}, false},
		{dots, []string{`SELECT COUNT(*) FROM a JOIN "a.b" AS o ON a."b.c" = o.who JOIN items AS i ON i.c = o.c`}, true},
	} {
		r, err := neighbours.Replay(t.Context(), c.world, neighbours.Options{Pairs: 200, Texts: c.texts})
		if taken := r.Pairs > 0; taken != c.taken {
			t.Errorf("%s: taken %v, want %v: %v", c.texts[0], taken, c.taken, err)
		}
		for _, f := range r.Findings {
			t.Errorf("%s\n%s", f.Subject, f.Detail)
		}
	}
}

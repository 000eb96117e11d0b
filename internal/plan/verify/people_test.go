package verify_test

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/plan/verify"
	"github.com/discreet-dp/discreet/policy"
)

// The second check agrees with the count of everybody, and with nothing that tells more.
func TestPeople(t *testing.T) {
	people := func(edit func(*policy.Dataset, *policy.Table)) (*policy.Dataset, *policy.Table) {
		table := &policy.Table{Name: "people", UnitKind: policy.Unique, UnitColumn: "who", MaxRows: 1, MaxGroups: 1,
			Columns: map[string]*policy.Column{"old": {Name: "old", Type: policy.Boolean, Nullable: true}}}
		ds := &policy.Dataset{Name: "d", Source: "people.duckdb", Unit: policy.Unit{Table: "people", Column: "who"},
			Neighbours: dp.Substitute, Tables: map[string]*policy.Table{"people": table}}
		if edit != nil {
			edit(ds, table)
		}
		return ds, table
	}
	for what, edit := range map[string]func(*policy.Dataset, *policy.Table){
		"a list": nil,
		"rows": func(ds *policy.Dataset, t *policy.Table) {
			ds.Unit, t.UnitKind, t.UnitColumn = policy.Unit{}, policy.Row, ""
		},
		"events": func(_ *policy.Dataset, t *policy.Table) { t.UnitKind, t.MaxRows, t.MaxGroups = policy.Many, 5, 5 },
		"CSV":    func(ds *policy.Dataset, t *policy.Table) { ds.Source, t.CSV.RefuseBadLines = "data", true },
	} {
		ds, _ := people(edit)
		if q := plan.CountPeople(ds); q == nil || verify.People(ds, q) != nil {
			t.Errorf("%s: %v", what, verify.People(ds, q))
		}
	}
	for what, edit := range map[string]func(*policy.Dataset, *policy.Table){
		"people are added": func(ds *policy.Dataset, _ *policy.Table) { ds.Neighbours = dp.AddRemove },
		"another table": func(ds *policy.Dataset, t *policy.Table) {
			more := *t
			more.Name = "more"
			ds.Tables["more"] = &more
		},
		"lines":     func(ds *policy.Dataset, _ *policy.Table) { ds.Source = "data" },
		"own lines": func(_ *policy.Dataset, t *policy.Table) { t.Source = "people.csv" },
		"many rows": func(_ *policy.Dataset, t *policy.Table) { t.UnitKind, t.MaxRows, t.MaxGroups = policy.Many, 5, 5 },
		"led to them": func(_ *policy.Dataset, t *policy.Table) {
			t.Path = []policy.Step{{Column: "who", Table: "people", Key: "who"}}
		},
	} {
		good, _ := people(nil)
		q := plan.CountPeople(good)
		ds, table := people(edit)
		q.From = plan.NewScan(ds, table)
		q.Neighbours = ds.Neighbours
		if verify.People(ds, q) == nil {
			t.Errorf("%s: nothing is said against it", what)
		}
	}
	ds, table := people(nil)
	scan := plan.NewScan(ds, table)
	old := tree.NewColumn(scan, slices.IndexFunc(scan.Row, func(f tree.Field) bool { return f.Name == "old" }))
	for what, edit := range map[string]func(*tree.Query){
		"some of them":    func(q *tree.Query) { q.Where = old },
		"some values":     func(q *tree.Query) { q.Measures[0] = tree.Measure{Kind: tree.CountValues, Arg: old} },
		"those who":       func(q *tree.Query) { q.Measures[0] = tree.Measure{Kind: tree.CountPersons, Arg: old} },
		"several numbers": func(q *tree.Query) { q.Measures = append(q.Measures, q.Measures[0]) },
		"groups": func(q *tree.Query) {
			q.Keys = []tree.Key{{Expr: old, Values: []policy.Value{{Type: policy.Boolean, Int: 1}}}}
		},
		"added": func(q *tree.Query) { q.Neighbours = dp.AddRemove },
	} {
		q := plan.CountPeople(ds)
		edit(q)
		if verify.People(ds, q) == nil {
			t.Errorf("%s: nothing is said against it", what)
		}
	}
}

package reference

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// row is the values of a relation's fields. An identity is its name, a string.
type row []tree.Value

// run is one question on its way. What a relation's rows are is found out once.
type run struct {
	*Engine
	seen map[tree.Relation][]row
}

// leaf gives an expression the values of a row.
func (r run) leaf(values row) func(tree.Expr) tree.Value {
	return func(e tree.Expr) tree.Value {
		switch e := e.(type) {
		case *tree.Column:
			return values[e.Index]
		case *tree.Exists:
			for _, inner := range r.rows(e.From) {
				if r.holds(e.On, concat(values[:e.Outer], inner)) {
					return true
				}
			}
			return false
		}
		panic(fmt.Sprintf("reference: %T among rows", e))
	}
}

func (r run) holds(condition tree.Expr, values row) bool {
	return condition == nil || expr.Eval(condition, r.leaf(values)) == true
}

func concat(a, b row) row { return append(append(make(row, 0, len(a)+len(b)), a...), b...) }

func (r run) rows(rel tree.Relation) []row {
	out, ok := r.seen[rel]
	if !ok {
		out = r.compute(rel)
		r.seen[rel] = out
	}
	return out
}

func (r run) compute(rel tree.Relation) []row {
	var out []row
	switch rel := rel.(type) {
	case *tree.Scan:
		return r.scan(rel)
	case *tree.Join:
		return r.join(rel)
	case *tree.Select:
		for _, from := range r.rows(rel.From) {
			if !r.holds(rel.Where, from) {
				continue
			}
			values := make(row, len(rel.Columns))
			for i, c := range rel.Columns {
				values[i] = expr.Eval(c, r.leaf(from))
			}
			out = append(out, values)
		}
	case *tree.Union:
		for _, p := range rel.Parts {
			out = append(out, r.rows(p)...)
		}
	case *tree.Persons:
		return r.persons(rel)
	case *tree.Window:
		return r.window(rel)
	case *tree.Cut:
		return r.cut(rel)
	default:
		panic(fmt.Sprintf("reference: no rows of %T", rel))
	}
	return out
}

func (r run) scan(s *tree.Scan) []row {
	t := r.tables[s.Table.Name]
	out := make([]row, len(t.Rows))
	for i := range t.Rows {
		out[i] = make(row, len(s.Fields()))
		for k, f := range s.Fields() {
			switch stored := t.stored(i, s.Stored(k)); {
			case k == s.Unit():
				out[i][k] = r.unit(s.Table, i)
			case f.Type.Kind == tree.Identity:
				out[i][k] = identity(stored)
			default:
				out[i][k] = Declared(f.Source, stored)
			}
		}
	}
	return out
}

// unit says whose a stored row is, or nil for nobody.
func (r run) unit(t *policy.Table, i int) tree.Value {
	rows := r.tables[t.Name]
	switch {
	case t.UnitKind == policy.Row:
		return fmt.Sprintf("%q row %d", t.Name, i)
	case len(t.Path) < 2:
		return identity(rows.stored(i, t.UnitColumn))
	}
	for k, step := range t.Path {
		at := identity(rows.stored(i, step.Column))
		if k == len(t.Path)-1 {
			return at
		}
		if rows, i = r.tables[step.Table], r.find(step, at); i < 0 {
			break
		}
	}
	return nil
}

// find returns the row that a step leads to, or -1.
func (r run) find(step policy.Step, at tree.Value) int {
	t := r.tables[step.Table]
	for i := range t.Rows {
		if at != nil && identity(t.stored(i, step.Key)) == at {
			return i
		}
	}
	return -1
}

func (r run) join(j *tree.Join) []row {
	var out []row
	right := r.rows(j.R)
	for _, l := range r.rows(j.L) {
		found := false
		for _, x := range right {
			if both := concat(l, x); r.holds(j.On, both) {
				out, found = append(out, both), true
			}
		}
		if j.Left && !found {
			out = append(out, concat(l, make(row, len(j.R.Fields()))))
		}
	}
	return out
}

func clamp(v, lo, hi *big.Int) *big.Int {
	switch {
	case v.Cmp(lo) < 0:
		return lo
	case v.Cmp(hi) > 0:
		return hi
	}
	return v
}

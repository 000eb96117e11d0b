package plan

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// values returns the public values of a key, and whether there are any. They follow from the
// policy, from a list in WHERE, from a public table, or from the expression itself.
func (q *question) values(e tree.Expr, pos int32) ([]policy.Value, bool, error) {
	own, ok, err := q.domain(e)
	if err != nil {
		return nil, false, syntax.Refuse(pos, "list the values you want with IN (...) in WHERE", "%v", err)
	}
	own = q.keepAllowed(e, own)
	listed, given := q.listedInWhere(e)
	switch {
	case ok && given:
		// Other rows are not there, so other groups would be empty.
		own = slices.DeleteFunc(slices.Clone(own), func(v policy.Value) bool { return !slices.Contains(listed, v) })
		if len(own) == 0 {
			return nil, false, syntax.Refuse(pos, "list values that the column can have",
				"none of the listed values of %s is a public key", tree.Describe(e))
		}
	case given:
		own, ok = listed, true
	}
	if ok && len(own) == 0 { // no price is right for a question without groups
		return nil, false, syntax.Refuse(pos, "list the values you want with IN (...) in WHERE",
			"%s has no values, because the public table is empty", tree.Describe(e))
	}
	return own, ok, nil
}

// keepAllowed leaves out the values that WHERE leaves out by comparing the key with a constant:
// their groups would be empty.
func (q *question) keepAllowed(e tree.Expr, values []policy.Value) []policy.Value {
	name := tree.Format(e)
	for _, c := range expr.Conjuncts(q.filter) {
		test := withConstants(c, name)
		if test == nil {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(values), func(v policy.Value) bool {
			k := expr.FromKey(v, e.Type())
			return k == nil || expr.Eval(test(expr.FromValue(k, e.Type())), nil) != true
		})
		if len(kept) > 0 { // a question about no group is still a question
			values = kept
		}
	}
	return values
}

// withConstants returns a comparison of the key of a name with constants, as a condition on
// something else in its place.
func withConstants(c tree.Expr, name string) func(tree.Expr) tree.Expr {
	if tree.Format(c) == name { // a truth
		return func(x tree.Expr) tree.Expr { return x }
	}
	switch c := c.(type) {
	case *tree.Compare:
		if l, ok := c.R.(*tree.Literal); ok && !l.IsNullLiteral() && tree.Format(c.L) == name {
			return func(x tree.Expr) tree.Expr { return &tree.Compare{Op: c.Op, L: x, R: l} }
		}
	case *tree.Not: // several <> are one NOT IN
		if tree.Format(c.X) == name {
			return func(x tree.Expr) tree.Expr { return &tree.Not{X: x} }
		}
		if in, ok := c.X.(*tree.In); ok && tree.Format(in.X) == name {
			return func(x tree.Expr) tree.Expr { return &tree.Not{X: &tree.In{X: x, List: in.List}} }
		}
	}
	return nil
}

// listedInWhere returns the constants that WHERE compares a key with.
func (q *question) listedInWhere(e tree.Expr) ([]policy.Value, bool) {
	name := tree.Format(e)
	for _, c := range expr.Conjuncts(q.filter) {
		x, list := expr.Constants(c)
		if x == nil || tree.Format(x) != name {
			continue
		}
		var out []policy.Value
		for _, l := range list {
			if !expr.ExceedsInt64(l) {
				out = append(out, expr.KeyValue(l.Value(), e.Type()))
			}
		}
		if _, in := c.(*tree.In); in || len(out) > 0 {
			return out, len(out) > 0
		}
	}
	return nil, false
}

// domain returns the values that an expression can have, where they are public and not too many.
func (q *question) domain(e tree.Expr) ([]policy.Value, bool, error) {
	if c, ok := e.(*tree.Column); ok {
		return q.columnDomain(c)
	}
	if values, ok := expr.Results(e); ok {
		return values, true, nil
	}
	if values, ok, err := q.enumerate(e); ok || err != nil {
		return values, ok, err
	}
	switch t := e.Type(); t.Kind {
	case tree.Boolean:
		return []policy.Value{expr.BoolValue(false), expr.BoolValue(true)}, true, nil
	case tree.Number:
		if t.Declared {
			return expr.Points(t)
		}
	}
	return nil, false, nil
}

func (q *question) columnDomain(c *tree.Column) ([]policy.Value, bool, error) {
	f := c.Field
	if f.Public != "" && f.Source.Keys != policy.PublicKeys {
		if q.options.Public == nil {
			return nil, false, nil
		}
		values, err := q.options.Public.Values(f.Public, f.Source.Name, maxGroups)
		if err == nil && f.Nullable && len(values) > 0 {
			values = append(values, policy.Value{Type: f.Source.Type, Null: true})
		}
		return values, err == nil, err
	}
	if f.Source != nil {
		values := f.Source.PublicValues()
		if len(values) > 0 && f.Source.Keys != policy.PrivateKeys {
			return values, true, nil
		}
		return nil, false, nil
	}
	switch f.Type.Kind {
	case tree.Boolean:
		return []policy.Value{expr.BoolValue(false), expr.BoolValue(true)}, true, nil
	case tree.Number:
		if f.Type.Declared {
			return expr.Points(f.Type)
		}
	}
	return nil, false, nil
}

// enumerate computes an expression for all values of its columns.
func (q *question) enumerate(e tree.Expr) ([]policy.Value, bool, error) {
	var columns []*tree.Column
	simple := true
	tree.Walk(e, func(x tree.Expr) {
		switch x := x.(type) {
		case *tree.Column:
			if !slices.ContainsFunc(columns, func(c *tree.Column) bool { return c.Index == x.Index }) {
				columns = append(columns, x)
			}
		case *tree.Exists:
			simple = false
		}
	})
	if !simple || len(columns) == 0 {
		return nil, false, nil
	}
	domains := make([][]policy.Value, len(columns))
	total := 1
	for i, c := range columns {
		values, ok, err := q.columnDomain(c)
		if err != nil || !ok {
			return nil, false, err
		}
		if c.Field.Nullable && !slices.ContainsFunc(values, func(v policy.Value) bool { return v.Null }) {
			// NULL is in the data even where it is no group of the column's own.
			values = append(slices.Clone(values), policy.Value{Null: true})
		}
		domains[i] = values
		if total *= len(values); total > expr.MaxDomain {
			return nil, false, nil
		}
	}
	q.tried += total
	var out []policy.Value
	row := map[int]tree.Value{}
	var try func(i int)
	try = func(i int) {
		if i == len(columns) {
			v := expr.Eval(e, func(x tree.Expr) tree.Value { return row[x.(*tree.Column).Index] })
			out = append(out, expr.KeyValue(v, e.Type()))
			return
		}
		for _, v := range domains[i] {
			row[columns[i].Index] = expr.FromKey(v, columns[i].Field.Type)
			try(i + 1)
		}
	}
	try(0)
	out = expr.SortedValues(out)
	// A NULL that comes of a NULL is left out, as it is where the column itself is the key.
	if !nullListed(columns) {
		out = slices.DeleteFunc(out, func(v policy.Value) bool { return v.Null })
	}
	return out, len(out) > 0 && len(out) <= maxGroups, nil
}

func nullListed(columns []*tree.Column) bool {
	return slices.ContainsFunc(columns, func(c *tree.Column) bool {
		return c.Field.Source != nil && slices.ContainsFunc(c.Field.Source.KeyValues, func(v policy.Value) bool { return v.Null })
	})
}

package planner

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// domainFinder finds what values expressions can have, from what is public alone.
type domainFinder struct {
	env    *env
	fields map[fieldKey]domain // what was found out about fields
	// whole says of which fields of a join ON leaves out no row, though it is an inner one; nil
	// where there are none.
	whole  func(r *tree.Join, c *tree.Column) bool
	costly bool // to find the values of the key takes too much
}

// values returns the public values of a key, and whether there are any. They follow from the
// policy, from a list in WHERE, from a public table, or from the expression itself.
func (kf *keyFinder) values(e tree.Expr, pos int32) ([]policy.Value, bool, error) {
	k, err := kf.domains.of(kf.in.rows.Relation, kf.in.filter, e)
	if err != nil {
		return nil, false, syntax.Refuse(syntax.TooComplex, pos, "list the values you want with IN (...) in WHERE", "%v", err)
	}
	own, ok := kf.domains.listAll(k, e)
	own = kf.keepAllowed(e, own)
	listed, given := kf.listedInWhere(e)
	switch {
	case ok && given:
		// Other rows are not there, so other groups would be empty.
		wanted := make(map[policy.Value]bool, len(listed))
		for _, v := range listed {
			wanted[v] = true
		}
		own = slices.DeleteFunc(slices.Clone(own), func(v policy.Value) bool { return !wanted[v] })
		if len(own) == 0 {
			return nil, false, syntax.Refuse(syntax.Private, pos, "list values that the column can have",
				"none of the listed values of %s is a public key", tree.Describe(e))
		}
	case given:
		own, ok = listed, true
	}
	if ok && len(own) == 0 { // no price is right for a question without groups
		return nil, false, syntax.Refuse(syntax.Unsupported, pos, "list the values you want with IN (...) in WHERE",
			"%s has no values, because the public table is empty", tree.Describe(e))
	}
	return own, ok, nil
}

// keepAllowed leaves out the values that WHERE leaves out by comparing the key with a constant:
// their groups would be empty.
func (kf *keyFinder) keepAllowed(e tree.Expr, values []policy.Value) []policy.Value {
	name := kf.in.env.spell(e)
	for _, c := range expr.Conjuncts(kf.in.filter) {
		test := kf.withConstants(c, name)
		if test == nil {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(values), func(v policy.Value) bool {
			k := expr.FromKey(v, e.Type())
			return k == nil || kf.in.env.compute(test(expr.FromValue(k, e.Type())), nil) != true
		})
		if len(kept) > 0 { // a question about no group is still a question
			values = kept
		}
	}
	return values
}

// withConstants returns a comparison of the key of a name with constants, as a condition on
// something else in its place.
func (kf *keyFinder) withConstants(c tree.Expr, name string) func(tree.Expr) tree.Expr {
	if kf.in.env.spell(c) == name { // a truth
		return func(x tree.Expr) tree.Expr { return x }
	}
	switch c := c.(type) {
	case *tree.Compare:
		if l, ok := c.R.(*tree.Literal); ok && !l.IsNullLiteral() && kf.in.env.spell(c.L) == name {
			return func(x tree.Expr) tree.Expr { return &tree.Compare{Op: c.Op, L: x, R: l} }
		}
	case *tree.Not: // several <> are one NOT IN
		if kf.in.env.spell(c.X) == name {
			return func(x tree.Expr) tree.Expr { return &tree.Not{X: x} }
		}
		if in, ok := c.X.(*tree.In); ok && kf.in.env.spell(in.X) == name {
			return func(x tree.Expr) tree.Expr { return &tree.Not{X: &tree.In{X: x, List: in.List}} }
		}
	}
	return nil
}

// listedInWhere returns the constants that WHERE compares a key with.
func (kf *keyFinder) listedInWhere(e tree.Expr) ([]policy.Value, bool) {
	name := kf.in.env.spell(e)
	for _, c := range expr.Conjuncts(kf.in.filter) {
		x, list := expr.Constants(c)
		if x == nil || kf.in.env.spell(x) != name {
			continue
		}
		out := keyValues(list, e.Type())
		if _, in := c.(*tree.In); in || len(out) > 0 {
			return out, len(out) > 0
		}
	}
	return nil, false
}

// of says what is known of an expression in rows where a condition is true: its values, where
// they are public and not too many, or its ends.
func (df *domainFinder) of(r tree.Relation, where tree.Expr, e tree.Expr) (domain, error) {
	if c, ok := e.(*tree.Column); ok {
		return df.ofColumn(r, where, c)
	}
	k := ofType(e.Type(), expr.Nullable(e))
	if l, ok := e.(*tree.Literal); ok {
		k.values, k.listed = keyValues([]*tree.Literal{l}, l.Typ), !expr.ExceedsInt64(l)
		return k, nil
	}
	if values, ok := expr.Results(e); ok {
		k.values, k.listed = values, true
		return k, nil
	}
	columns, simple := columnsOf(e)
	if !simple || len(columns) == 0 {
		return k, nil
	}
	all := make([]domain, len(columns))
	for i, c := range columns {
		var err error
		if all[i], err = df.ofColumn(r, where, c); err != nil {
			return domain{}, err
		}
	}
	if len(columns) > 1 { // of one row of a public table not every combination is there
		if values, _, ok := df.publicValues(r, where, e); ok {
			if only := k.only(values); only.listed {
				return only, nil
			}
		}
	}
	if values, ok := df.try(func() ([]policy.Value, bool) { return df.enumerate(e, columns, all) }); ok {
		k.values, k.listed = values, true
		return k, nil
	}
	if len(columns) == 1 && !all[0].listed && all[0].bounded() {
		a := &expr.Axis{Index: columns[0].Index, Kind: columns[0].Field.Type.Kind, In: all[0].ends, Meter: df.env.meter()}
		if ends, ok := a.Ends(e); ok {
			k.ends = ends
		}
	}
	unknown := !slices.ContainsFunc(all, func(d domain) bool { return d.listed || d.bounded() })
	if !k.bounded() || unknown && !isSmall(e.Type()) {
		if values, ok := df.try(func() ([]policy.Value, bool) { return df.byParts(e) }); ok {
			k.values, k.listed = values, true
		}
	}
	return k, nil
}

// columnsOf returns the columns of an expression, each once, and whether it is about no other rows.
func columnsOf(e tree.Expr) (columns []*tree.Column, simple bool) {
	simple = true
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
	return columns, simple
}

// try looks for the values of a key, for which there is a part of what planning may take: where
// that is not enough they are not known, and can be listed in WHERE.
func (df *domainFinder) try(find func() ([]policy.Value, bool)) (values []policy.Value, ok bool) {
	if !df.env.meter().Try(func() { values, ok = find() }) {
		df.costly = true
		return nil, false
	}
	return values, ok
}

// enumerate computes an expression for all values of its columns. Of a column that lies between two
// ends it takes one in each step of the expression.
func (df *domainFinder) enumerate(e tree.Expr, columns []*tree.Column, all []domain) ([]policy.Value, bool) {
	domains := make([][]tree.Value, len(columns))
	total, nullListed := 1, false
	for i, c := range columns {
		values, ok := df.choices(e, c, all[i])
		nullListed = nullListed || all[i].listed && c.Field.Public == "" && slices.Contains(values, nil)
		if ok && all[i].null && !slices.Contains(values, nil) {
			// NULL is in the data even where it is no group of the column's own.
			values = append(values, nil)
		}
		domains[i] = values
		if total *= len(values); !ok || total > expr.MaxDomain || total == 0 {
			return nil, false
		}
	}
	var out []policy.Value
	row := map[int]tree.Value{}
	var try func(i int)
	try = func(i int) {
		if i == len(columns) {
			df.env.meter().Work(1, meter.Found)
			df.env.meter().Build(meter.FoundBytes)
			v := df.env.compute(e, func(x tree.Expr) tree.Value { return row[x.(*tree.Column).Index] })
			if n, ok := v.(*big.Int); !ok || n.IsInt64() {
				out = append(out, expr.KeyValue(v, e.Type()))
			}
			return
		}
		for _, v := range domains[i] {
			row[columns[i].Index] = v
			try(i + 1)
		}
	}
	try(0)
	out = expr.SortedValues(out)
	// A NULL that comes of a NULL is left out, as it is where the column itself is the key.
	if !nullListed {
		out = slices.DeleteFunc(out, func(v policy.Value) bool { return v.Null })
	}
	return out, len(out) > 0 && len(out) <= maxGroups
}

// choices are values of a column such that an expression has no others than with these.
func (df *domainFinder) choices(e tree.Expr, c *tree.Column, k domain) ([]tree.Value, bool) {
	var out []tree.Value
	if k.listed {
		for _, v := range k.values {
			out = append(out, expr.FromKey(v, c.Field.Type))
		}
		return out, true
	}
	switch c.Field.Type.Kind {
	case tree.Number, tree.Date, tree.Timestamp:
	default:
		return nil, false
	}
	if !k.bounded() {
		return nil, false
	}
	a := &expr.Axis{Index: c.Index, Kind: c.Field.Type.Kind, In: k.ends, Meter: df.env.meter()}
	points, ok := a.Points(e, expr.MaxDomain)
	df.env.meter().Build(meter.Number * len(points))
	for _, x := range points {
		out = append(out, a.Value(x))
	}
	return out, ok
}

// byParts computes an expression for all values of the small numbers that it is made of, such as
// the hours of any day, where its columns themselves have too many values or none that are public.
// Not every combination need occur.
func (df *domainFinder) byParts(e tree.Expr) ([]policy.Value, bool) {
	var parts []tree.Expr
	if !df.smallParts(e, &parts) || len(parts) == 0 {
		return nil, false
	}
	total := 1
	for _, p := range parts {
		t := p.Type()
		if total *= int(t.Hi.Int64()-t.Lo.Int64()) + 2; total > expr.MaxDomain/8 {
			return nil, false
		}
	}
	// Each part is a column of a row that is made up.
	of := expr.Replaced(e, func(x tree.Expr) tree.Expr {
		name := df.env.spell(x)
		at := slices.IndexFunc(parts, func(p tree.Expr) bool { return df.env.spell(p) == name })
		if at < 0 {
			return nil
		}
		return &tree.Column{Index: at, Field: tree.Field{Type: x.Type()}}
	})
	var out []policy.Value
	row := make([]tree.Value, len(parts))
	var try func(i int)
	try = func(i int) {
		if i == len(parts) {
			df.env.meter().Work(1, meter.Found)
			df.env.meter().Build(meter.FoundBytes)
			// A NULL is no group, as it is of the columns.
			if v := df.env.compute(of, func(x tree.Expr) tree.Value { return row[x.(*tree.Column).Index] }); v != nil {
				out = append(out, expr.KeyValue(v, e.Type()))
			}
			return
		}
		values, _, _ := expr.Points(parts[i].Type())
		for _, v := range values {
			row[i] = expr.FromKey(v, parts[i].Type())
			try(i + 1)
		}
		if expr.Nullable(parts[i]) { // of which coalesce makes a group
			row[i] = nil
			try(i + 1)
		}
	}
	try(0)
	out = expr.SortedValues(out)
	return out, len(out) > 0 && len(out) <= maxGroups
}

// smallParts collects the parts of an expression that are numbers of few values, each once, where
// all columns are in one of them.
func (df *domainFinder) smallParts(e tree.Expr, parts *[]tree.Expr) bool {
	if isSmall(e.Type()) {
		if _, constant := e.(*tree.Literal); constant {
			return true
		}
		if !slices.ContainsFunc(*parts, func(p tree.Expr) bool { return df.env.spell(p) == df.env.spell(e) }) {
			*parts = append(*parts, e)
		}
		return true
	}
	switch e.(type) {
	case *tree.Column, *tree.Exists, *tree.Released:
		return false
	}
	for _, p := range tree.Parts(e) {
		if !df.smallParts(p, parts) {
			return false
		}
	}
	return true
}

// isSmall reports whether a type is of numbers, and of few of them.
func isSmall(t tree.Type) bool {
	return t.Kind == tree.Number && t.Declared && t.Lo.IsInt64() && t.Hi.IsInt64() && t.Hi.Int64()-t.Lo.Int64() < maxSmallValues &&
		t.Hi.Int64()-t.Lo.Int64() >= 0
}

// maxSmallValues is how many values a part has at most.
const maxSmallValues = 1000

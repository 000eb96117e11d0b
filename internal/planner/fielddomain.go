package planner

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// domain is what the policy and the question say about the values of a column, or of an expression,
// in the rows that count: which there are, or between which ends they lie.
type domain struct {
	// values are all that there can be, where listed says so. A NULL among them is a group of its
	// own.
	values []policy.Value
	listed bool
	// ends hold all values of a number or a time, where it has some.
	ends expr.Interval
	null bool // it can also be NULL, which is no group then
}

// bounded reports whether both ends are somebody's: the owner's, or the question's.
func (k domain) bounded() bool { return k.ends.Lo > -expr.Farthest && k.ends.Hi < expr.Farthest }

// unbounded are the ends of what nobody has bounded.
var unbounded = expr.Interval{Lo: -expr.Farthest, Hi: expr.Farthest}

// between are two ends; one that is further away than any axis goes is none.
func between(lo, hi int64) expr.Interval {
	return expr.Interval{Lo: max(lo, unbounded.Lo), Hi: min(hi, unbounded.Hi)}
}

// fieldKey names a field of a relation, of which the same is known each time.
type fieldKey struct {
	rows  tree.Relation
	index int
}

// ofField says what is known of a field of a relation.
func (df *domainFinder) ofField(r tree.Relation, i int) (domain, error) {
	if k, ok := df.fields[fieldKey{r, i}]; ok {
		return k, nil
	}
	k, err := df.findField(r, i)
	if err != nil {
		return domain{}, err
	}
	if df.fields == nil {
		df.fields = map[fieldKey]domain{}
	}
	df.fields[fieldKey{r, i}] = k
	return k, nil
}

func (df *domainFinder) findField(r tree.Relation, i int) (domain, error) {
	switch r := r.(type) {
	case *tree.Scan:
		return df.ofSource(r.Row[i])
	case *tree.Cut:
		return df.ofField(r.From, i)
	case *tree.Select:
		return df.of(r.From, r.Where, r.Columns[i])
	case *tree.Join:
		return df.ofJoin(r, i)
	case *tree.Union:
		return df.ofUnion(r, i)
	case *tree.Persons:
		return df.ofPart(r, i)
	case *tree.Window:
		return df.ofWindow(r, i)
	}
	return ofType(r.Fields()[i].Type, r.Fields()[i].Nullable), nil
}

// ofJoin is what is known of a field of a join: what was known of it before, and what ON says.
// A row of the left side stays without a partner where the join is an outer one, and a row that ON
// leaves out of the right side is then NULL, so the left is as wide as it was, and the right has no
// other values than those that ON allows, and NULL.
func (df *domainFinder) ofJoin(r *tree.Join, i int) (domain, error) {
	from, at, right := r.L, i, false
	if n := len(r.L.Fields()); i >= n {
		from, at, right = r.R, i-n, true
	}
	f := from.Fields()
	if at >= len(f) || f[at].Source != r.Row[i].Source || f[at].Type.Kind != r.Row[i].Type.Kind {
		return ofType(r.Row[i].Type, r.Row[i].Nullable), nil
	}
	k, err := df.ofField(from, at)
	if err != nil {
		return domain{}, err
	}
	c := &tree.Column{Index: i, Field: r.Row[i]}
	whole := df.whole != nil && df.whole(r, c)
	if !whole && (!r.Left || right && !r.Full && !k.listed) { // a list may have NULL as a group of its own, which stays
		for _, cond := range expr.Conjuncts(r.On) {
			k = df.allowed(k, c, cond)
		}
	}
	return k.where(r.Row[i].Nullable && r.Left), nil
}

// where adds that something may be NULL.
func (k domain) where(null bool) domain {
	k.null = k.null || null
	return k
}

// ofSource is what the policy says of a column.
func (df *domainFinder) ofSource(f tree.Field) (domain, error) {
	src := f.Source
	switch {
	case src == nil:
		return ofType(f.Type, f.Nullable), nil
	case f.Public != "" && src.Keys != policy.PublicKeys:
		if df.env.options.Public == nil {
			return domain{ends: unbounded, null: true}, nil
		}
		values, err := df.env.options.Public.Values(f.Public, src.Name, maxGroups)
		return domain{values: values, listed: err == nil, ends: unbounded, null: f.Nullable && df.mayLack(f)}, err
	case src.Keys == policy.PrivateKeys:
		return domain{ends: unbounded, null: true}, nil
	case src.Keys == policy.PublicKeys, src.Type == policy.Boolean:
		return domain{values: src.PublicValues(), listed: true, ends: unbounded, null: f.Nullable}, nil
	case src.Bounds != nil && f.Type.Kind != tree.Real:
		return domain{ends: between(src.Bounds.LoSteps, src.Bounds.HiSteps), null: f.Nullable}, nil
	}
	return domain{ends: unbounded, null: f.Nullable}, nil
}

// mayLack reports whether a column of a public table is NULL in some row of it, as far as its rows
// are known.
func (df *domainFinder) mayLack(f tree.Field) bool {
	t := df.env.dataset.Tables[f.Public]
	at := slices.Index(t.ColumnNames(), f.Source.Name)
	rows := df.env.readPublic(t)
	df.env.meter().Work(len(rows), meter.Node)
	return len(rows) == 0 || at < 0 || slices.ContainsFunc(rows, func(row []tree.Value) bool { return row[at] == nil })
}

// ofType is what the type of something computed says.
func ofType(t tree.Type, null bool) domain {
	k := domain{ends: unbounded, null: null}
	switch {
	case t.Kind == tree.Boolean:
		k.values, k.listed = []policy.Value{expr.BoolValue(false), expr.BoolValue(true)}, true
	case t.Kind == tree.Number && t.Declared, (t.Kind == tree.Date || t.Kind == tree.Timestamp) && t.Declared && t.Lo != nil:
		if t.Lo.IsInt64() && t.Hi.IsInt64() {
			k.ends = between(t.Lo.Int64(), t.Hi.Int64())
		}
	}
	return k
}

// ofUnion is what is known of all parts of a union together.
func (df *domainFinder) ofUnion(u *tree.Union, i int) (domain, error) {
	out := domain{listed: true, ends: expr.Interval{Lo: math.MaxInt64, Hi: math.MinInt64}}
	for _, p := range u.Parts {
		k, err := df.ofField(p, i)
		if err != nil {
			return domain{}, err
		}
		out.ends = expr.Interval{Lo: min(out.ends.Lo, k.ends.Lo), Hi: max(out.ends.Hi, k.ends.Hi)}
		out.listed, out.null = out.listed && k.listed, out.null || k.null
		out.values = append(out.values, k.values...)
	}
	if !out.listed {
		out.values = nil
	}
	out.values = expr.SortedValues(out.values)
	return out, nil
}

// ofPart is what is known of a number about a person: the smallest and the largest value of
// something is one of its values.
func (df *domainFinder) ofPart(p *tree.Persons, i int) (domain, error) {
	if k := i - 1; k >= 0 && k < len(p.Keys) {
		return df.of(p.From, p.Where, p.Keys[k])
	}
	if at := i - 1 - len(p.Keys); at >= 0 && at < len(p.Parts) {
		if part := p.Parts[at]; part.Kind == tree.PartMin || part.Kind == tree.PartMax {
			k, err := df.of(p.From, p.Where, part.Arg)
			return domain{ends: k.ends, null: true}, err
		}
	}
	return ofType(p.Row[i].Type, p.Row[i].Nullable), nil
}

// ofWindow is what is known of a window's field: one that says what is in another row of the
// person has the values that it has in rows.
func (df *domainFinder) ofWindow(w *tree.Window, i int) (domain, error) {
	n := len(w.From.Fields())
	if i < n {
		return df.of(w.From, w.Where, &tree.Column{Index: i, Field: w.From.Fields()[i]})
	}
	switch o := w.Calls[i-n]; o.Kind {
	case tree.PartMin, tree.PartMax, tree.PartFirst, tree.PartLast, tree.PartNth, tree.PartLag, tree.PartLead:
		if o.Otherwise == nil {
			k, err := df.of(w.From, w.Where, o.Arg)
			return k.where(true), err
		}
	}
	return ofType(w.Row[i].Type, w.Row[i].Nullable), nil
}

// ofColumn says what is known of a column of rows where a condition is true.
func (df *domainFinder) ofColumn(r tree.Relation, where tree.Expr, c *tree.Column) (domain, error) {
	k, err := df.ofField(r, c.Index)
	if err != nil {
		return domain{}, err
	}
	// What the owner has marked as private keys is found and not listed, as it is without the join.
	if src := c.Field.Source; src == nil || src.Keys != policy.PrivateKeys || c.Field.Public != "" {
		if values, null, ok := df.publicValues(r, where, c); ok {
			k = k.only(values)
			k.null = k.null && null
		}
	}
	for _, cond := range expr.Conjuncts(where) {
		k = df.allowed(k, c, cond)
	}
	return k, nil
}

// allowed leaves out what a condition leaves out. Where nothing would be left everything stays: a
// question about no group is still a question.
func (df *domainFinder) allowed(k domain, c *tree.Column, cond tree.Expr) domain {
	if !isAbout(cond, c) {
		if comparesField(cond, c.Index) { // with another column: then it is not NULL
			k.null = false
			if kept := slices.DeleteFunc(slices.Clone(k.values), func(v policy.Value) bool { return v.Null }); len(kept) > 0 {
				k.values = kept
			}
		}
		return k
	}
	if x, list := expr.Constants(cond); !k.listed && x != nil && df.env.spell(x) == df.env.spell(c) {
		k.values, k.listed = keyValues(list, c.Field.Type), true // the question lists them
		if len(k.values) == 0 {
			k.listed = false
		}
	}
	if k.listed {
		kept := slices.DeleteFunc(slices.Clone(k.values), func(v policy.Value) bool {
			return df.env.compute(cond, func(tree.Expr) tree.Value { return expr.FromKey(v, c.Field.Type) }) != true
		})
		if len(kept) > 0 {
			k.values = kept
		}
		k.null = k.null && df.env.compute(cond, func(tree.Expr) tree.Value { return nil }) == true
		return k
	}
	switch c.Field.Type.Kind {
	case tree.Number, tree.Date, tree.Timestamp:
		a := &expr.Axis{Index: c.Index, Kind: c.Field.Type.Kind, In: k.ends, Meter: df.env.meter()}
		in, present := a.Narrow(cond)
		if !in.Empty() {
			k.ends = in
		}
		k.null = k.null && !present
	}
	return k
}

// comparesField reports whether a condition is a comparison of a field, which is not true where
// that is NULL.
func comparesField(cond tree.Expr, index int) bool {
	x, ok := cond.(*tree.Compare)
	return ok && x.Op != tree.Distinct && x.Op != tree.NotDistinct && (isField(x.L, index) || isField(x.R, index))
}

// isAbout reports whether a condition is about one column alone, and about no other rows.
func isAbout(cond tree.Expr, c *tree.Column) bool {
	ok, found := true, false
	tree.Walk(cond, func(x tree.Expr) {
		switch x := x.(type) {
		case *tree.Column:
			ok, found = ok && x.Index == c.Index, true
		case *tree.Exists, *tree.Released:
			ok = false
		}
	})
	return ok && found
}

// keyValues are constants as keys, without those that no key can hold.
func keyValues(list []*tree.Literal, t tree.Type) []policy.Value {
	var out []policy.Value
	for _, l := range list {
		if !expr.ExceedsInt64(l) {
			out = append(out, expr.KeyValue(l.Value(), t))
		}
	}
	return out
}

// listAll lists the values, where there are not too many. What lies between two ends is every point
// between them, but for a column of decimals, which is measured and not told apart, and for one
// whose values are private, which are found, or named one by one.
func (df *domainFinder) listAll(k domain, e tree.Expr) ([]policy.Value, bool) {
	t := e.Type()
	c, column := e.(*tree.Column)
	if k.listed {
		if column && c.Field.Public != "" && c.Field.Source.Keys != policy.PublicKeys && k.null && len(k.values) > 0 {
			return append(slices.Clone(k.values), policy.Value{Type: c.Field.Source.Type, Null: true}), true
		}
		return k.values, true
	}
	ordered := t.Kind == tree.Number || t.Kind == tree.Date || t.Kind == tree.Timestamp
	if !ordered || !k.bounded() || k.ends.Hi-k.ends.Lo >= policy.MaxPublicValues ||
		column && c.Field.Source != nil && (c.Field.Source.Type == policy.Decimal || c.Field.Source.Keys == policy.PrivateKeys) {
		return nil, false
	}
	n := int(k.ends.Hi - k.ends.Lo + 1)
	df.env.meter().Work(n, meter.Computed)
	df.env.meter().Build(n * meter.Number)
	out := make([]policy.Value, 0, n)
	for i := k.ends.Lo; i <= k.ends.Hi; i++ {
		out = append(out, policy.Value{Type: expr.KeyType(t), Int: i})
	}
	return out, true
}

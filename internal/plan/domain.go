package plan

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/policy"
)

// values returns the public values of a key, and whether there are any. They follow from the policy, from a
// list in WHERE, from a public table, or from the expression itself.
func (q *question) values(e Expr, pos int32) ([]policy.Value, bool, error) {
	own, ok, err := q.domain(e)
	if err != nil {
		return nil, false, refuse(pos, "list the values you want with IN (...) in WHERE", "%v", err)
	}
	own = q.within(e, own)
	listed, given := q.listedInWhere(e)
	switch {
	case ok && given:
		// Other rows are not there, so other groups would be empty.
		own = slices.DeleteFunc(slices.Clone(own), func(v policy.Value) bool { return !slices.Contains(listed, v) })
		if len(own) == 0 {
			return nil, false, refuse(pos, "list values that the column can have", "none of the listed values of %s is a public key", describe(e))
		}
	case given:
		own, ok = listed, true
	}
	if ok && len(own) == 0 { // no price is right for a question without groups
		return nil, false, refuse(pos, "list the values you want with IN (...) in WHERE", "%s has no values, because the public table is empty", describe(e))
	}
	return own, ok, nil
}

// within leaves out the values that WHERE leaves out by comparing the key with a constant: their groups would be empty.
func (q *question) within(e Expr, values []policy.Value) []policy.Value {
	name := Format(e)
	for _, c := range conjuncts(q.filter) {
		test := withConstants(c, name)
		if test == nil {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(values), func(v policy.Value) bool {
			k := FromKey(v, e.Type())
			return k == nil || Eval(test(fromValue(k, e.Type())), nil) != true
		})
		if len(kept) > 0 { // a question about no group is still a question
			values = kept
		}
	}
	return values
}

// withConstants returns a comparison of the key of a name with constants, as a condition on something else in its place.
func withConstants(c Expr, name string) func(Expr) Expr {
	if Format(c) == name { // a truth
		return func(x Expr) Expr { return x }
	}
	switch c := c.(type) {
	case *Compare:
		if l, ok := c.R.(*Literal); ok && !l.IsNullLiteral() && Format(c.L) == name {
			return func(x Expr) Expr { return &Compare{Op: c.Op, L: x, R: l} }
		}
	case *Not: // several <> are one NOT IN
		if Format(c.X) == name {
			return func(x Expr) Expr { return &Not{x} }
		}
		if in, ok := c.X.(*In); ok && Format(in.X) == name {
			return func(x Expr) Expr { return &Not{&In{X: x, List: in.List}} }
		}
	}
	return nil
}

// listedInWhere returns the constants that WHERE compares a key with.
func (q *question) listedInWhere(e Expr) ([]policy.Value, bool) {
	name := Format(e)
	for _, c := range conjuncts(q.filter) {
		x, list := constants(c)
		if x == nil || Format(x) != name {
			continue
		}
		var out []policy.Value
		for _, l := range list {
			if !beyond(l) {
				out = append(out, keyValue(l.Value(), e.Type()))
			}
		}
		if _, in := c.(*In); in || len(out) > 0 {
			return out, len(out) > 0
		}
	}
	return nil, false
}

// beyond reports whether a constant is a number that no key can hold.
func beyond(l *Literal) bool { return l.Number != nil && !l.Number.IsInt64() }

// maxDomain bounds how many combinations of values are tried to find those of an expression.
const maxDomain = 1 << 16

// domain returns the values that an expression can have, where they are public and not too many.
func (q *question) domain(e Expr) ([]policy.Value, bool, error) {
	if c, ok := e.(*Column); ok {
		return q.columnDomain(c)
	}
	if values, ok := resultsOf(e); ok {
		return values, true, nil
	}
	if values, ok, err := q.enumerate(e); ok || err != nil {
		return values, ok, err
	}
	switch t := e.Type(); t.Kind {
	case Boolean:
		return []policy.Value{boolValue(false), boolValue(true)}, true, nil
	case Number:
		if t.Declared {
			return points(t)
		}
	}
	return nil, false, nil
}

func (q *question) columnDomain(c *Column) ([]policy.Value, bool, error) {
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
	case Boolean:
		return []policy.Value{boolValue(false), boolValue(true)}, true, nil
	case Number:
		if f.Type.Declared {
			return points(f.Type)
		}
	}
	return nil, false, nil
}

// points lists the lattice between the ends of a type.
func points(t Type) ([]policy.Value, bool, error) {
	width := new(big.Int).Sub(t.Hi, t.Lo)
	if width.Cmp(big.NewInt(policy.MaxPublicValues)) >= 0 || !t.Lo.IsInt64() || !t.Hi.IsInt64() {
		return nil, false, nil
	}
	var out []policy.Value
	for i := t.Lo.Int64(); i <= t.Hi.Int64(); i++ {
		out = append(out, policy.Value{Type: policy.Integer, Int: i})
	}
	return out, true, nil
}

// resultsOf returns the results of a CASE whose results are all constants.
func resultsOf(e Expr) ([]policy.Value, bool) {
	c, ok := e.(*Case)
	if !ok {
		return nil, false
	}
	results := []Expr{c.Else}
	for _, w := range c.Whens {
		results = append(results, w.Then)
	}
	var out []policy.Value
	for _, r := range results {
		l, ok := r.(*Literal)
		if !ok {
			return nil, false
		}
		out = append(out, keyValue(l.Value(), e.Type()))
	}
	return sortedValues(out), true
}

// enumerate computes an expression for all values of its columns.
func (q *question) enumerate(e Expr) ([]policy.Value, bool, error) {
	var columns []*Column
	simple := true
	walk(e, func(x Expr) {
		switch x := x.(type) {
		case *Column:
			if !slices.ContainsFunc(columns, func(c *Column) bool { return c.Index == x.Index }) {
				columns = append(columns, x)
			}
		case *Exists:
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
		if total *= len(values); total > maxDomain {
			return nil, false, nil
		}
	}
	q.tried += total
	var out []policy.Value
	row := map[int]Value{}
	var try func(i int)
	try = func(i int) {
		if i == len(columns) {
			v := Eval(e, func(x Expr) Value { return row[x.(*Column).Index] })
			out = append(out, keyValue(v, e.Type()))
			return
		}
		for _, v := range domains[i] {
			row[columns[i].Index] = FromKey(v, columns[i].Field.Type)
			try(i + 1)
		}
	}
	try(0)
	out = sortedValues(out)
	// A NULL that comes of a NULL is left out, as it is where the column itself is the key.
	if !nullListed(columns) {
		out = slices.DeleteFunc(out, func(v policy.Value) bool { return v.Null })
	}
	return out, len(out) > 0 && len(out) <= maxGroups, nil
}

func nullListed(columns []*Column) bool {
	return slices.ContainsFunc(columns, func(c *Column) bool {
		return c.Field.Source != nil && slices.ContainsFunc(c.Field.Source.KeyValues, func(v policy.Value) bool { return v.Null })
	})
}

func boolValue(b bool) policy.Value {
	v := policy.Value{Type: policy.Boolean}
	if b {
		v.Int = 1
	}
	return v
}

// keyValue is a value of an expression as a key.
func keyValue(v Value, t Type) policy.Value {
	switch x := v.(type) {
	case *big.Int:
		return policy.Value{Type: policy.Integer, Int: x.Int64()}
	case string:
		return policy.Value{Type: policy.Text, Text: x}
	case bool:
		return boolValue(x)
	case Day:
		return policy.Value{Type: policy.Date, Int: int64(x)}
	case Moment:
		return policy.Value{Type: policy.Timestamp, Int: int64(x)}
	}
	return policy.Value{Type: keyType(t), Null: true}
}

func keyType(t Type) policy.Type {
	return map[Kind]policy.Type{Text: policy.Text, Boolean: policy.Boolean, Date: policy.Date, Timestamp: policy.Timestamp, Number: policy.Integer}[t.Kind]
}

// FromKey is a key as a value of an expression of a type.
func FromKey(k policy.Value, t Type) Value {
	switch {
	case k.Null:
		return nil
	case t.Kind == Text:
		return k.Text
	case t.Kind == Boolean:
		return k.Bool()
	case t.Kind == Date:
		return Day(k.Int)
	case t.Kind == Timestamp:
		return Moment(k.Int)
	}
	return big.NewInt(k.Int)
}

// sortedValues sorts, NULL last, and leaves out repetitions.
func sortedValues(all []policy.Value) []policy.Value {
	slices.SortFunc(all, func(a, b policy.Value) int {
		if a.Null != b.Null {
			if a.Null {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Int, b.Int))
	})
	return slices.Compact(all)
}

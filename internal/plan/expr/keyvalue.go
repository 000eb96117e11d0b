package expr

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// ExceedsInt64 reports whether a constant is a number that no key can hold.
func ExceedsInt64(l *tree.Literal) bool { return l.Number != nil && !l.Number.IsInt64() }

// MaxDomain bounds how many combinations of values are tried to find those of an expression.
const MaxDomain = 1 << 16

// Points lists the lattice between the ends of a type.
func Points(t tree.Type) ([]policy.Value, bool, error) {
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

// Results returns the results of a CASE whose results are all constants.
func Results(e tree.Expr) ([]policy.Value, bool) {
	c, ok := e.(*tree.Case)
	if !ok {
		return nil, false
	}
	results := []tree.Expr{c.Else}
	for _, w := range c.Whens {
		results = append(results, w.Then)
	}
	var out []policy.Value
	for _, r := range results {
		l, ok := r.(*tree.Literal)
		if !ok {
			return nil, false
		}
		out = append(out, KeyValue(l.Value(), e.Type()))
	}
	return SortedValues(out), true
}

func BoolValue(b bool) policy.Value {
	v := policy.Value{Type: policy.Boolean}
	if b {
		v.Int = 1
	}
	return v
}

// KeyValue is a value of an expression as a key.
func KeyValue(v tree.Value, t tree.Type) policy.Value {
	switch x := v.(type) {
	case *big.Int:
		return policy.Value{Type: policy.Integer, Int: x.Int64()}
	case string:
		return policy.Value{Type: policy.Text, Text: x}
	case bool:
		return BoolValue(x)
	case tree.Day:
		return policy.Value{Type: policy.Date, Int: int64(x)}
	case tree.Moment:
		return policy.Value{Type: policy.Timestamp, Int: int64(x)}
	}
	return policy.Value{Type: KeyType(t), Null: true}
}

func KeyType(t tree.Type) policy.Type {
	return map[tree.Kind]policy.Type{tree.Text: policy.Text, tree.Boolean: policy.Boolean, tree.Date: policy.Date,
		tree.Timestamp: policy.Timestamp, tree.Number: policy.Integer}[t.Kind]
}

// FromKey is a key as a value of an expression of a type.
func FromKey(k policy.Value, t tree.Type) tree.Value {
	switch {
	case k.Null:
		return nil
	case t.Kind == tree.Text:
		return k.Text
	case t.Kind == tree.Boolean:
		return k.Bool()
	case t.Kind == tree.Date:
		return tree.Day(k.Int)
	case t.Kind == tree.Timestamp:
		return tree.Moment(k.Int)
	}
	return big.NewInt(k.Int)
}

// SortedValues sorts, NULL last, and leaves out repetitions.
func SortedValues(all []policy.Value) []policy.Value {
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

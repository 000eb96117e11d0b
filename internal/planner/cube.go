package planner

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// findCubes finds the sets of a GROUP BY that are marginals of one table.
func findCubes(plans []*tree.Plan) []*tree.Cube {
	var out []*tree.Cube
	for first := 0; first < len(plans); {
		next := first + 1
		for next < len(plans) && plans[next].Continues {
			next++
		}
		if next-first > 1 {
			if c := newCube(plans[first:next]); c != nil {
				c.First = first
				out = append(out, c)
			}
		}
		first = next
	}
	return out
}

// The most groups that a table may have, and keys, and values of a key that every row is compared
// with, one by one: what is worth computing together.
const (
	maxCubeGroups = 1 << 16
	maxCubeKeys   = 8
	maxCubeListed = 1 << 10
)

// newCube makes the table of some sets, or returns nil where they are bought one by one: where
// people have several rows, which are cut in each set by itself; where keys are private; where
// something is asked for that does not add up; and where the table would be too large.
func newCube(plans []*tree.Plan) *tree.Cube {
	c := &tree.Cube{Query: plans[0].Query}
	c.Query.Keys = nil
	for _, p := range plans {
		q := &p.Query
		if !q.From.Single() || len(q.PrivateKeys()) > 0 || q.Choice != nil || !sameRows(q, &c.Query) || !sameMeasures(q, &c.Query) {
			return nil
		}
		set, ok := addKeys(&c.Query, q.Keys)
		if !ok {
			return nil
		}
		c.Sets = append(c.Sets, set)
	}
	groups := 1
	for i := range c.Query.Keys {
		hidden, ok := completeKey(&c.Query, i)
		if !ok || len(c.Query.Keys) > maxCubeKeys || len(c.Query.Keys[i].Values) > maxCubeGroups/groups {
			return nil
		}
		c.Hidden = append(c.Hidden, hidden)
		groups *= len(c.Query.Keys[i].Values)
	}
	if c.Query.MaxGroups() != 1 {
		return nil
	}
	return c
}

// sameRows reports whether two questions are about the same rows.
func sameRows(q, r *tree.Query) bool {
	if (q.Where == nil) != (r.Where == nil) || q.Where != nil && tree.Format(q.Where) != tree.Format(r.Where) {
		return false
	}
	return tree.FormatRelation(q.From) == tree.FormatRelation(r.From)
}

// sameMeasures reports whether two questions ask for the same about their groups, and all of it
// adds up.
func sameMeasures(q, r *tree.Query) bool {
	return len(q.Measures) > 0 && slices.EqualFunc(q.Measures, r.Measures, func(a, b tree.Measure) bool {
		return a.Adds() && (a.Arg == nil || tree.CountAsked(a.Arg) == 0) && a.Format() == b.Format()
	})
}

// addKeys returns where keys stand among those of a table, and puts new ones there. Keys of one
// spelling have the same values, or there is no table.
func addKeys(table *tree.Query, keys []tree.Key) ([]int, bool) {
	set := []int{}
	for _, k := range keys {
		name := tree.Format(k.Expr)
		at := slices.IndexFunc(table.Keys, func(other tree.Key) bool { return tree.Format(other.Expr) == name })
		if at < 0 {
			at = len(table.Keys)
			table.Keys = append(table.Keys, k)
		}
		if tree.CountAsked(k.Expr) > 0 || slices.Contains(set, at) || !slices.EqualFunc(table.Keys[at].Values, k.Values, expr.SameKey) {
			return nil, false
		}
		set = append(set, at)
	}
	return set, true
}

// completeKey lets a key of a table have one more value for all that are not listed, where rows may
// have such. It is NULL, or where NULL is listed a text that is not. It says whether there is one.
// Were one forgotten, rows would be missing in totals; how far one person moves anything does not
// rest on it.
func completeKey(q *tree.Query, i int) (hidden, ok bool) {
	k := &q.Keys[i]
	whole, all := expr.Covers(*k)
	if all || isNamed(q, *k) || whole && !expr.MayBeNull(q, k.Expr) {
		return false, true
	}
	t := k.Expr.Type()
	other := policy.Value{Type: expr.KeyType(t), Null: true}
	lists := func(v policy.Value) bool {
		return slices.ContainsFunc(k.Values, func(w policy.Value) bool { return expr.SameKey(v, w) })
	}
	null := lists(other)
	if null && t.Kind != tree.Text {
		return false, false
	}
	for other.Null = !null; lists(other); {
		other.Text += "other"
	}
	if !whole {
		listed, ok := isListed(*k)
		if !ok {
			return false, false
		}
		k.Expr = replaceUnlisted(*k, other, listed)
	}
	k.Values = append(slices.Clip(slices.Clone(k.Values)), other)
	return true, true
}

// replaceUnlisted is a key where it is listed, and one value elsewhere.
func replaceUnlisted(k tree.Key, other policy.Value, listed tree.Expr) tree.Expr {
	t := k.Expr.Type()
	if other.Null {
		return &tree.Case{Whens: []tree.When{{If: listed, Then: k.Expr}}, Else: expr.NewNull(t), Typ: t}
	}
	values := []tree.Expr{k.Expr, expr.NewText(other.Text)}
	listed = &tree.Logic{Op: tree.Or, Args: []tree.Expr{listed, &tree.IsNull{X: k.Expr}}}
	return &tree.Case{Whens: []tree.When{{If: listed, Then: k.Expr}}, Else: values[1], Typ: expr.Hull(values)}
}

// isListed is the condition that a key has one of its values and is not NULL: a range of days has
// two ends, and anything else is compared with all of them, where there are any and not too many:
// that takes time for each row that WHERE lets through.
func isListed(k tree.Key) (listed tree.Expr, ok bool) {
	t := k.Expr.Type()
	literal := func(v policy.Value) *tree.Literal { return expr.FromValue(expr.FromKey(v, t), t) }
	var there []policy.Value
	days := t.Kind == tree.Date
	for _, v := range k.Values {
		if !v.Null {
			there = append(there, v)
			days = days && v.Int-there[0].Int == int64(len(there)-1)
		}
	}
	if days && len(there) > 1 {
		return &tree.Logic{Op: tree.And, Args: []tree.Expr{&tree.Compare{Op: tree.Ge, L: k.Expr, R: literal(there[0])},
			&tree.Compare{Op: tree.Le, L: k.Expr, R: literal(there[len(there)-1])}}}, true
	}
	in := &tree.In{X: k.Expr}
	for _, v := range there {
		in.List = append(in.List, literal(v))
	}
	return in, len(there) > 0 && len(there) <= maxCubeListed
}

// isNamed reports whether WHERE leaves a key none but its values.
func isNamed(q *tree.Query, k tree.Key) bool {
	inside := func(v policy.Value) bool {
		return slices.ContainsFunc(k.Values, func(w policy.Value) bool { return expr.SameKey(v, w) })
	}
	for _, c := range expr.Conjuncts(q.Where) {
		x, list := expr.Constants(c)
		if x != nil && tree.Format(x) == tree.Format(k.Expr) && !slices.ContainsFunc(list, func(l *tree.Literal) bool {
			return expr.ExceedsInt64(l) || !inside(expr.KeyValue(l.Value(), x.Type()))
		}) {
			return true
		}
	}
	return false
}

package plan

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

func newJoin(l, r tree.Relation, on tree.Expr, left bool) *tree.Join {
	l, r = plain(l), plain(r)
	j := &tree.Join{Left: left, L: l, R: r, On: on, UnitField: -1}
	n := len(l.Fields())
	for i, f := range slices.Concat(l.Fields(), r.Fields()) {
		f.Nullable = f.Nullable || left && i >= n
		f.Once = f.Once && keepsOnce(j, i >= n, n)
		f.Serial = false // a row may be there several times
		j.Row = append(j.Row, f)
	}
	switch {
	case tree.Private(l) && (left || !tree.Private(r) || steps(l) <= steps(r)):
		j.UnitField = l.Unit()
	case tree.Private(r):
		j.UnitField = n + r.Unit()
	}
	// keyed: for one row of the one side at most one row of the other fits.
	keyedL, keyedR := false, false
	for _, c := range expr.Conjuncts(on) {
		a, b, ok := expr.EqualColumns(c)
		if !ok {
			continue
		}
		if a.Index >= n {
			a, b = b, a
		}
		if a.Index < n && b.Index >= n {
			keyedL = keyedL || l.Fields()[a.Index].Key
			keyedR = keyedR || r.Fields()[b.Index-n].Key
		}
	}
	if !keyedR {
		keyedR = keyedByValue(r, on, n)
	}
	if !keyedL {
		keyedL = keyedByValue(l, on, 0)
	}
	for i := range j.Row {
		// A row that has at most one partner is not there several times.
		j.Row[i].Key = j.Row[i].Key && (i < n && keyedR || i >= n && keyedL)
	}
	j.Fans = fans(l) + fans(r)
	switch {
	case !tree.Private(l) && !tree.Private(r):
		j.Many = 1
	case !tree.Private(r):
		j.IsSingle = l.Single() && keyedR
		j.Many = l.PersonRows()
		if !keyedR {
			j.Many = tree.AtMost(l.PersonRows() * r.PersonRows())
		}
	case !tree.Private(l):
		j.IsSingle = r.Single() && keyedL
		j.Many = r.PersonRows()
		if !keyedL {
			j.Many = tree.AtMost(l.PersonRows() * r.PersonRows())
		}
	default:
		if !keyedL && !keyedR {
			j.Fans++
		}
		j.IsSingle = l.Single() && r.Single()
		j.Many = tree.AtMost(l.PersonRows() * r.PersonRows())
		switch {
		case keyedR:
			j.Many = l.PersonRows()
		case keyedL && !left:
			j.Many = r.PersonRows()
		case keyedL:
			j.Many = max(l.PersonRows(), r.PersonRows())
		}
	}
	return j
}

// keepsOnce reports whether what is the same in all rows of a person of one side stays so. On the
// left it does. On the right a person's rows may come with a partner or without, unless nothing but
// the person decides.
func keepsOnce(j *tree.Join, right bool, n int) bool {
	if !tree.Private(j.L) || !tree.Private(j.R) {
		return tree.Private(j.L) != right
	}
	if !right || !j.Left {
		return true
	}
	all := expr.Conjuncts(j.On)
	return len(all) == 1 && expr.Linked(j.On, n) &&
		j.L.Fields()[j.L.Unit()].Identity == all[0].(*tree.Compare).L.(*tree.Column).Field.Identity
}

// plain is a relation without the names that a SELECT has for its fields.
func plain(r tree.Relation) tree.Relation {
	for {
		named, ok := r.(rows)
		if !ok {
			return r
		}
		r = named.Relation
	}
}

// keyedByValue reports whether On compares a key of a public relation with something of the other
// side that is not a plain column.
func keyedByValue(r tree.Relation, on tree.Expr, offset int) bool {
	if tree.Private(r) {
		return false
	}
	n := len(r.Fields())
	inside := func(e tree.Expr) (own, other bool) {
		tree.Walk(e, func(x tree.Expr) {
			if c, ok := x.(*tree.Column); ok {
				if c.Index >= offset && c.Index < offset+n {
					own = true
				} else {
					other = true
				}
			}
		})
		return own, other
	}
	for _, c := range expr.Conjuncts(on) {
		eq, ok := c.(*tree.Compare)
		if !ok || eq.Op != tree.Eq {
			continue
		}
		for _, pair := range [][2]tree.Expr{{eq.L, eq.R}, {eq.R, eq.L}} {
			col, ok := pair[0].(*tree.Column)
			if ok && col.Index >= offset && col.Index < offset+n && r.Fields()[col.Index-offset].Key {
				if own, _ := inside(pair[1]); !own {
					return true
				}
			}
		}
	}
	return false
}

// fans is how many joins of a relation multiply the rows of a person by those of the same person.
func fans(r tree.Relation) int {
	switch r := r.(type) {
	case *tree.Join:
		return r.Fans
	case *tree.Cut:
		return fans(r.From)
	case *tree.Select:
		return fans(r.From)
	case *tree.Persons:
		return fans(r.From)
	case *tree.Window:
		return fans(r.From)
	case *tree.Union:
		most := 0
		for _, p := range r.Parts {
			most = max(most, fans(p))
		}
		return most
	}
	return 0
}

// steps is how many joins it takes to find out whose a row is.
func steps(r tree.Relation) int {
	switch r := r.(type) {
	case *tree.Scan:
		return max(0, len(r.Table.Path)-1)
	case *tree.Join:
		n := len(r.L.Fields())
		if r.UnitField < n {
			return steps(r.L)
		}
		return steps(r.R)
	}
	return 0
}

package planner

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

func newJoin(l, r tree.Relation, on tree.Expr, left bool) *tree.Join {
	l, r = withoutNames(l), withoutNames(r)
	j := &tree.Join{Left: left, L: l, R: r, On: on, UnitField: -1}
	n := len(l.Fields())
	for i, f := range slices.Concat(l.Fields(), r.Fields()) {
		f.Nullable = f.Nullable || left && i >= n
		j.Row = append(j.Row, f)
	}
	switch {
	case tree.Private(l) && (left || !tree.Private(r) || pathSteps(l) <= pathSteps(r)):
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
		once := i < n && keyedR || i >= n && keyedL
		j.Row[i].Key, j.Row[i].Serial = j.Row[i].Key && once, j.Row[i].Serial && once
	}
	j.Fans = countFans(l) + countFans(r)
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

// newFull makes a FULL JOIN on the person. Of m rows of a person on the one side and n on the
// other, all pairs are there, or, where one of the numbers is 0, the others alone.
func newFull(l, r tree.Relation, on tree.Expr) *tree.Join {
	j := newJoin(l, r, on, true)
	j.Full = true
	person := j.L.Fields()[j.L.Unit()]
	person.Name, person.Key, person.Nullable, person.Twin = "", false, true, 0
	for i := range j.Row {
		j.Row[i].Nullable, j.Row[i].Key = true, false
	}
	j.UnitField, j.Row = len(j.Row), append(j.Row, person)
	if j.IsSingle {
		j.Many = 1
		return j
	}
	m, n := j.L.PersonRows(), j.R.PersonRows()
	j.Many = tree.AtMost(max(m*n, m+n))
	return j
}

// isFull reports whether On is what a FULL JOIN needs: that two persons are one, and nothing else.
func isFull(l, r tree.Relation, on tree.Expr) bool {
	all, n := expr.Conjuncts(on), len(l.Fields())
	if !tree.Private(l) || !tree.Private(r) || len(all) != 1 || !expr.Linked(on, n) {
		return false
	}
	a, b, _ := expr.EqualColumns(all[0])
	if a.Index > b.Index {
		a, b = b, a
	}
	return a.Index == l.Unit() && b.Index == n+r.Unit()
}

// samePerson is the condition of a FULL JOIN where On says that a column of each side which is the
// person is one: that the persons themselves are. It is nil where On says something else.
func samePerson(l, r tree.Relation, on tree.Expr) tree.Expr {
	all, n := expr.Conjuncts(on), len(l.Fields())
	if !tree.Private(l) || !tree.Private(r) || len(all) != 1 || !expr.Linked(on, n) {
		return nil
	}
	a, b, _ := expr.EqualColumns(all[0])
	if a.Index > b.Index {
		a, b = b, a
	}
	if !isAlwaysUnit(l, a.Index) || !isAlwaysUnit(r, b.Index-n) {
		return nil
	}
	unit := tree.NewColumn(r, r.Unit())
	unit.Index += n
	return expr.Normal(&tree.Compare{Op: tree.Eq, L: tree.NewColumn(l, l.Unit()), R: unit})
}

// withoutNames is a relation without the names that a SELECT has for its fields.
func withoutNames(r tree.Relation) tree.Relation {
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

// countFans is how many joins of a relation multiply the rows of a person by those of the same
// person.
func countFans(r tree.Relation) int {
	switch r := r.(type) {
	case *tree.Join:
		return r.Fans
	case *tree.Cut:
		return countFans(r.From)
	case *tree.Select:
		return countFans(r.From)
	case *tree.Persons:
		return countFans(r.From)
	case *tree.Window:
		return countFans(r.From)
	case *tree.Union:
		most := 0
		for _, p := range r.Parts {
			most = max(most, countFans(p))
		}
		return most
	}
	return 0
}

// pathSteps is how many joins it takes to find out whose a row is.
func pathSteps(r tree.Relation) int {
	switch r := r.(type) {
	case *tree.Scan:
		return max(0, len(r.Table.Path)-1)
	case *tree.Join:
		n := len(r.L.Fields())
		if r.UnitField < n {
			return pathSteps(r.L)
		}
		return pathSteps(r.R)
	}
	return 0
}

func isField(e tree.Expr, index int) bool {
	c, ok := e.(*tree.Column)
	return ok && c.Index == index
}

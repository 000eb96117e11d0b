package expr

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Nullable reports whether an expression can be NULL on some row. Where in doubt it says so.
func Nullable(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Column:
		return e.Field.Nullable
	case *tree.Literal:
		return e.IsNullLiteral()
	case *tree.Arith:
		return e.Op == tree.Quo || e.Op == tree.Rem || e.Op == tree.Div || Nullable(e.L) || Nullable(e.R)
	case *tree.IsNull, *tree.Exists:
		return false
	}
	if mayVanish(e) {
		return true
	}
	for _, p := range tree.Parts(e) {
		if Nullable(p) {
			return true
		}
	}
	return false
}

// LeavesOutNull reports whether rows without a value of a key are in no group although nobody has
// listed its values, and the question does not leave them out before. It is for a note to the
// analyst, and nothing else rests on it.
func LeavesOutNull(q *tree.Query, k tree.Key) bool {
	c, column := k.Expr.(*tree.Column)
	listed := column && c.Field.Source != nil && c.Field.Source.Keys == policy.PublicKeys
	if k.Private || listed || slices.ContainsFunc(k.Values, func(v policy.Value) bool { return v.Null }) {
		return false
	}
	return MayBeNull(q, k.Expr)
}

// MayBeNull reports whether an expression can be NULL in a row that counts in a query. Where in
// doubt it says so.
func MayBeNull(q *tree.Query, e tree.Expr) bool {
	there := notNull{there: map[string]bool{}, least: map[string]*big.Int{}, most: map[string]*big.Int{}}
	there.where(q.Where)
	// The fields of a join begin with those of its left side.
	for j, ok := q.From.(*tree.Join); ok && !j.Left; j, ok = j.L.(*tree.Join) {
		there.where(j.On)
	}
	return there.mayBeNull(e)
}

// notNull is expressions, as they are spelt, that are not NULL in rows that count, and between
// which constants they lie there.
type notNull struct {
	there       map[string]bool
	least, most map[string]*big.Int
}

// where takes what follows from a condition that is true.
func (n notNull) where(e tree.Expr) {
	switch e := e.(type) {
	case *tree.Logic:
		if e.Op == tree.And {
			for _, a := range e.Args {
				n.where(a)
			}
		}
	case *tree.Compare:
		n.add(e.L)
		n.add(e.R)
		n.compared(e)
	case *tree.In:
		n.add(e.X)
	case *tree.Column:
		n.add(e)
	case *tree.Not: // what is not NULL when it is true is not NULL when it is false
		switch x := e.X.(type) {
		case *tree.IsNull:
			n.add(x.X)
		case *tree.Compare:
			n.add(x.L)
			n.add(x.R)
		case *tree.In, *tree.Column:
			n.where(x)
		}
	}
}

// compared takes the end that a comparison with a constant says.
func (n notNull) compared(e *tree.Compare) {
	l, ok := e.R.(*tree.Literal)
	if !ok {
		return
	}
	v, name := Steps(l), tree.Format(e.L)
	if v == nil {
		return
	}
	if below := n.least[name]; (e.Op == tree.Ge || e.Op == tree.Gt || e.Op == tree.Eq) && (below == nil || v.Cmp(below) > 0) {
		n.least[name] = v
	}
	if above := n.most[name]; (e.Op == tree.Le || e.Op == tree.Lt || e.Op == tree.Eq) && (above == nil || v.Cmp(above) < 0) {
		n.most[name] = v
	}
}

// Steps is the value of a number or a time; nil where it is neither.
func Steps(l *tree.Literal) *big.Int {
	switch {
	case l.Number != nil:
		return l.Number
	case l.Days != nil:
		return big.NewInt(*l.Days)
	case l.Micros != nil:
		return big.NewInt(*l.Micros)
	}
	return nil
}

// stays reports whether all that counts of an expression lies where it is kept.
func (n notNull) stays(e *tree.Within) bool {
	name := tree.Format(e.X)
	least, most := n.least[name], n.most[name]
	return e.Typ.Lo != nil && least != nil && most != nil && least.Cmp(e.Typ.Lo) >= 0 && most.Cmp(e.Typ.Hi) <= 0
}

// add takes an expression that is not NULL, and what must be there for that.
func (n notNull) add(e tree.Expr) {
	n.there[tree.Format(e)] = true
	switch e := e.(type) {
	case *tree.Arith:
		n.add(e.L)
		n.add(e.R)
	case *tree.Rescale:
		n.add(e.X)
	case *tree.ToReal:
		n.add(e.X)
	case *tree.Within:
		n.add(e.X)
	}
}

// mayBeNull reports whether an expression can be NULL in a row that counts. Where in doubt it says
// so.
func (n notNull) mayBeNull(e tree.Expr) bool {
	if n.there[tree.Format(e)] {
		return false
	}
	switch e := e.(type) {
	case *tree.Case: // a condition that is NULL is not met
		return e.Else == nil || n.mayBeNull(e.Else) || slices.ContainsFunc(e.Whens, func(w tree.When) bool { return n.mayBeNull(w.Then) })
	case *tree.Call:
		if e.Fn == "coalesce" {
			return !slices.ContainsFunc(e.Args, func(a tree.Expr) bool { return !n.mayBeNull(a) })
		}
	case *tree.Arith:
		divides := e.Op == tree.Quo || e.Op == tree.Rem || e.Op == tree.Div
		return n.mayBeNull(e.L) || n.mayBeNull(e.R) || divides && !nonzero(e.R)
	case *tree.Within:
		return !n.stays(e) || n.mayBeNull(e.X)
	case *tree.Column, *tree.Literal, *tree.IsNull, *tree.Exists:
		return Nullable(e)
	}
	return mayVanish(e) || slices.ContainsFunc(tree.Parts(e), n.mayBeNull)
}

// nonzero reports whether an expression is a constant other than 0.
func nonzero(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Literal:
		return e.Number != nil && e.Number.Sign() != 0
	case *tree.ToReal:
		return nonzero(e.X)
	case *tree.Rescale:
		return nonzero(e.X)
	}
	return false
}

package expr

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// LeavesOutNull reports whether rows without a value of the key are in no group although nobody has
// listed its values, and WHERE does not leave them out before. It is for a note to the analyst, and
// nothing else rests on it.
func LeavesOutNull(k tree.Key, where tree.Expr) bool {
	c, column := k.Expr.(*tree.Column)
	listed := column && c.Field.Source != nil && c.Field.Source.Keys == policy.PublicKeys
	if k.Private || listed || slices.ContainsFunc(k.Values, func(v policy.Value) bool { return v.Null }) {
		return false
	}
	there := notNull{}
	there.where(where)
	return there.mayBeNull(k.Expr)
}

// notNull is expressions, as they are spelt, that are not NULL in rows that count.
type notNull map[string]bool

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
	case *tree.In:
		n.add(e.X)
	case *tree.Column:
		n.add(e)
	case *tree.Not: // what is not NULL when it is true is not NULL when it is false
		switch x := e.X.(type) {
		case *tree.IsNull:
			n.add(x.X)
		case *tree.Compare, *tree.In, *tree.Column:
			n.where(x)
		}
	}
}

// add takes an expression that is not NULL, and what must be there for that.
func (n notNull) add(e tree.Expr) {
	n[tree.Format(e)] = true
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
	if n[tree.Format(e)] {
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

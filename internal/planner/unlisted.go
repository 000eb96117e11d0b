package planner

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// mostUnlisted is how many constants are named: who sees three looks at the others too.
const mostUnlisted = 3

// Unlisted says which constants of a question's conditions are none of the keys that the policy
// lists for the column they are compared with. Rows may have such values, but they are more often
// misspelt, and noise around nothing looks like an answer. It depends on the policy and on the
// question alone.
func (st *Statement) Unlisted() []string {
	var out []string
	missing := func(x tree.Expr, literals ...*tree.Literal) {
		c, ok := x.(*tree.Column)
		if !ok || c.Field.Source == nil || c.Field.Source.Keys != policy.PublicKeys {
			return
		}
		for _, l := range withoutKeys(c.Field, literals) {
			note := fmt.Sprintf("%s is none of the keys that the policy lists for %s; is it spelt as they are?", tree.Describe(l),
				c.Field.Describe())
			if len(out) < mostUnlisted && !slices.Contains(out, note) {
				out = append(out, note)
			}
		}
	}
	look := func(e tree.Expr) {
		switch e := e.(type) {
		case *tree.In:
			missing(e.X, e.List...)
		case *tree.Compare:
			if e.Op == tree.Lt || e.Op == tree.Le || e.Op == tree.Gt || e.Op == tree.Ge {
				return
			}
			if l, ok := e.R.(*tree.Literal); ok {
				missing(e.L, l)
			} else if l, ok := e.L.(*tree.Literal); ok {
				missing(e.R, l)
			}
		}
	}
	for _, p := range st.Plans {
		eachExpr(p.Query.From, expressions(&p.Query), look)
	}
	return out
}

// withoutKeys returns the constants that are neither NULL nor keys of a column, in one pass over
// its keys, of which there can be very many.
func withoutKeys(f tree.Field, literals []*tree.Literal) []*tree.Literal {
	listed := map[policy.Value]bool{}
	for _, l := range literals {
		if k, ok := keyOf(l, f.Type); ok {
			listed[k] = false
		}
	}
	for _, k := range f.Source.KeyValues {
		k.Type = 0
		if _, asked := listed[k]; asked {
			listed[k] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(literals), func(l *tree.Literal) bool {
		k, ok := keyOf(l, f.Type)
		return l.IsNullLiteral() || ok && listed[k]
	})
}

// keyOf is a constant as a key of a column, whatever type it says; false where none is like it.
func keyOf(l *tree.Literal, column tree.Type) (policy.Value, bool) {
	v := l.Value()
	if n, ok := v.(*big.Int); ok { // in the column's own steps
		steps := new(big.Rat).Mul(new(big.Rat).SetInt(n), l.Typ.Step)
		if steps.Quo(steps, column.Step); !steps.IsInt() || !steps.Num().IsInt64() {
			return policy.Value{}, false
		}
		v = steps.Num()
	}
	k := expr.KeyValue(v, column)
	k.Type = 0
	return k, true
}

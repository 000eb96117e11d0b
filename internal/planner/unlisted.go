package planner

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Unlisted says which constants of a question's conditions are none of the keys that the policy
// lists for the column they are compared with, or beyond its bounds. Rows may have such values, but
// keys are more often misspelt, what is beyond bounds is nowhere, and noise around nothing looks
// like an answer. It depends on the policy and on the question alone.
func (st *Statement) Unlisted() []string {
	out := slices.Clone(st.notes)
	missing := func(x tree.Expr, literals ...*tree.Literal) {
		c, ok := x.(*tree.Column)
		if !ok || c.Field.Source == nil || c.Field.Source.Keys != policy.PublicKeys {
			return
		}
		for _, l := range withoutKeys(c.Field, literals) {
			out = addNote(out, fmt.Sprintf("%s is none of the keys that the policy lists for %s; is it spelt as they are?",
				tree.Describe(l), c.Field.Describe()))
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

// Bounded returns the private columns with bounds that a question reads, first those that its
// results and keys are of, and how many these are; the others are in its conditions alone.
func (st *Statement) Bounded() (columns []*policy.Column, shown int) {
	add := func(e tree.Expr) {
		if c := boundedColumn(e); c != nil && !slices.Contains(columns, c.Field.Source) {
			columns = append(columns, c.Field.Source)
		}
	}
	of := func(e tree.Expr) {
		if e != nil {
			tree.WalkRow(e, add)
		}
	}
	for _, p := range st.Plans {
		q := p.Query
		for _, k := range q.Keys {
			of(k.Expr)
		}
		for _, m := range q.Measures {
			of(m.Arg)
		}
		eachRelation(q.From, func(r tree.Relation) {
			switch r := r.(type) {
			case *tree.Select:
				for _, e := range r.Columns {
					if _, plain := e.(*tree.Column); !plain { // which may be used nowhere
						of(e)
					}
				}
			case *tree.Persons:
				for _, e := range r.Keys {
					of(e)
				}
				for _, part := range r.Parts {
					of(part.Arg)
				}
			}
		})
	}
	shown = len(columns)
	for _, p := range st.Plans {
		eachExpr(p.Query.From, expressions(&p.Query), func(e tree.Expr) {
			if _, column := e.(*tree.Column); column {
				add(e)
			}
		})
	}
	return columns, shown
}

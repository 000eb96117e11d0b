package planner

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// mostUnlisted is how many constants are named: who sees three looks at the others too.
const mostUnlisted = 3

func addNote(notes []string, note string) []string {
	if len(notes) >= mostUnlisted || slices.Contains(notes, note) {
		return notes
	}
	return append(notes, note)
}

// boundedColumn is the private column with bounds that an expression is, in whatever steps.
func boundedColumn(e tree.Expr) *tree.Column {
	if r, ok := e.(*tree.Rescale); ok {
		return boundedColumn(r.X)
	}
	c, ok := e.(*tree.Column)
	if !ok || c.Field.Source == nil || c.Field.Source.Bounds == nil || c.Field.Public != "" {
		return nil
	}
	return c
}

// beyondBounds are notes about comparisons that no value within the bounds of a column decides: of
// constants beyond them. They are found while a question is read, because such a comparison is true
// or false for all, and nothing of it is left.
type beyondBounds struct{ notes []string }

func (b *beyondBounds) look(e tree.Expr) {
	if b == nil {
		return
	}
	switch e := e.(type) {
	case *tree.In:
		b.compared(e.X, e.List...)
	case *tree.Compare:
		if l, ok := e.R.(*tree.Literal); ok {
			b.compared(e.L, l)
		} else if l, ok := e.L.(*tree.Literal); ok {
			b.compared(e.R, l)
		}
	case *tree.Logic: // BETWEEN
		for _, part := range e.Args {
			if _, ok := part.(*tree.Compare); ok {
				b.look(part)
			}
		}
	}
}

func (b *beyondBounds) compared(x tree.Expr, literals ...*tree.Literal) {
	c := boundedColumn(x)
	for _, l := range literals {
		if c != nil && outside(l, c.Field.Type) {
			b.notes = addNote(b.notes, fmt.Sprintf("%s is beyond the bounds of %s, %s: what is beyond them counts as the nearer of "+
				"the two, in conditions too", tree.Describe(l), c.Field.Describe(), c.Field.Source.ShowBounds()))
		}
	}
}

// outside reports whether a number or a time is beyond what a column can have.
func outside(l *tree.Literal, column tree.Type) bool {
	if l.IsNullLiteral() || l.Typ.Kind != column.Kind || column.Lo == nil || column.Hi == nil {
		return false
	}
	if column.Kind == tree.Date || column.Kind == tree.Timestamp {
		at := expr.Steps(l)
		return at.Cmp(column.Lo) < 0 || at.Cmp(column.Hi) > 0
	}
	if column.Kind != tree.Number {
		return false
	}
	n := new(big.Rat).Mul(new(big.Rat).SetInt(l.Number), l.Typ.Step)
	end := func(steps *big.Int) *big.Rat { return new(big.Rat).Mul(new(big.Rat).SetInt(steps), column.Step) }
	return n.Cmp(end(column.Lo)) < 0 || n.Cmp(end(column.Hi)) > 0
}

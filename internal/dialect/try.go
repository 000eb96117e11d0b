package dialect

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// No row makes a question fail. That nothing overflows, divides by zero or cannot be cast is proven
// by package plan, and the printers use no function outside of where it is defined; this is what
// holds where one of them is wrong. Whatever computes something from a row is printed inside of the
// dialect's TRY, which is NULL where there would have been an error. What is left outside are
// columns, constants, comparisons, AND, OR, NOT, IN, IS NULL, CASE and EXISTS, which cannot fail. A
// database that moves a part of TRY out of it would undo that: its driver has to see to it that
// none does.

// attempt prints an expression inside of TRY. A subquery cannot stand there, and EXISTS is true or
// false and nothing else: so it is asked outside, and the expression is printed for either.
func (p *Printer) attempt(e tree.Expr, print func(tree.Expr) string) string {
	if p.trying {
		return print(e)
	}
	for _, x := range subqueries(e) {
		if _, ok := p.decided[x]; ok {
			continue
		}
		text := p.existing(x)
		return "(CASE WHEN " + text + " THEN " + p.deciding(x, true, e, print) + " ELSE " + p.deciding(x, false, e, print) + " END)"
	}
	p.trying = true
	defer func() { p.trying = false }()
	return p.Try(print(e))
}

// deciding prints an expression in which a subquery is true, or false.
func (p *Printer) deciding(x *tree.Exists, yes bool, e tree.Expr, print func(tree.Expr) string) string {
	if p.decided == nil {
		p.decided = map[*tree.Exists]bool{}
	}
	p.decided[x] = yes
	defer delete(p.decided, x)
	return p.attempt(e, print)
}

// subqueries are those of an expression, without those inside of them.
func subqueries(e tree.Expr) (out []*tree.Exists) {
	tree.WalkRow(e, func(e tree.Expr) {
		if x, ok := e.(*tree.Exists); ok && !slices.Contains(out, x) {
			out = append(out, x)
		}
	})
	return out
}

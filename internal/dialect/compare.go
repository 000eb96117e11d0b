package dialect

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/plan"
)

// compare prints a comparison. That of a column with a number between its bounds says the same of the column before its clamp:
// what is outside is on the same side of the number as the bound it would become. It is printed so, and with the number in
// the text, because a database then reads only the parts of a table where it can hold. We spell the number, not the analyst.
func (p *Printer) compare(e *plan.Compare) string {
	c, column := e.L.(*plan.Column)
	n, literal := e.R.(*plan.Literal)
	op := e.Op
	if !column || !literal {
		c, column = e.R.(*plan.Column)
		n, literal = e.L.(*plan.Literal)
		op = turned[op]
	}
	if column && literal && n.Number != nil && n.Number.IsInt64() && p.scans(c) {
		if b := c.Field.Source.Bounds; unmoved(op, n.Number.Int64(), b.LoSteps, b.HiSteps) {
			f, at := p.row.frame(c.Index)
			return fmt.Sprintf("(%s %s CAST(%d AS %s))", f.unclamped(at), op, n.Number.Int64(), p.Int64)
		}
	}
	return "(" + p.Expr(e.L) + " " + string(e.Op) + " " + p.Expr(e.R) + ")"
}

// turned is each operation with its sides exchanged.
var turned = map[plan.CompareOp]plan.CompareOp{plan.Eq: plan.Eq, plan.Ne: plan.Ne, plan.Lt: plan.Gt, plan.Gt: plan.Lt, plan.Le: plan.Ge, plan.Ge: plan.Le}

// unmoved reports whether a clamp to lo and hi changes nothing about a comparison with n.
func unmoved(op plan.CompareOp, n, lo, hi int64) bool {
	switch op {
	case plan.Lt, plan.Ge:
		return lo < n && n <= hi
	case plan.Le, plan.Gt:
		return lo <= n && n < hi
	case plan.Eq, plan.Ne:
		return lo < n && n < hi
	}
	return false
}

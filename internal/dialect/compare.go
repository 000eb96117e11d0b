package dialect

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// compare prints a comparison. That of a column with a number between its bounds says the same of
// the column before its clamp: what is outside is on the same side of the number as the bound it
// would become. It is printed so, and with the number in the text, because a database then reads
// only the parts of a table where it can hold. We spell the number, not the analyst.
func (p *Printer) compare(e *tree.Compare) string {
	c, column := e.L.(*tree.Column)
	n, literal := e.R.(*tree.Literal)
	op := e.Op
	if !column || !literal {
		c, column = e.R.(*tree.Column)
		n, literal = e.L.(*tree.Literal)
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
var turned = map[tree.CompareOp]tree.CompareOp{tree.Eq: tree.Eq, tree.Ne: tree.Ne, tree.Lt: tree.Gt, tree.Gt: tree.Lt, tree.Le: tree.Ge,
	tree.Ge: tree.Le}

// unmoved reports whether a clamp to lo and hi changes nothing about a comparison with n.
func unmoved(op tree.CompareOp, n, lo, hi int64) bool {
	switch op {
	case tree.Lt, tree.Ge:
		return lo < n && n <= hi
	case tree.Le, tree.Gt:
		return lo <= n && n < hi
	case tree.Eq, tree.Ne:
		return lo < n && n < hi
	}
	return false
}

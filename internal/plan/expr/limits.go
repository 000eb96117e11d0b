package expr

import (
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// maxLevels bounds operations inside each other, as in 1 + 1 + 1.
const maxLevels = 128

// CheckLevels refuses an expression that is nested deeper than every engine
// takes. Chains such as 1 + 1 + 1 nest without a parenthesis.
func CheckLevels(e tree.Expr, pos int32) error {
	if tree.Levels(e) > maxLevels {
		return syntax.Refuse(pos, "write it with fewer operations", "more than %d operations are chained or nested here", maxLevels)
	}
	return nil
}

// maxNodes bounds an expression after BETWEEN, IN and CASE, which write a side
// more than once, have made it larger than its text. Nested, they would double it each time.
// So would an engine that writes what is below a node more than once, as for a clamp: a
// node may be written as often as copies says, and that is counted too.
const maxNodes = 5000

// NotTooLarge refuses an expression of more than maxNodes nodes, and stops counting there.
func NotTooLarge(e tree.Expr, pos int32) error {
	left := maxNodes
	var count func(tree.Expr)
	count = func(e tree.Expr) {
		if left--; left < 0 {
			return
		}
		i := 0
		tree.EachPart(e, func(p tree.Expr) {
			for n := Copies(e, i); n > 0 && left >= 0; n-- {
				count(p)
			}
			i++
		})
	}
	if count(e); left < 0 {
		return syntax.Refuse(pos, "use a column or a shorter expression there",
			"BETWEEN, IN, CASE, divisors and roundings are computed from what stands in them several times, and this one grows too large")
	}
	return nil
}

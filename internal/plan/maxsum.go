package plan

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// summedWithin is the measure of SUM, with the bound on what one person adds to a group where there
// is one that is below what the rows that count can come to. Averages and variances have none: they
// add up distances from the middle of the bounds.
func (agg *aggregator) sumWithin(arg tree.Expr, pos int32) (tree.Measure, error) {
	limit := agg.maxSum(arg)
	if limit == nil {
		return agg.sum(arg, pos)
	}
	// A sum that the bound keeps short is not rounded.
	m := tree.Measure{Kind: tree.Sum, Arg: arg}
	if stepsOf(limit, m).Cmp(maxReach) > 0 {
		var err error
		if m, err = agg.sum(arg, pos); err != nil {
			return m, err
		}
	}
	most := stepsOf(limit, m)
	if most.Sign() == 0 {
		return m, syntax.Refuse(pos, "set dp.max_sum to "+tree.Describe(expr.NewNumber(m.Step()))+" or more",
			"one person adds nothing to this sum where it is at most %s: its values are multiples of %s",
			tree.Describe(expr.NewNumber(limit)), tree.Describe(expr.NewNumber(m.Step())))
	}
	if most.Cmp(tree.Times(agg.groups.rowLimit(agg.in.rows), expr.MaxAbs(m.Arg.Type()))) < 0 {
		m.Most = most
		return m, nil
	}
	return agg.sum(arg, pos)
}

// stepsOf is how many steps of a measure are within a limit.
func stepsOf(limit *big.Rat, m tree.Measure) *big.Int {
	steps := new(big.Rat).Quo(limit, m.Step())
	return new(big.Int).Quo(steps.Num(), steps.Denom())
}

// maxSum is what one person adds at most to a sum of an expression in one group: the least of what
// the analyst and, of a column of the policy, the owner have said; nil where nobody has.
func (agg *aggregator) maxSum(arg tree.Expr) *big.Rat {
	limit := agg.in.env.options.MaxSum
	if c, ok := arg.(*tree.Case); ok && len(c.Whens) == 1 { // SUM(x) FILTER (WHERE ...)
		if none, null := c.Else.(*tree.Literal); null && none.IsNullLiteral() {
			arg = c.Whens[0].Then
		}
	}
	if c, ok := arg.(*tree.Column); ok && c.Field.Source != nil && c.Field.Public == "" {
		if own := c.Field.Source.MaxSum; own != nil && (limit == nil || own.Cmp(limit) < 0) {
			limit = own
		}
	}
	return limit
}

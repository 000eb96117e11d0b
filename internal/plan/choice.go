package plan

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// chooser finds out whether an answer is a choice.
type chooser struct {
	calculator
	groups *groups
	out    *releases
	answer *answer
}

// choose recognises a selection: SELECT keys ... GROUP BY keys ORDER BY an aggregate LIMIT k, where
// the aggregate is not selected. Then no count is released but which groups are the best, at the
// price of k selections. The aggregate may be multiplied by a public number: a constant, or a key.
func (ch *chooser) choose(p *tree.Plan) (bool, error) {
	if ch.groups.several || len(ch.answer.within) > 0 { // the best of all rows, or of those that are left
		return false, nil
	}
	a := ch.answer
	if len(ch.groups.keys) == 0 || len(a.order) != 1 || a.limit == nil || *a.limit < 1 || a.having != nil || a.offset != 0 || p.Distinct {
		return false, nil
	}
	for _, k := range ch.groups.keys {
		if k.Private {
			return false, nil
		}
	}
	for _, o := range ch.answer.columns {
		if ch.noisy(o.Expr) {
			return false, nil
		}
	}
	score, weight := ch.score(ch.answer.order[0].By)
	if score == nil {
		return false, nil
	}
	groups := p.Query.Groups()
	weights, ok := ch.weights(&p.Query, weight, ch.answer.order[0].Descending)
	if !ok {
		return false, nil
	}
	p.Query.Measures = []tree.Measure{ch.out.measures[ch.out.stats[score.Stat].measure]}
	p.Query.Choice = &tree.Choice{K: int(min(*ch.answer.limit, int64(groups))), Weights: weights}
	p.Order = nil
	for _, d := range ch.out.stats {
		p.Stats = append(p.Stats, d.Stat)
	}
	return true, provenTotal(&p.Query)
}

// noisy reports whether an expression names an aggregate.
func (ch *chooser) noisy(e tree.Expr) bool {
	found := false
	tree.Walk(e, func(x tree.Expr) {
		if r, ok := x.(*tree.Released); ok {
			found = found || !ch.out.stats[r.Stat].Kind.Exact()
		}
	})
	return found
}

// score splits an expression into a count or a sum and what it is multiplied by.
func (ch *chooser) score(e tree.Expr) (*tree.Released, tree.Expr) {
	switch x := e.(type) {
	case *tree.Rescale:
		return ch.score(x.X)
	case *tree.ToReal:
		return ch.score(x.X)
	case *tree.Released:
		d := ch.out.stats[x.Stat]
		if d.Kind == tree.MeasureStat && x.Part == tree.PartValue && ch.out.measures[d.measure].Kind != tree.Quantile {
			return x, nil
		}
	case *tree.Arith:
		if x.Op != tree.Mul {
			return nil, nil
		}
		for _, side := range [][2]tree.Expr{{x.L, x.R}, {x.R, x.L}} {
			if r, w := ch.score(side[0]); r != nil && w == nil && !ch.noisy(side[1]) {
				return r, side[1]
			}
		}
	}
	return nil, nil
}

// weights computes the public numbers that scores are multiplied by.
func (ch *chooser) weights(query *tree.Query, weight tree.Expr, descending bool) ([]int64, bool) {
	if weight == nil && descending {
		return nil, true
	}
	out := make([]int64, query.Groups())
	for g := range out {
		w := big.NewInt(1)
		if weight != nil {
			keys := query.Group(g)
			v := ch.compute(weight, func(x tree.Expr) tree.Value {
				i := ch.out.stats[x.(*tree.Released).Stat].Key
				return expr.FromKey(keys[i], query.Keys[i].Expr.Type())
			})
			switch v := v.(type) {
			case nil:
				w = new(big.Int) // a score of NULL is none
			case *big.Int:
				w = v
			}
			if _, real := v.(float64); real || w.CmpAbs(maxSteps) > 0 {
				return nil, false
			}
		}
		out[g] = w.Int64()
		if !descending {
			out[g] = -out[g]
		}
	}
	return out, true
}

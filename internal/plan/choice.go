package plan

import (
	"math/big"
)

// choice recognises a selection: SELECT keys ... GROUP BY keys ORDER BY an aggregate LIMIT k, where the
// aggregate is not selected. Then no count is released but which groups are the best, at the price of k selections.
// The aggregate may be multiplied by a public number: a constant, or a key.
func (q *question) choice(p *Plan) (bool, error) {
	if len(q.keys) == 0 || len(q.order) != 1 || q.count == nil || *q.count < 1 || q.restrict != nil || q.skip != 0 || p.Distinct {
		return false, nil
	}
	for _, k := range q.keys {
		if k.Private {
			return false, nil
		}
	}
	for _, o := range q.output {
		if q.noisy(o.Expr) {
			return false, nil
		}
	}
	score, weight := q.score(q.order[0].By)
	if score == nil {
		return false, nil
	}
	groups := p.Query.Groups()
	weights, ok := q.weights(&p.Query, weight, q.order[0].Descending)
	if !ok {
		return false, nil
	}
	p.Query.Measures = []Measure{q.measures[q.stats[score.Stat].measure]}
	p.Query.Choice = &Choice{K: int(min(*q.count, int64(groups))), Weights: weights}
	p.Order = nil
	for _, d := range q.stats {
		p.Stats = append(p.Stats, d.Stat)
	}
	return true, provenTotal(&p.Query)
}

// noisy reports whether an expression names an aggregate.
func (q *question) noisy(e Expr) bool {
	found := false
	walk(e, func(x Expr) {
		if r, ok := x.(*Released); ok {
			found = found || q.stats[r.Stat].Kind != KeyStat
		}
	})
	return found
}

// score splits an expression into a count or a sum and what it is multiplied by.
func (q *question) score(e Expr) (*Released, Expr) {
	switch x := e.(type) {
	case *Rescale:
		return q.score(x.X)
	case *Released:
		d := q.stats[x.Stat]
		if d.Kind == MeasureStat && x.Part == PartValue && q.measures[d.measure].Kind != Quantile {
			return x, nil
		}
	case *Arith:
		if x.Op != Mul {
			return nil, nil
		}
		for _, side := range [][2]Expr{{x.L, x.R}, {x.R, x.L}} {
			if r, w := q.score(side[0]); r != nil && w == nil && !q.noisy(side[1]) {
				return r, side[1]
			}
		}
	}
	return nil, nil
}

// weights computes the public numbers that scores are multiplied by.
func (q *question) weights(query *Query, weight Expr, descending bool) ([]int64, bool) {
	if weight == nil && descending {
		return nil, true
	}
	out := make([]int64, query.Groups())
	for g := range out {
		w := big.NewInt(1)
		if weight != nil {
			keys := query.Group(g)
			v := Eval(weight, func(x Expr) Value {
				i := q.stats[x.(*Released).Stat].Key
				return FromKey(keys[i], query.Keys[i].Expr.Type())
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

package account

import (
	"slices"

	"github.com/discreet-dp/discreet/dp"
)

// The optimal composition of claims (e_i, d_i) of which nothing else is known: an (e, d) mechanism
// is dominated by one that reveals everything with probability d and otherwise answers by
// randomized response (see [Approx.DeltaAt]), so the composition is dominated by the composition of
// those. It reveals everything with probability 1 - prod (1 - d_i), and otherwise its privacy loss
// L is a sum of independent e_i with probability 1/(1 + exp(-e_i)) and -e_i otherwise, and
//
//	delta(epsilon) = 1 - prod (1 - d_i) (1 - E[max(0, 1 - exp(epsilon - L))]).
//
// For equal claims this is Kairouz, Oh, Viswanath 2015, Theorem 3.3, here exact
// for millions of them ([responses]); for claims that differ, Murtagh, Vadhan
// 2016, Theorem 1.5, which is #P-hard to compute: exact here where the values of L
// can be enumerated ([outcomes]), and otherwise bracketed (package loss).
//
// The brackets are of spans, so rigorous.

// OptimalDelta returns the smallest delta that all mechanisms together have at
// epsilon, in the worst case of mechanisms with these claims.
func OptimalDelta(terms []Repeated, epsilon float64) (dp.Bracket, error) {
	if err := validated(terms); err != nil {
		return dp.Bracket{}, err
	}
	if err := nonNegative("epsilon", epsilon); err != nil {
		return dp.Bracket{}, err
	}
	inner := span{}
	losses, err := lossesOf(terms)
	if err != nil {
		return dp.Bracket{}, err
	}
	if losses != nil {
		inner = losses.delta(epsilon)
	}
	d, keep := revealed(terms)
	if d.hi > 0 {
		inner = d.add(keep.mul(inner))
	}
	inner = inner.atMost(1)
	return dp.Bracket{Lower: inner.lo, Upper: inner.hi}, nil
}

// OptimalEpsilon returns the smallest epsilon that all mechanisms together have
// at delta. Delta must be above 1 - prod (1 - d_i), or be 0 where that is.
func OptimalEpsilon(terms []Repeated, delta float64) (dp.Bracket, error) {
	if err := validated(terms); err != nil {
		return dp.Bracket{}, err
	}
	if err := askedDelta(delta); err != nil {
		return dp.Bracket{}, err
	}
	d, keep := revealed(terms)
	x := exactly(delta)
	if d.hi > 0 {
		if delta <= d.hi || keep.lo == 0 {
			return dp.Bracket{}, ErrDeltaTooSmall
		}
		x = x.sub(d).div(keep)
	}
	losses, err := lossesOf(terms)
	if err != nil || losses == nil {
		return dp.Bracket{}, err
	}
	e := losses.epsilon(x)
	most := sums(terms, func(a Approx) span { return exactly(a.Epsilon) })
	e = span{min(e.lo, most.lo), min(e.hi, most.hi)}
	_, err = finite(e.hi)
	return dp.Bracket{Lower: e.lo, Upper: e.hi}, err
}

// revealed returns 1 - prod (1 - d_i) and prod (1 - d_i).
func revealed(terms []Repeated) (d, keep span) {
	log := sums(terms, func(a Approx) span { return exactly(a.Delta).minusLog1pMinus() })
	if log.hi == 0 {
		return span{}, exactly(1)
	}
	return log.oneMinusExpMinus(), log.expMinus()
}

// losses is a distribution of the privacy loss L of randomized responses.
type losses interface {
	// delta returns E[max(0, 1 - exp(epsilon - L))].
	delta(epsilon float64) span
	// epsilon solves delta(epsilon) = x, with 0 where that is negative.
	epsilon(x span) span
}

// mostResponses is the number of equal claims that takes a second.
const mostResponses = 1e12

// lossesOf returns nil where every epsilon is zero.
func lossesOf(terms []Repeated) (losses, error) {
	groups := merged(terms)
	switch len(groups) {
	case 0:
		return nil, nil
	case 1:
		if k := groups[0].Times; k > mostResponses {
			return nil, &ParameterError{"the number of claims", float64(k), "at most 10^12 claims; their sum of rho says nearly the same"}
		}
		return responses{groups[0].Epsilon, groups[0].Times}, nil
	}
	if few, ok := enumerated(groups); ok {
		return few, nil
	}
	return inverted(groups)
}

// merged adds up how often each epsilon above zero occurs.
func merged(terms []Repeated) []Repeated {
	var groups []Repeated
	for _, r := range terms {
		if r.Epsilon == 0 || r.Times == 0 {
			continue
		}
		i := slices.IndexFunc(groups, func(g Repeated) bool { return g.Epsilon == r.Epsilon })
		if i < 0 {
			groups = append(groups, Repeated{Approx{Epsilon: r.Epsilon}, 0})
			i = len(groups) - 1
		}
		groups[i].Times += r.Times
	}
	return groups
}

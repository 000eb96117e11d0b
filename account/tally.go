package account

import "math"

// A tally walks down the values l of a privacy loss L and holds, at the value
// where it stands,
//
//	high = E[max(0, 1 - exp(l - L))], the delta at epsilon = l,
//	mass = E[exp(l - L); L >= l].
//
// Both are sums of positive parts, and for 0 <= s <= the gap to the next value
//
//	delta(l - s) = high + (1 - exp(-s)) mass,
//
// which is linear in exp(epsilon), so epsilon is solved for in closed form. The
// right-hand side is a lower bound for every s, since it leaves positive parts
// out, or takes negative ones in.
type tally struct{ high, mass span }

// descend goes down by a gap, given 1 - exp(-gap) and exp(-gap), to a value of
// the given probability.
func (t *tally) descend(rise, decay, probability span) {
	t.high = t.high.add(rise.mul(t.mass))
	t.mass = t.mass.mul(decay).add(probability)
}

// shifted returns delta(l - s).
func (t *tally) shifted(s span) span { return t.high.add(s.oneMinusExpMinus().mul(t.mass)) }

// shift solves delta(l - s) = x for s: -ln(1 - (x - high)/mass). It is +Inf
// where the delta stays below x.
func (t *tally) shift(x span) span {
	lo := down(down(x.lo-t.high.hi) / t.mass.hi)
	hi := math.Inf(1)
	if t.mass.lo > 0 {
		hi = up(up(math.Max(0, x.hi-t.high.lo)) / t.mass.lo)
	}
	return span{lo, hi}.minusLog1pMinus()
}

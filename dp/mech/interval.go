package mech

import (
	"math"
	"math/big"
)

// Noisy is a released integer with the half width of its error.
type Noisy struct {
	Value     int64
	HalfWidth int64
}

// RatioInterval estimates the quotient of two exact integers from their noisy values, where the
// quotient is known to lie in the public range from low to high: the mean of values that were
// clamped to it. It returns an estimate in the range, and a half width, such that
//
//	|exact sum / exact count - estimate| <= half width
//
// whenever the exact sum is within its half width of the noisy sum, the exact count within its own,
// and the quotient in the range. If each half width holds with probability 1 - beta/2, the interval
// holds with probability 1 - beta; the noises need not be independent.
//
// It is conservative: a rectangle around (sum, count) stands for what is nearer to an ellipse, and
// beta is split evenly. Where the exact count may be zero or less nothing is known but the public
// range, and that is the answer. The interval is computed in exact rationals and rounded outwards.
func RatioInterval(sum, count Noisy, low, high float64) (estimate, halfWidth float64) {
	if !(low <= high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		panic("mech: the public range of a ratio must be finite, and not empty")
	}
	return RatioOfIntervals(sum.around(), count.around(), new(big.Rat).SetFloat64(low), new(big.Rat).SetFloat64(high))
}

// Interval is a number with the half width of its error, both exact.
type Interval struct{ Value, Half *big.Rat }

func (n Noisy) around() Interval {
	return Interval{new(big.Rat).SetInt64(n.Value), new(big.Rat).SetInt64(n.HalfWidth)}
}

func (a Interval) ends() (from, to *big.Rat) {
	return new(big.Rat).Sub(a.Value, a.Half), new(big.Rat).Add(a.Value, a.Half)
}

// RatioOfIntervals is [RatioInterval] for numbers that are no integers, such as sums over several
// lattices.
func RatioOfIntervals(sum, count Interval, lo, hi *big.Rat) (estimate, halfWidth float64) {
	estimate, from, to := ratioEnds(sum, count, lo, hi)
	return estimate, reach(estimate, from, to)
}

// ratioEnds returns an estimate, and the ends of the interval.
func ratioEnds(sum, count Interval, lo, hi *big.Rat) (estimate float64, from, to *big.Rat) {
	countMin, countMax := count.ends()
	from, to = lo, hi
	if countMin.Sign() > 0 {
		sumMin, sumMax := sum.ends()
		// The smallest quotient divides the smallest sum: by the largest count where it is
		// positive, by the smallest where it is negative. The largest likewise.
		least, most := quotient(sumMin, countMax, countMin), quotient(sumMax, countMin, countMax)
		from, to = larger(lo, least), smaller(hi, most)
	}
	middle := new(big.Rat).Add(lo, hi)
	middle.Quo(middle, big.NewRat(2, 1))
	if count.Value.Sign() > 0 {
		middle.Quo(sum.Value, count.Value)
	}
	if from.Cmp(to) > 0 {
		// The rectangle misses the public range, so one of the errors is larger than its half
		// width, which has probability beta. Say the range, not nothing.
		from, to = lo, hi
	}
	estimate, _ = smaller(hi, larger(lo, middle)).Float64()
	return estimate, from, to
}

// reach is the half width of an interval around an estimate that has both ends in it.
func reach(estimate float64, from, to *big.Rat) float64 {
	e := new(big.Rat).SetFloat64(estimate)
	below, above := new(big.Rat).Sub(e, from), new(big.Rat).Sub(to, e)
	return floatUp(larger(below, above))
}

// quotient divides x by one positive number where x is positive, by the other where not.
func quotient(x, ifPositive, ifNegative *big.Rat) *big.Rat {
	if x.Sign() >= 0 {
		return new(big.Rat).Quo(x, ifPositive)
	}
	return new(big.Rat).Quo(x, ifNegative)
}

func larger(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

func smaller(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

// floatUp returns a float64 that is not below r.
func floatUp(r *big.Rat) float64 {
	f, exact := r.Float64()
	if !exact && new(big.Rat).SetFloat64(f) != nil && new(big.Rat).SetFloat64(f).Cmp(r) < 0 {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// floatDown returns a float64 that is not above r.
func floatDown(r *big.Rat) float64 { return -floatUp(new(big.Rat).Neg(r)) }

// PartInterval estimates a/(a+b) of a width from the noisy values of two sums a and b that are not
// negative: the mean of values from 0 to the width, where a adds them up and b what is missing to
// it. It returns an estimate from 0 to the width, and a half width that holds whenever both exact
// sums are within theirs.
//
// The quotient rises with a and falls with b, so its ends are at two corners of the rectangle
// around the noisy values, of which what is below 0 is cut off. Where both sums may be 0 nothing is
// known but the range. Everything is in exact rationals, and rounded outwards.
func PartInterval(a, b Noisy, width float64) (estimate, halfWidth float64) {
	return PartOfIntervals(a.around(), b.around(), new(big.Rat).SetFloat64(width))
}

// PartOfIntervals is [PartInterval] for numbers that are no integers.
func PartOfIntervals(a, b Interval, whole *big.Rat) (estimate, halfWidth float64) {
	estimate, from, to := partEnds(a, b, whole)
	return estimate, reach(estimate, from, to)
}

func partEnds(a, b Interval, whole *big.Rat) (estimate float64, from, to *big.Rat) {
	part := func(x, y *big.Rat, otherwise *big.Rat) *big.Rat {
		sum := new(big.Rat).Add(x, y)
		if sum.Sign() <= 0 {
			return otherwise
		}
		return new(big.Rat).Mul(whole, new(big.Rat).Quo(x, sum))
	}
	aMin, aMax := a.notNegative()
	bMin, bMax := b.notNegative()
	from, to = part(aMin, bMax, new(big.Rat)), part(aMax, bMin, whole)
	middle := new(big.Rat).Quo(whole, big.NewRat(2, 1))
	estimate, _ = part(larger(a.Value, new(big.Rat)), larger(b.Value, new(big.Rat)), middle).Float64()
	return estimate, from, to
}

// notNegative returns the ends of the interval, without what is below 0.
func (a Interval) notNegative() (from, to *big.Rat) {
	from, to = a.ends()
	return larger(from, new(big.Rat)), larger(to, new(big.Rat))
}

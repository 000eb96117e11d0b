package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

// QuantileQuery asks for quantiles of private values on a public lattice.
type QuantileQuery struct {
	// At are the quantiles, from 0 for the smallest value over 1/2 for the median to 1 for the
	// largest, in rising order. The smallest value may be one person's, and no private answer
	// depends much on one person, so that 0.01 often serves better than 0.
	At []*big.Rat
	// Low and High are the public bounds, in lattice steps. Values beyond them count
	// as the nearest bound, and every answer is from Low to High. The more points
	// there are, the more of the budget goes into telling them apart, if slowly.
	Low, High int64
	// PerUnit is how many of the values one unit has at most: 1 for a value each.
	PerUnit int64
	// Neighbours says what one unit may change.
	Neighbours dp.Neighbours
}

// Quantiles releases quantiles by the exponential mechanism on all lattice points
// from Low to High, where the score of a point is minus the distance between its
// rank and the rank asked for (Smith 2011; on a lattice and in exact integers here).
type Quantiles struct {
	query QuantileQuery
	parts []quantile
	cost  dp.Cost
}

// quantile is one of them, at a/b.
type quantile struct {
	a, b uint64
	m    *exponentialSelector
}

// ErrQuantiles is returned when quantiles are asked for that there are not.
var ErrQuantiles = errors.New("these quantiles cannot be released")

const (
	maxQuantiles     = 1 << 10
	maxDenominator   = 1 << 20 // the largest denominator of a quantile
	maxValuesPerUnit = 1 << 40
	maxLatticePoints = 1 << 62
	quantileAdvice   = "write numbers from 0 to 1 in rising order, such as 0.25, 0.5 and 0.75"
	precisionAdvice  = "write it with at most six decimals"
)

// NewQuantiles calibrates the release of quantiles to an amount of a budget, which
// they share equally.
func NewQuantiles(q QuantileQuery, b Currency, amount dp.Amount) (*Quantiles, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	if err := checkAmount(amount); err != nil {
		return nil, err
	}
	epsilon, err := b.boundedRange(amount / dp.Amount(len(q.At)))
	if err != nil {
		return nil, err
	}
	q.At = slices.Clone(q.At)
	out := &Quantiles{query: q}
	for i, at := range q.At {
		q.At[i] = new(big.Rat).Set(at)
		m, err := NewExponential(q.scoring(at), epsilon)
		if err != nil {
			return nil, err
		}
		out.parts = append(out.parts, quantile{at.Num().Uint64(), at.Denom().Uint64(), m.(*exponentialSelector)})
		out.cost = out.cost.Add(m.Cost())
	}
	return out, nil
}

func (q QuantileQuery) check() error {
	if len(q.At) == 0 || len(q.At) > maxQuantiles {
		return fmt.Errorf("%w: there are %d; ask for 1 to %d of them", ErrQuantiles, len(q.At), maxQuantiles)
	}
	for i, at := range q.At {
		switch {
		case at == nil || at.Sign() < 0 || at.Cmp(big.NewRat(1, 1)) > 0:
			return fmt.Errorf("%w: number %d is not from 0 to 1; %s", ErrQuantiles, i+1, quantileAdvice)
		case at.Denom().Cmp(big.NewInt(maxDenominator)) > 0:
			return fmt.Errorf("%w: number %d has too many digits; %s", ErrQuantiles, i+1, precisionAdvice)
		case i > 0 && at.Cmp(q.At[i-1]) <= 0:
			return fmt.Errorf("%w: number %d is not above the one before; %s", ErrQuantiles, i+1, quantileAdvice)
		}
	}
	switch {
	case q.Low > q.High:
		return fmt.Errorf("%w: the bounds %d and %d are the wrong way round", ErrQuantiles, q.Low, q.High)
	case uint64(q.High)-uint64(q.Low) >= maxLatticePoints:
		return fmt.Errorf("%w: there are more than 2^62 lattice points; give the column narrower bounds or a "+
			"coarser granularity", ErrQuantiles)
	case q.PerUnit < 1 || q.PerUnit > maxValuesPerUnit:
		return fmt.Errorf("%w: a unit has %d values; write 1 where everybody has one", ErrQuantiles, q.PerUnit)
	}
	return nil
}

// scoring returns how the rank losses of a quantile move; for the proof see rankLoss. A unit with
// several values moves them several times as far. Added or removed together, they move the same way
// where one would; replaced, one value can rise and another fall.
func (q QuantileQuery) scoring(at *big.Rat) Scoring {
	a, b := at.Num().Int64(), at.Denom().Int64()
	extreme := a == 0 || a == b
	if q.Neighbours == dp.AddRemove {
		return Scoring{q.PerUnit * max(a, b-a), extreme}
	}
	return Scoring{q.PerUnit * b, extreme && q.PerUnit == 1}
}

// Cost returns the cost of all quantiles together.
func (q *Quantiles) Cost() dp.Cost { return q.cost }

// Parameters returns, for each quantile, the number of ranks that a factor of e in
// probability is worth.
func (q *Quantiles) Parameters() []*big.Rat {
	var out []*big.Rat
	for _, p := range q.parts {
		out = append(out, p.ranks())
	}
	return out
}

func (p quantile) ranks() *big.Rat {
	return p.m.Parameter().Quo(p.m.Parameter(), new(big.Rat).SetInt64(int64(p.b)))
}

// RankError returns an alpha such that, with probability at least 1 - beta, every
// answer y has fewer than q n + alpha values below it and more than q n - alpha values
// at or below it, out of n clamped ones. It needs no data.
//
// Some lattice point has no loss, so for N points and a width of b ranks the loss is b (ln N + t)
// or more with probability at most exp(-t) (McSherry, Talwar 2007; Dwork, Roth 2014, Theorem 3.11);
// t is ln(k/beta) for k quantiles. Sorting the answers keeps the bound: both conditions hold for
// all y up to a point, or from a point on, and these points rise with q.
func (q *Quantiles) RankError(beta float64) float64 {
	if !(beta > 0) {
		return math.Inf(1)
	}
	points := float64(uint64(q.query.High)-uint64(q.query.Low)) + 1
	logs := math.Log(points) + math.Log(float64(len(q.parts))) - math.Log(min(beta, 1))
	worst := 0.0
	for _, p := range q.parts {
		b, _ := p.ranks().Float64()
		worst = math.Max(worst, b*logs)
	}
	return worst * (1 + 1e-12) // more than all rounding errors together
}

// ReleaseQuantiles returns q's quantiles of the values, in any order, in rising order.
//
// The points of the lattice are the candidates, so they are not private, and neither is
// the number of answers. Points between two neighbouring values have the same score:
// one of the runs is drawn in proportion to its number of points times exp(-loss/b),
// exactly (see [noise.Pick]), and then a point of it uniformly. No values at all are no
// error, because whether there are any is private: all points have the same score.
//
// Each quantile is drawn by itself, and the answers are sorted, which is post-processing. A million
// values take a million runs; how many random bits are drawn does not depend on them.
func (r *Releaser) ReleaseQuantiles(values Exact, q *Quantiles) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	runs := pointRuns(values.Open(), q.query.Low, q.query.High)
	n := uint64(values.Len())
	counts := make([]uint64, len(runs))
	for i, g := range runs {
		counts[i] = g.count
	}
	losses := make([]uint64, len(runs))
	var out []int64
	for i, p := range q.parts {
		if r.record != nil {
			r.record(Call{Mechanism: "quantile " + q.query.At[i].RatString(), Parameter: p.m.Parameter(),
				Scoring: p.m.Scoring(), Values: values})
		}
		for j, g := range runs {
			losses[j] = rankLoss(p.a, p.b, g.below, g.at, n-g.below-g.at)
		}
		run := runs[noise.Pick(r.src, p.m.rate, losses, counts)]
		out = append(out, run.from+int64(noise.Below(r.src, run.count)))
	}
	slices.Sort(out)
	return out
}

// rankLoss returns how far the rank q n = (a/b) n is from the ranks of a point that
// has so many values below it, at it and above it, times b: the distance of a n
// from the interval [b below, b (below + at)]. It is zero for a quantile.
//
// With n = below + at + above it is the largest of 0 and
//
//	(b-a) below - a (at + above)    the point is too high,
//	a above - (b-a) (below + at)    the point is too low.
//
// Adding a value changes the first by b-a or by -a, and the second by a or by -(b-a), so none by
// more than max(a, b-a), and the largest of them by no more either. Replacing a value changes each
// of them by at most b, because what one value adds and another takes away is b in all. n is not
// used in any other way, so this holds whether n is public or not. These are the bounds of scoring:
// max(q, 1-q) of a rank under add-remove and one rank under substitution. Where the smallest or the
// largest value is asked for, a is 0 or b, the loss is the number of values below the point, or
// above it. Adding a value lowers no such number, and replacing one value by another moves none of
// them or all the same way: these scores are monotone.
func rankLoss(a, b, below, at, above uint64) uint64 {
	rank, left, right := a*(below+at+above), b*below, b*(below+at)
	switch {
	case rank < left:
		return left - rank
	case rank > right:
		return rank - right
	}
	return 0
}

// pointRun is a run of lattice points with the same number of values below and at
// each of them: one point that has values, or all points between two such.
type pointRun struct {
	from      int64
	count     uint64 // at least 1
	below, at uint64
}

// pointRuns returns the runs of low..high for values that are clamped to it, from low to high.
func pointRuns(values []int64, low, high int64) []pointRun {
	sorted := make([]int64, len(values))
	for i, v := range values {
		sorted[i] = max(low, min(v, high))
	}
	slices.Sort(sorted)
	var out []pointRun
	next := low // the first point that is in no group yet
	for i := 0; i < len(sorted); {
		v, end := sorted[i], i+1
		for end < len(sorted) && sorted[end] == v {
			end++
		}
		if v > next {
			out = append(out, pointRun{next, uint64(v) - uint64(next), uint64(i), 0})
		}
		out = append(out, pointRun{v, 1, uint64(i), uint64(end - i)})
		if v == high {
			return out // v + 1 may not exist
		}
		next, i = v+1, end
	}
	return append(out, pointRun{next, uint64(high) - uint64(next) + 1, uint64(len(sorted)), 0})
}

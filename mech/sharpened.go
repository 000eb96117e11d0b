package mech

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// Sharpened releases a vector with Laplace noise once more, with less of it than before, and costs
// the difference.
//
// Theorem. Let y be released with Laplace noise at e1, and then by Sharpened from e1 to e2 > e1.
// The two answers together are e2-differentially private: the first one is the second plus coins
// ([noise.Sharpened]), coordinate by coordinate, so that it is post-processing of a release at
// e2. So are three and more, each made of the one before: given an answer, the ones before it do
// not depend on the ones after it.
//
// The epsilon of its Cost is e2 - e1, and is a claim about both answers: whatever is answered in
// between, a transcript with both in it is at most exp(e2) times as likely as with a neighbour's
// data, times what the others claim. That is what sums of epsilon are about (account.PureFilter and
// account.EitherFilter). By itself, given the first answer, the second is only (e1 + e2)-private,
// because the first may have gone the other way; its rho is that of e1 + e2, which holds for
// whatever adds up rho, and is more than that of e2.
//
// It rests on this: the first answer was released with this noise, of the same exact numbers; it is
// in the same sum of epsilon; and nothing else was ever made of it by Sharpened. Two answers that
// are each made of the same first one know more of its noise together than either.
type Sharpened struct {
	from, to *Laplace
	sampler  *noise.Sharpened
	cost     dp.Cost
}

// NewSharpened returns how noise becomes less, for vectors of one sensitivity.
func NewSharpened(from, to *Laplace) (*Sharpened, error) {
	if from.sensitivity.L1().Cmp(to.sensitivity.L1()) != 0 {
		return nil, fmt.Errorf("%w: the two answers have different ones, %v and %v", ErrNorm, from.sensitivity, to.sensitivity)
	}
	sampler, err := noise.NewSharpened(from.scale, to.scale)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScale, err)
	}
	both := from.cost.Epsilon.Add(to.cost.Epsilon)
	rho, err := dp.CeilFloat(dp.RhoOfPure(both.Float()))
	if err != nil {
		return nil, err
	}
	return &Sharpened{from, to, sampler, dp.Cost{Epsilon: to.cost.Epsilon.Sub(from.cost.Epsilon), Rho: rho}}, nil
}

// Cost is what the second answer costs after the first.
func (s *Sharpened) Cost() dp.Cost { return s.cost }

// To is the noise of the second answer.
func (s *Sharpened) To() *Laplace { return s.to }

// From is the noise of the first.
func (s *Sharpened) From() *Laplace { return s.from }

// Off is 0: the second answer has the noise of its price.
func (s *Sharpened) Off() int64 { return 0 }

// Holds reports whether an answer can be sharpened: none of its numbers was cut to fit.
func (s *Sharpened) Holds(first []int64) bool { return fits(first) }

// sharpen draws all coins first, as many for every number, so that neither what is drawn nor how
// long it takes depends on a value.
func (s *Sharpened) sharpen(r *Releaser, x Exact, first []int64) []int64 {
	coins := make([]noise.Coins, len(first))
	r.mu.Lock()
	for i := range coins {
		coins[i] = s.sampler.Draw(r.src)
	}
	if r.record != nil {
		r.record(Call{Mechanism: s.to.Name(), Parameter: s.to.Parameter(), Sensitivity: s.to.sensitivity, Values: x,
			Before: s.from.Parameter()})
	}
	r.mu.Unlock()
	out := make([]int64, len(first))
	for i, v := range x.Open() {
		out[i] = addClamped(v, coins[i].Sharpen(less(first[i], v)))
	}
	return out
}

// less is a - b, or the int64 nearest to it.
func less(a, b int64) int64 {
	if b == math.MinInt64 {
		return addClamped(addClamped(a, math.MaxInt64), 1)
	}
	return addClamped(a, -b)
}

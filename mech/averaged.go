package mech

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
)

// Averaged makes an answer with Gaussian noise sharper: the numbers are released once more, with
// noise of their own, and both answers are averaged.
//
// Theorem. Let y be released with Gaussian noise at r1, and then by Averaged from r1 to r2 > r1.
// The second release is (r2 - r1)-zCDP, whatever is done with it and whatever was answered before,
// because it is Gaussian noise at r2 - r1 (NewGaussian) and the average is post-processing of it
// and of the first answer. So the two answers together are r2-zCDP, and so are three and more. It
// rests on nothing else: if the first answer were of other data, the average would be wrong, and as
// private.
//
// # Error
//
// The average is round((r1 y + d w)/r2) with d = r2 - r1 and w the second release. With D the
// sensitivity, y has noise of variance D^2/(2 r1) and w of D^2/(2 d), independent of each other, so
// that the average before it is rounded has
//
//	(r1^2 D^2/(2 r1) + d^2 D^2/(2 d))/r2^2 = D^2/(2 r2),
//
// exactly that of a release at r2. It is no discrete Gaussian: for its error bars see off.
type Averaged struct {
	first, more *big.Int // the weights, r1 and d
	sampler     *Gaussian
	off         int64
}

// NewAveraged returns how noise becomes less, for vectors of one sensitivity. The first answer is
// one of Gaussian noise, or an average.
func NewAveraged(from Mechanism, to *Gaussian) (*Averaged, error) {
	reach := big.NewRat(1, 1)
	switch m := from.(type) {
	case *Gaussian:
	case *Average:
		reach.SetInt64(m.off)
	default:
		return nil, fmt.Errorf("%w: %s noise becomes no Gaussian noise", ErrScale, from.Name())
	}
	if from.Sensitivity().L2Squared().Cmp(to.sensitivity.L2Squared()) != 0 {
		return nil, fmt.Errorf("%w: the two answers have different ones, %v and %v", ErrNorm, from.Sensitivity(), to.sensitivity)
	}
	first, second := from.Cost().Rho, to.cost.Rho
	if first >= second {
		return nil, fmt.Errorf("%w: the second answer has to have less noise", ErrScale)
	}
	more, err := NewGaussian(to.sensitivity, second.Sub(first))
	if err != nil {
		return nil, err
	}
	m := &Averaged{first: amountInt(first), more: amountInt(second.Sub(first)), sampler: more}
	m.off = m.offAfter(reach)
	return m, nil
}

// offAfter is how many steps more an average may be off than noise of a discrete Gaussian z at r2,
// with the same probability.
//
// A discrete Gaussian of deviation s is within 1 of a normal of deviation s ([Marginal]), and the
// noise of the first answer within reach of one. So the average is, with a = r1/r2 and after
// rounding, within R = a reach + (1 - a) + 1/2 of a normal n of variance D^2/(2 r2). Let off be an
// integer of at least R. The average and the exact number are integers, so that its noise is beyond
// k + off only where |n| >= k + off + 1 - R >= k + 1, and P(n >= k + 1) <= P(z >= k + 1), as shown
// there.
func (m *Averaged) offAfter(reach *big.Rat) int64 {
	whole := new(big.Int).Add(m.first, m.more)
	r := new(big.Rat).Mul(reach, new(big.Rat).SetFrac(m.first, whole))
	r.Add(r, new(big.Rat).SetFrac(m.more, whole)).Add(r, big.NewRat(1, 2))
	up := new(big.Int).Add(r.Num(), new(big.Int).Sub(r.Denom(), big.NewInt(1)))
	return up.Quo(up, r.Denom()).Int64()
}

// Cost is what the second answer costs after the first.
func (m *Averaged) Cost() dp.Cost { return m.sampler.cost }

// Off is how much wider the error bars of the average are than those of noise at its price.
func (m *Averaged) Off() int64 { return m.off }

// Holds reports whether an answer can be sharpened: none of its numbers was cut to fit.
func (m *Averaged) Holds(first []int64) bool { return fits(first) }

// sharpen releases x by itself, before anything else is done with it.
func (m *Averaged) sharpen(r *Releaser, x Exact, first []int64) []int64 {
	out := r.Release(x, m.sampler)
	whole := new(big.Int).Add(m.first, m.more)
	twice := new(big.Int).Lsh(whole, 1)
	var sum, part, rest big.Int
	for i, w := range out {
		sum.Mul(big.NewInt(first[i]), m.first)
		sum.Add(&sum, part.Mul(big.NewInt(w), m.more))
		sum.Lsh(&sum, 1).Add(&sum, whole) // floor((2 sum + whole)/(2 whole)) is the nearest
		sum.DivMod(&sum, twice, &rest)
		out[i] = sum.Int64() // between two of 64 bits
	}
	return out
}

func amountInt(a dp.Amount) *big.Int { return new(big.Int).SetUint64(uint64(a)) }

// fits reports whether no number is one of those that larger ones are cut to.
func fits(values []int64) bool {
	for _, v := range values {
		if v == math.MaxInt64 || v == math.MinInt64 {
			return false
		}
	}
	return true
}

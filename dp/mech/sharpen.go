package mech

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

// Sharper is how an answer becomes one with less noise for the difference of the two prices:
// by [laplaceSharpener] where epsilon adds up, by [gaussianSharpener] where rho does.
type Sharper interface {
	// Cost is what the second answer costs after the first.
	Cost() dp.Cost
	// ExtraSteps is how many steps wider the error bars are than those of the second noise.
	ExtraSteps() int64
	// CanSharpen reports whether an answer can be sharpened. It looks at nothing but what was
	// released.
	CanSharpen(first []int64) bool

	sharpen(r *Releaser, x Exact, first []int64) []int64
}

// NewSharper returns how an answer with some noise becomes one with less.
func NewSharper(from, to Mechanism) (Sharper, error) {
	switch to := to.(type) {
	case *Laplace:
		if from, ok := from.(*Laplace); ok {
			return newLaplaceSharpener(from, to)
		}
	case *Gaussian:
		return newGaussianSharpener(from, to)
	}
	return nil, fmt.Errorf("%w: %s noise cannot become %s noise", ErrScale, from.Name(), to.Name())
}

// Sharpen releases x again, of which first was released before with the noise that m is from.
func (r *Releaser) Sharpen(x Exact, first []int64, m Sharper) ([]int64, error) {
	if x.Len() != len(first) || !m.CanSharpen(first) {
		return nil, fmt.Errorf("%w: the earlier answer has another shape", errNorm)
	}
	return m.sharpen(r, x, first), nil
}

// laplaceSharpener releases a vector with Laplace noise once more, with less of it than before, and
// costs the difference.
//
// Theorem. Let y be released with Laplace noise at e1, and then by it from e1 to e2 > e1.
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
// in the same sum of epsilon; and nothing else was ever made of it by one. Two answers that
// are each made of the same first one know more of its noise together than either.
type laplaceSharpener struct {
	from, to *Laplace
	sampler  *noise.Sharpened
	cost     dp.Cost
}

// newLaplaceSharpener returns how noise becomes less, for vectors of one sensitivity.
func newLaplaceSharpener(from, to *Laplace) (*laplaceSharpener, error) {
	if from.sensitivity.L1().Cmp(to.sensitivity.L1()) != 0 {
		return nil, fmt.Errorf("%w: the two answers have different sensitivities, %v and %v", errNorm, from.sensitivity, to.sensitivity)
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
	return &laplaceSharpener{from, to, sampler, dp.Cost{Epsilon: to.cost.Epsilon.Sub(from.cost.Epsilon), Rho: rho}}, nil
}

// Cost is what the second answer costs after the first.
func (s *laplaceSharpener) Cost() dp.Cost { return s.cost }

// ExtraSteps is 0: the second answer has the noise of its price.
func (s *laplaceSharpener) ExtraSteps() int64 { return 0 }

// CanSharpen reports whether an answer can be sharpened: none of its numbers was cut to fit.
func (s *laplaceSharpener) CanSharpen(first []int64) bool { return noneClamped(first) }

// sharpen draws all coins first, as many for every number, so that neither what is drawn nor how
// long it takes depends on a value.
func (s *laplaceSharpener) sharpen(r *Releaser, x Exact, first []int64) []int64 {
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
		out[i] = addClamped(v, coins[i].Sharpen(subtractClamped(first[i], v)))
	}
	return out
}

// subtractClamped is a - b, or the int64 nearest to it.
func subtractClamped(a, b int64) int64 {
	if b == math.MinInt64 {
		return addClamped(addClamped(a, math.MaxInt64), 1)
	}
	return addClamped(a, -b)
}

// gaussianSharpener makes an answer with Gaussian noise sharper: the numbers are released once
// more, with noise of their own, and both answers are averaged.
//
// Theorem. Let y be released with Gaussian noise at r1, and then by it from r1 to r2 > r1.
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
type gaussianSharpener struct {
	first, more *big.Int // the weights, r1 and d
	sampler     *Gaussian
	off         int64
}

// newGaussianSharpener returns how noise becomes less, for vectors of one sensitivity. The first
// answer is one of Gaussian noise, or an average.
func newGaussianSharpener(from Mechanism, to *Gaussian) (*gaussianSharpener, error) {
	reach := big.NewRat(1, 1)
	switch m := from.(type) {
	case *Gaussian:
	case *AveragedNoise:
		reach.SetInt64(m.off)
	default:
		return nil, fmt.Errorf("%w: %s noise cannot become Gaussian noise", ErrScale, from.Name())
	}
	if from.Sensitivity().L2Squared().Cmp(to.sensitivity.L2Squared()) != 0 {
		return nil, fmt.Errorf("%w: the two answers have different sensitivities, %v and %v", errNorm, from.Sensitivity(), to.sensitivity)
	}
	first, second := from.Cost().Rho, to.cost.Rho
	if first >= second {
		return nil, fmt.Errorf("%w: the second answer must have less noise", ErrScale)
	}
	more, err := NewGaussian(to.sensitivity, second.Sub(first))
	if err != nil {
		return nil, err
	}
	m := &gaussianSharpener{first: amountInt(first), more: amountInt(second.Sub(first)), sampler: more}
	m.off = m.offAfter(reach)
	return m, nil
}

// offAfter is how many steps more an average may be off than noise of a discrete Gaussian z at r2,
// with the same probability.
//
// A discrete Gaussian of deviation s is within 1 of a normal of deviation s ([MarginalNoise]), and
// the noise of the first answer within reach of one. So the average is, with a = r1/r2 and after
// rounding, within R = a reach + (1 - a) + 1/2 of a normal n of variance D^2/(2 r2). Let off be an
// integer of at least R. The average and the exact number are integers, so that its noise is beyond
// k + off only where |n| >= k + off + 1 - R >= k + 1, and P(n >= k + 1) <= P(z >= k + 1), as shown
// there.
func (m *gaussianSharpener) offAfter(reach *big.Rat) int64 {
	whole := new(big.Int).Add(m.first, m.more)
	r := new(big.Rat).Mul(reach, new(big.Rat).SetFrac(m.first, whole))
	r.Add(r, new(big.Rat).SetFrac(m.more, whole)).Add(r, big.NewRat(1, 2))
	up := new(big.Int).Add(r.Num(), new(big.Int).Sub(r.Denom(), big.NewInt(1)))
	return up.Quo(up, r.Denom()).Int64()
}

// Cost is what the second answer costs after the first.
func (m *gaussianSharpener) Cost() dp.Cost { return m.sampler.cost }

// ExtraSteps is how much wider the error bars of the average are than those of noise at its price.
func (m *gaussianSharpener) ExtraSteps() int64 { return m.off }

// CanSharpen reports whether an answer can be sharpened: none of its numbers was cut to fit.
func (m *gaussianSharpener) CanSharpen(first []int64) bool { return noneClamped(first) }

// sharpen releases x by itself, before anything else is done with it.
func (m *gaussianSharpener) sharpen(r *Releaser, x Exact, first []int64) []int64 {
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

// noneClamped reports whether no number is one of those that larger ones are cut to.
func noneClamped(values []int64) bool {
	for _, v := range values {
		if v == math.MaxInt64 || v == math.MinInt64 {
			return false
		}
	}
	return true
}

// AveragedNoise is the noise of a number that a [Sharper] has made under rho: that of Gaussian
// noise at the same price, and some steps more. It is never drawn by itself.
type AveragedNoise struct {
	*Gaussian
	off int64
}

// NewAveragedNoise returns the noise of an average at the price of m, which is off by so many steps
// more.
func NewAveragedNoise(m *Gaussian, off int64) (*AveragedNoise, error) {
	if off < 1 {
		return nil, fmt.Errorf("%w: an average is rounded", ErrScale)
	}
	return &AveragedNoise{m, off}, nil
}

func (*AveragedNoise) Name() string { return "averaged" }

// ExtraSteps is how many steps more the number is off.
func (m *AveragedNoise) ExtraSteps() int64 { return m.off }

func (m *AveragedNoise) Tail(k int64) float64 {
	if k < m.off {
		return 1
	}
	return m.Gaussian.Tail(k - m.off)
}

// HalfWidth returns a k with P(|noise| > k) <= beta.
func (m *AveragedNoise) HalfWidth(beta float64) int64 {
	if w := m.Gaussian.HalfWidth(beta); w <= math.MaxInt64-m.off {
		return w + m.off
	}
	return math.MaxInt64
}

func (m *AveragedNoise) fill(*noise.Source, []int64) { panic(errAlone) }

package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// MarginalNoise is the noise in one cell of a marginal that is released by [Residuals], or in one
// number of another release of which everything else is post-processing. It has error bars and a
// variance, and is drawn with all others and never by itself. The cells of a marginal are not
// independent.
//
// # Error bars
//
// The noise is the sum of a_j z_j for independent discrete Gaussians z_j of parameters s_j, and
// then it is rounded, by at most one half or by what is said beside the answer. Let V be the sum
// of a_j^2 s_j^2, and reach the sum of |a_j|. Then there is a normal N of variance V with |noise -
// N| <= reach. For this it is enough that each z has a normal n of deviation s with |z - n| <= 1,
// which follows, with the same uniform number put into the quantiles of both, from
//
//	P(n >= m) <= P(z >= m) <= P(n >= m-1) for all integers m.
//
// By symmetry the left inequality at m is the right one at 1 - m, so both need only be shown for m
// >= 1. Let f(x) = exp(-x^2/(2 s^2)) and Z the sum of f over the integers, which is s sqrt(2 pi)
// (1 + e) with e = 2 sum over k >= 1 of exp(-2 pi^2 s^2 k^2) (Poisson summation). Right: f falls
// from 0 on, so the sum of f(k) over k >= m is at most its integral from m - 1, and Z is at least
// s sqrt(2 pi). Left: for k >= m >= 1 and u in [0, 1], f(k+u) <= f(k) exp(-k u/s^2) <= f(k)
// exp(-u/s^2), so the integral of f over [k, k+1] is at most f(k) (1 - exp(-t))/t with t = 1/s^2,
// and f(k) is at least (1 + t/2) times that integral, because t/(1 - exp(-t)) >= 1 + t/2. So P(z
// >= m) >= P(n >= m) (1 + 1/(2 s^2))/(1 + e), and e <= 1/(2 s^2): from s = 1/2 on e is below
// 0.015, and s^2 e falls and is 0.004 at s = 1/2; below, Z <= 1.28, so that 1 + e <= 0.511/s <= 1
// + 1/(2 s^2).
//
// Both the exact value and what is shown are integers.
type MarginalNoise struct {
	name        string
	sensitivity dp.Sensitivity
	cost        dp.Cost
	variance    *big.Rat
	reach       *big.Rat
	deviation   float64 // the root of the variance, rounded up
	far         float64 // reach and rounding, rounded up
}

// errAlone is what a panic says where the noise of a marginal is drawn by itself.
var errAlone = errors.New("the noise of a marginal is drawn together with that of all the others")

// NewMarginalNoise is the noise of a number that was released before, of which these are what
// [MarginalNoise] says.
func NewMarginalNoise(name string, s dp.Sensitivity, cost dp.Cost, variance, reach *big.Rat) (*MarginalNoise, error) {
	if s.Norm() != dp.L2 || variance == nil || reach == nil || variance.Sign() <= 0 || reach.Sign() < 0 {
		return nil, fmt.Errorf("%w: a marginal has a variance, and a bound in l2", ErrScale)
	}
	v, _ := variance.Float64()
	r, _ := reach.Float64()
	if math.IsInf(v, 0) || math.IsInf(r, 0) || v < 1e-300 {
		return nil, ErrScale
	}
	return &MarginalNoise{name: name, sensitivity: s, cost: cost, variance: variance, reach: reach, deviation: math.Sqrt(v) * (1 + 0x1p-50),
		far: r*(1+0x1p-50) + roundingSteps}, nil
}

// roundingSteps is how far a number is moved at least when all marginals are rounded to integers
// that agree with each other. By how much more it was is said with the answer.
const roundingSteps = 1

// marginal makes the noise of the i-th marginal: see [Residuals].
func (m *Residuals) marginal(i int) *MarginalNoise {
	set := m.of.mask(m.of.Sets[i])
	n := int64(m.table.marginal(m.of.Sets[i]).cells())
	variance, reach := new(big.Rat), new(big.Rat)
	for _, part := range m.parts {
		if mask := m.of.mask(part.axes); mask&set != mask {
			continue
		}
		p := m.of.projectionShare(part.axes)
		variance.Add(variance, new(big.Rat).Mul(p, part.noise.Parameter()))
		// The absolute values of a row of P_B add up to the product of 2 (1 - 1/n_i).
		twice := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(len(part.axes))))
		reach.Add(reach, twice.Mul(twice, p))
	}
	variance.Quo(variance, big.NewRat(n, 1)).Quo(variance, big.NewRat(n, 1))
	reach.Quo(reach, big.NewRat(n, 1))
	_, larger := m.of.reach()
	variance, reach = roundUpRat(variance), roundUpRat(reach)
	out, err := NewMarginalNoise("residuals", dp.NewL2Squared(larger.Mul(larger, larger)), m.cost, variance, reach)
	if err != nil {
		panic(err) // every residual has a variance that is neither zero nor infinite
	}
	return out
}

// Name returns "residuals", or what else it was released by.
func (m *MarginalNoise) Name() string { return m.name }

func (*MarginalNoise) Norm() dp.Norm { return dp.L2 }

// Sensitivity is how far one person moves a cell.
func (m *MarginalNoise) Sensitivity() dp.Sensitivity { return m.sensitivity }

// Cost is that of everything it was released with.
func (m *MarginalNoise) Cost() dp.Cost { return m.cost }

func (m *MarginalNoise) Parameter() *big.Rat { return new(big.Rat).Set(m.variance) }

// Reach is how far the noise is from a normal at most, before it is rounded.
func (m *MarginalNoise) Reach() *big.Rat { return new(big.Rat).Set(m.reach) }

func (m *MarginalNoise) Tail(k int64) float64 {
	x := (float64(k) + 1 - m.far) / m.deviation * (1 - 0x1p-50)
	if x <= 0 {
		return 1
	}
	return math.Min(1, 2*numeric.Tail(x)*(1+1e-9)+1e-300)
}

// HalfWidth returns a k with P(|noise| > k) <= beta: it is at most reach and one more than the
// smallest.
func (m *MarginalNoise) HalfWidth(beta float64) int64 {
	if !(beta > 0) {
		return math.MaxInt64
	}
	if beta >= 1 {
		return 0
	}
	return roundUp(math.Floor((numeric.LogQuantile(math.Min(-1.3862944, math.Log(beta/2)))*m.deviation + m.far) * (1 + 1e-9)))
}

func (m *MarginalNoise) fill(*noise.Source, []int64) { panic(errAlone) }
func (m *MarginalNoise) law() law                    { return marginalLaw{m} }

// marginalLaw is what error bars of sums ask for. Sums of cells are refused before (newNoiseSum).
type marginalLaw struct{ *MarginalNoise }

func (l marginalLaw) tail(k int64) float64                  { return l.Tail(k) }
func (l marginalLaw) halfWidth(beta float64) int64          { return l.HalfWidth(beta) }
func (l marginalLaw) block(int64, int64) (float64, float64) { return 1, 1 }
func (l marginalLaw) logMGF(t float64) float64 {
	return t*t*l.deviation*l.deviation/2*(1+0x1p-50) + math.Abs(t)*l.far
}
func (l marginalLaw) horizon() float64  { return math.Inf(1) }
func (l marginalLaw) variance() float64 { return l.deviation * l.deviation }

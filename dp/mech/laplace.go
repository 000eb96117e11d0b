package mech

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

// Laplace adds discrete Laplace noise, P(k) ~ exp(-|k|/b).
type Laplace struct {
	sensitivity dp.Sensitivity
	cost        dp.Cost
	scale       *big.Rat
	sampler     *noise.Laplace
	dist        laplaceLaw
}

// NewLaplace calibrates Laplace noise to an l1 sensitivity: b = D1/epsilon, as
// an exact rational, so that the cost is exactly epsilon.
//
// Between neighbours x and y the probability of any output z changes by the factor exp((|z-y| -
// |z-x|)/b) summed over the coordinates, at most exp(D1/b) = exp(epsilon): Dwork, McSherry, Nissim,
// Smith 2006, Theorem 1, on the integers (Ghosh, Roughgarden, Sundararajan 2009).
func NewLaplace(s dp.Sensitivity, epsilon dp.Amount) (*Laplace, error) {
	if s.Norm() != dp.L1 {
		return nil, fmt.Errorf("%w: Laplace noise needs l1, not %v", errNorm, s)
	}
	if err := checkAmount(epsilon); err != nil {
		return nil, err
	}
	scale := new(big.Rat).SetInt(s.L1())
	scale.Quo(scale, epsilon.Rat())
	if err := checkScale(scale, smallestScale, largestScale); err != nil {
		return nil, err
	}
	rho, err := rhoOfLaplace(s, epsilon)
	if err != nil {
		return nil, err
	}
	sampler, err := noise.NewLaplace(new(big.Rat).Set(scale))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScale, err)
	}
	return &Laplace{
		sensitivity: s,
		cost:        dp.Cost{Epsilon: epsilon, Rho: rho},
		scale:       scale,
		sampler:     sampler,
		dist:        newLaplaceLaw(scale),
	}, nil
}

// rhoOfLaplace returns the zCDP cost of Laplace noise with b = D/epsilon, rounded up, on a vector
// that moves by D steps, and none of its numbers by more than s of them.
//
// # One number
//
// Theorem. Moved by m steps, with a = 1/b and q = exp(-a), D_alpha/alpha is for every order alpha >
// 1 at most
//
//	rho(m) = a (m - 2q/(1-q^2) (1 - q^m)) = a m - (a/sinh a) (1 - exp(-a m)),
//
// the Kullback-Leibler divergence, to which it converges for alpha -> 1 (Harrison, Manurangsi 2025,
// the tight bound for discrete Laplace; what follows is a proof of our own).
//
// Proof. Let P be the noise and Q the noise moved by m, and f(alpha) = ln sum of P^alpha
// Q^(1-alpha), so that D_alpha = f(alpha)/(alpha-1), f(0) = f(1) = 0 and f'(1) = rho(m). Let w be
// alpha - 1/2 and t = a w. Outcomes up to 0 have the loss a m, those from m on -a m, and 0 < z < m
// have a (m - 2z). The geometric sums come to f = ln Z(t) but for a constant, with
//
//	Z(t) = coth(a/2) cosh(m t) + coth(t) sinh(m t).
//
// At t = i x this is F(x) = coth(a/2) cos(m x) + cot(x) sin(m x). F has the sign of (-1)^k at x = k
// pi/m for k = 1, ..., m-1, where the sine is 0, and in the limits k = 0 and k = m, where it is
// (-1)^k (coth(a/2) + m). So F has m zeros x_1 < ... < x_m between 0 and pi. As exp(m t) Z(t) is a
// polynomial of degree m in exp(2t), these are all, and if x is one so is pi - x. Hence
//
//	Z(t)^2 = constant times the product over k of (cosh(2t) - c_k), with c_k = cos(2 x_k) >= -1.
//
// f is concave in w^2, for w > 0: with y = 2t each factor adds half of ln(cosh y - c), whose
// derivative in y^2 is half of sinh y/(y (cosh y - c)). That falls: the derivative of its logarithm
// is
//
//	coth y - 1/y - sinh y/(cosh y - c) <= coth y - 1/y - tanh(y/2) = 1/sinh y - 1/y <= 0.
//
// So f is below its tangent at w^2 = 1/4, where alpha is 1 and f is 0. By the chain rule the slope
// in w^2 is f'(1)/(2w) = rho(m), and w^2 - 1/4 = alpha (alpha-1): f(alpha) <= alpha (alpha-1)
// rho(m).
//
// # A vector
//
// Renyi divergences of independent numbers add up, at every order, so a vector that moves by m_1,
// ..., m_n costs rho(m_1) + ... + rho(m_n). One step more costs rho(m+1) - rho(m) = a (1 - 2
// q^(m+1)/(1+q)), which is above 0 and rises with m. So the sum gets no smaller where a number
// moves further, nor where of two that move by at least 1 and at most s-1 the one that moves
// further takes a step from the other. That ends with k = floor(D/s) moves of s and one of the r =
// D - k s steps that are left: the most that a vector costs is
//
//	k rho(s) + rho(r) = epsilon - (a/sinh a) (k (1 - exp(-a s)) + 1 - exp(-a r)).
//
// Where one number may move all of D that is rho(D), and where each moves one step D rho(1), which
// is half of epsilon^2/D for a small epsilon, and not half of epsilon^2.
//
// Whatever has a pure epsilon costs dp.RhoOfPure at most. At D = 1 the two are
// equal; rounding takes the smaller.
func rhoOfLaplace(d dp.Sensitivity, epsilon dp.Amount) (dp.Amount, error) {
	e := epsilon.Float()
	whole, rest := new(big.Int).QuoRem(d.L1(), d.Each(), new(big.Int))
	steps, k := floatOf(d.L1()), floatOf(whole)
	a, s, r := e/steps, e*(floatOf(d.Each())/steps), e*(floatOf(rest)/steps)
	// Each factor is within a few units in the last place, and both terms are
	// at most e, so 2^-48 e is more than all rounding errors together. That is
	// below one unit of account for every epsilon up to 2^8.
	lattice := e + a/math.Sinh(a)*(k*math.Expm1(-s)+math.Expm1(-r)) + e*0x1p-48
	return dp.CeilFloat(math.Min(lattice, dp.RhoOfPure(e)))
}

// floatOf is the float64 that is nearest.
func floatOf(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

func (*Laplace) Name() string                  { return "laplace" }
func (*Laplace) Norm() dp.Norm                 { return dp.L1 }
func (m *Laplace) Sensitivity() dp.Sensitivity { return m.sensitivity }

// Cost returns the pure epsilon, and the rho that follows on this lattice.
func (m *Laplace) Cost() dp.Cost { return m.cost }

func (m *Laplace) Parameter() *big.Rat { return new(big.Rat).Set(m.scale) }

// Tail bounds P(|noise| > k) from above, by its closed form.
func (m *Laplace) Tail(k int64) float64 { return m.dist.tail(k) }

// HalfWidth returns the smallest k with P(|noise| > k) <= beta. The result can be one too large
// where beta is within k 2^-48 of itself to the probability at k-1.
func (m *Laplace) HalfWidth(beta float64) int64 { return m.dist.halfWidth(beta) }

func (m *Laplace) fill(src *noise.Source, out []int64) { m.sampler.Fill(src, out) }
func (m *Laplace) law() law                            { return m.dist }

// laplaceLaw is P(k) = (1-q)/(1+q) q^|k| with q = exp(-1/b).
type laplaceLaw struct{ b, q float64 }

func newLaplaceLaw(scale *big.Rat) laplaceLaw {
	b, _ := scale.Float64()
	return laplaceLaw{b, math.Exp(-1 / b)}
}

// tail is 2 q^(k+1)/(1+q). The exponent x has a relative error below 2^-51, so
// its exponential is within x 2^-51 and two units in the last place, until it
// is so small that the last place is the smallest number there is.
func (l laplaceLaw) tail(k int64) float64 {
	if k < 0 {
		return 1
	}
	x := (float64(k) + 1) / l.b
	p := 2 * math.Exp(-x) / (1 + l.q)
	return math.Min(1, p*(1+(x+4)*0x1p-50)+2*math.SmallestNonzeroFloat64)
}

// halfWidth solves 2 q^(k+1)/(1+q) <= beta: k+1 >= b (ln 2 - ln beta - ln(1+q)).
func (l laplaceLaw) halfWidth(beta float64) int64 {
	if !(beta > 0) {
		return math.MaxInt64
	}
	if beta >= 1 {
		return 0
	}
	up, down := -math.Log(beta)+math.Ln2, math.Log1p(l.q)
	// Every operation is within 2^-52 of the parts it adds; we allow 2^-49 of their sum.
	x := l.b * ((up - down) + (up+down)*0x1p-49)
	return roundUp(math.Max(0, math.Ceil(x)-1))
}

// block is a geometric sum. Its factors are accurate relative to themselves,
// except that the exponent's error grows with it.
func (l laplaceLaw) block(lo, hi int64) (mass, err float64) {
	if lo <= 0 {
		out := 2 * math.Exp(-(float64(hi)+1)/l.b) / (1 + l.q)
		// Near one side of 1 or the other, both differences are exact to a few 2^-53.
		if hi == 0 {
			return math.Tanh(1 / (2 * l.b)), 0x1p-50
		}
		return 1 - out, 0x1p-50
	}
	x := float64(lo) / l.b
	mass = math.Exp(-x) * -math.Expm1(-(float64(hi-lo)+1)/l.b) / (1 + l.q)
	return mass, mass * (x + 4) * 0x1p-50
}

// logMGF: E exp(tX) = (1-q)^2/((1-q e^t)(1-q e^-t)) = 1/(1 - r^2), where r =
// sinh(t/2)/sinh(1/(2b)).
func (l laplaceLaw) logMGF(t float64) float64 {
	y := 1 / l.b
	if t >= y {
		return math.Inf(1)
	}
	r := math.Exp((t-y)/2) * math.Expm1(-t) / math.Expm1(-y)
	r2 := r * r * (1 + (4+y)*0x1p-49)
	if r2 >= 1 {
		return math.Inf(1)
	}
	return -math.Log1p(-r2) * (1 + 0x1p-50)
}

func (l laplaceLaw) horizon() float64 { return 1 / l.b }

func (l laplaceLaw) variance() float64 {
	s := math.Sinh(1 / (2 * l.b))
	return 1 / (2 * s * s)
}

// roundUp turns a non-negative float64 into the nearest int64 that is not below it.
func roundUp(f float64) int64 {
	if !(f < 0x1p63) {
		return math.MaxInt64
	}
	return int64(math.Ceil(f))
}

package calibrate

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/normal"
	"github.com/discreet-dp/discreet/internal/root"
)

// Objective is objective perturbation: the noise, the regulariser it was calibrated for, and what
// all models together cost.
type Objective struct {
	Lambda float64
	// Scale is that of the density exp(-|b|/Scale), or the standard deviation of every coordinate
	// where Gaussian is true. Each model has noise of its own.
	Scale    float64
	Gaussian bool
	// Jacobian is what the change of variables takes of the loss of one model.
	Jacobian float64
	Cost     dp.Cost
}

// Share is the part of a budget that is spent on noise where nobody chose a regulariser; the rest
// is for the Jacobian, and decides Lambda. It is 8/10. Chaudhuri, Monteleoni and Sarwate (2011)
// have a half, for regularisers that are too small.
const Share = 0.8

// RegulariserError says that a regulariser is too small to be private at this price.
type RegulariserError struct {
	Lambda float64 // what was asked for
	Least  float64 // with less the Jacobian takes everything
}

func (e *RegulariserError) Error() string {
	return fmt.Sprintf("the regulariser %.4g is too small for this price: the change of variables alone would cost all of it; take more "+
		"than %.4g, or leave it out and one is chosen", e.Lambda, e.Least)
}

// Pure calibrates pure objective perturbation. A Lambda of 0 is chosen, by [Share]. The price is
// divided among the models.
func (p Problem) Pure(epsilon dp.Amount, lambda float64) (*Objective, error) {
	if err := p.check(lambda, epsilon); err != nil {
		return nil, err
	}
	each := epsilon.Float() / float64(p.Models) / Slack
	noise := func(lambda float64) float64 { return math.Max(each-p.Jacobian(lambda), p.tapered(lambda, each)) }
	if lambda == 0 {
		lambda = p.lambdaFor((1 - Share) * each)
		if p.Tapered {
			lambda = lowest(lambda, func(lambda float64) bool { return noise(lambda) >= Share*each })
		}
	}
	if !(noise(lambda) > 0) {
		return nil, &RegulariserError{lambda, p.lambdaFor(each)}
	}
	rho, err := dp.CeilFloat(dp.RhoOfPure(epsilon.Float()))
	if err != nil {
		return nil, err
	}
	return &Objective{Lambda: lambda, Scale: p.Gradient() / noise(lambda) * Slack, Jacobian: each - noise(lambda),
		Cost: dp.Cost{Epsilon: epsilon, Rho: rho}}, nil
}

// Approximate calibrates Gaussian objective perturbation to (epsilon, delta). A Lambda of 0 is
// chosen, by [Share].
func (p Problem) Approximate(epsilon, delta dp.Amount, lambda float64) (*Objective, error) {
	if err := p.check(lambda, epsilon, delta); err != nil {
		return nil, err
	}
	e, models := epsilon.Float()/Slack, float64(p.Models)
	if lambda == 0 {
		lambda = p.lambdaFor((1 - Share) * e / models)
		if p.Tapered {
			// The least with which no more noise is needed than without taking the taper into
			// account.
			sigma, err := p.deviation(epsilon, delta, lambda)
			if err != nil {
				return nil, err
			}
			lambda = lowest(lambda, func(lambda float64) bool { return p.taperedDelta(lambda, sigma, e) <= delta.Float() })
		}
	}
	j := p.Jacobian(lambda)
	if !(models*j < e) {
		return nil, &RegulariserError{lambda, p.lambdaFor(e / models)}
	}
	sigma, err := p.deviation(epsilon, delta, lambda)
	if p.Tapered {
		start := p.Gradient()
		if err == nil {
			start = sigma
		}
		if by, bad := least(func(sigma float64) bool { return p.taperedDelta(lambda, sigma, e) <= delta.Float() }, start); bad == nil &&
			(err != nil || by < sigma) {
			sigma, err = by, nil
		}
	}
	if err != nil {
		return nil, err
	}
	rho, err := account.Approx{Epsilon: epsilon.Float(), Delta: delta.Float()}.ApproxZCDP()
	if err != nil {
		return nil, err
	}
	amount, err := dp.CeilFloat(rho.Rho)
	if err != nil {
		return nil, err
	}
	return &Objective{Lambda: lambda, Scale: sigma * Slack, Gaussian: true, Jacobian: j,
		Cost: dp.Cost{Epsilon: epsilon, Rho: amount, Delta: delta}}, nil
}

// Concentrated calibrates Gaussian objective perturbation to rho. A Lambda of 0 is chosen, by
// [Share].
func (p Problem) Concentrated(rho dp.Amount, lambda float64) (*Objective, error) {
	if err := p.check(lambda, rho); err != nil {
		return nil, err
	}
	each := rho.Float() / float64(p.Models) / Slack
	if lambda == 0 {
		kappa, _ := root.HalveScale(0x1p-60, 0x1p60, 200, func(kappa float64) bool {
			return !(p.curved(p.lambdaOf(kappa)) > (1-Share)*each)
		})
		lambda = math.Max(p.lambdaOf(kappa), smallest)
	}
	extra := p.curved(lambda)
	if !(extra < each) {
		least := lambda
		for p.curved(least) >= each && least < 0x1p200 {
			least *= 1.01
		}
		return nil, &RegulariserError{lambda, least}
	}
	s := p.Gradient()
	return &Objective{
		Lambda: lambda, Scale: s / math.Sqrt(2*(each-extra)) * Slack, Gaussian: true, Jacobian: p.Jacobian(lambda),
		Cost: dp.Cost{Epsilon: dp.Unbounded, Rho: rho},
	}, nil
}

func (p Problem) lambdaOf(kappa float64) float64 {
	return float64(p.Rows) * p.Curvature * p.Radius * p.Radius / kappa
}

// curved is what the Jacobian adds to the rho of one model: the least over where the two bounds of
// the package comment meet. Every a0 has a valid bound, so the search need not be exact.
func (p Problem) curved(lambda float64) float64 {
	k, j, c := p.kappa(lambda), p.Jacobian(lambda), math.Log(1.1514)
	if !p.OneSided {
		c = math.Ln2
	}
	best := math.Inf(1)
	for i := 1; i < 1000; i++ {
		x := float64(i) / 1000 // (a0-1) m kappa
		a := 1 + x/k
		low := k * k / 2 * (1 + 1/(1-x))
		high := j/a + c/(a*(a-1))
		best = math.Min(best, math.Max(low, high))
	}
	return best * Slack
}

// check refuses what no calibration is for.
func (p Problem) check(lambda float64, amounts ...dp.Amount) error {
	if err := p.Validate(); err != nil {
		return err
	}
	for _, a := range amounts {
		if a == 0 || a == dp.Unbounded {
			return fmt.Errorf("%w: noise needs a privacy loss above zero, such as an epsilon of 1", ErrProblem)
		}
	}
	if lambda != 0 && !(lambda >= smallest && lambda <= 1/smallest) {
		return fmt.Errorf("%w: a regulariser is a positive number, and 0 lets one be chosen", ErrProblem)
	}
	return nil
}

// deviation is the smaller of two that are enough for (epsilon, delta): by the profile of the
// package comment, and by the conversion of a rho. The second is for people with many rows, where
// there are more sums than can be listed.
func (p Problem) deviation(epsilon, delta dp.Amount, lambda float64) (float64, error) {
	models := float64(p.Models)
	all, left := p.lengths(), epsilon.Float()/Slack-models*p.Jacobian(lambda)
	sigma, err := least(func(sigma float64) bool { return p.delta(all, sigma, left) <= delta.Float() }, p.Gradient())
	rho, bad := account.Rho(epsilon, delta)
	if bad != nil {
		return sigma, err
	}
	if each := rho.Float()/models/Slack - p.curved(lambda); each > 0 {
		if by := p.Gradient() / math.Sqrt(2*each); err != nil || by < sigma {
			return by, nil
		}
	}
	return sigma, err
}

// length is how many sums of differing rows there are at most of a length, whose square it has in
// units of (G R)^2.
type length struct{ square, count float64 }

// lengths lists them: for one model C(M, k) of length k, or 2^M of length M where slopes have both
// signs; over several models squares add up.
func (p Problem) lengths() []length {
	m := p.differ()
	longest := float64(p.Models) * float64(m) * float64(m)
	if longest > 4096 || !p.OneSided {
		// Too many lengths to list: as if all sums were as long as the longest. With signs that is
		// so. The number may be infinite, and then this shows nothing.
		return []length{{longest, math.Exp2(float64(p.Models)*float64(m)) * Slack}}
	}
	all := []float64{1} // by the square
	for range p.Models {
		next := make([]float64, len(all)+m*m)
		for square, n := range all {
			for k := range m + 1 {
				next[square+k*k] += n * binomial(m, k)
			}
		}
		all = next
	}
	var out []length
	for square, n := range all {
		if square > 0 && n > 0 { // 0 is the empty sum
			out = append(out, length{float64(square), n})
		}
	}
	return out
}

func binomial(n, k int) float64 {
	x := 1.0
	for i := range k {
		x *= float64(n-i) / float64(i+1)
	}
	return x * Slack
}

// delta bounds the delta of Gaussian noise at what epsilon leaves after the Jacobians.
func (p Problem) delta(all []length, sigma, epsilon float64) float64 {
	unit := p.Slope * p.Radius * Slack / sigma
	s := p.Gradient() / sigma
	tau := epsilon - float64(p.Models)*s*s/2
	if !(tau > 0) {
		return 1
	}
	total := 0.0
	for _, l := range all {
		mu := unit * math.Sqrt(l.square)
		total += l.count * normal.Delta(mu, tau+mu*mu/2).Upper
	}
	return total * (1 + 1e-9)
}

// lowest is a lambda, not above high and the least within a part in a million, from which on a
// condition holds; high where it never does.
func lowest(high float64, fits func(float64) bool) float64 {
	low := high
	for range 60 {
		if low /= 2; low < smallest || !fits(low) {
			break
		}
		high = low
	}
	_, high = root.HalveScale(low, high, 20, func(x float64) bool { return !(x >= smallest && fits(x)) })
	return high
}

// least is the smallest x, within a part in a billion, from which on a condition holds.
func least(fits func(float64) bool, start float64) (float64, error) {
	high := start
	for i := 0; !fits(high); i++ {
		if high *= 2; i > 200 {
			return 0, fmt.Errorf("%w: no noise is large enough; ask with a larger epsilon or delta", ErrProblem)
		}
	}
	low := high / 2
	for fits(low) && low > 0 {
		high, low = low, low/2
	}
	_, high = root.Halve(low, high, 60, func(x float64) bool { return !fits(x) })
	return high, nil
}

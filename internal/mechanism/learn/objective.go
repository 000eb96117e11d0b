package learn

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// ObjectiveNoise is objective perturbation: the noise, the regulariser it was calibrated for, and
// what all models together cost.
type ObjectiveNoise struct {
	Lambda float64
	// Scale is that of the density exp(-|b|/Scale), or the standard deviation of every coordinate
	// where Gaussian is true. Each model has noise of its own.
	Scale    float64
	Gaussian bool
	// Jacobian is what the change of variables takes of the loss of one model.
	Jacobian float64
	Cost     dp.Cost
}

// noiseShare is the part of a budget that is spent on noise where nobody chose a regulariser; the
// rest is for the Jacobian, and decides Lambda. It is 8/10. Chaudhuri, Monteleoni and Sarwate
// (2011) have a half, for regularisers that are too small.
const noiseShare = 0.8

// RegulariserError says that a regulariser is too small to be private at this price.
type RegulariserError struct {
	Lambda float64 // what was asked for
	Least  float64 // with less the Jacobian takes everything
}

func (e *RegulariserError) Error() string {
	return fmt.Sprintf("the regulariser %.4g is too small for this price: the change of variables alone would cost all of it; use "+
		"more than %.4g, or leave it out to have one chosen", e.Lambda, e.Least)
}

// Pure calibrates pure objective perturbation. A Lambda of 0 is chosen, by noiseShare. The price is
// divided among the models.
func (p Problem) Pure(epsilon dp.Amount, lambda float64) (*ObjectiveNoise, error) {
	if err := p.check(lambda, epsilon); err != nil {
		return nil, err
	}
	each := epsilon.Float() / float64(p.Models) / roundingSlack
	noise := func(lambda float64) float64 { return math.Max(each-p.Jacobian(lambda), p.tapered(lambda, each)) }
	if lambda == 0 {
		lambda = p.lambdaFor((1 - noiseShare) * each)
		if p.Tapered {
			lambda = lowestLambda(lambda, func(lambda float64) bool { return noise(lambda) >= noiseShare*each })
		}
	}
	if !(noise(lambda) > 0) {
		return nil, &RegulariserError{lambda, p.lambdaFor(each)}
	}
	rho, err := dp.CeilFloat(dp.RhoOfPure(epsilon.Float()))
	if err != nil {
		return nil, err
	}
	return &ObjectiveNoise{Lambda: lambda, Scale: p.Gradient() / noise(lambda) * roundingSlack, Jacobian: each - noise(lambda),
		Cost: dp.Cost{Epsilon: epsilon, Rho: rho}}, nil
}

// Approximate calibrates Gaussian objective perturbation to (epsilon, delta). A Lambda of 0 is
// chosen, by noiseShare.
func (p Problem) Approximate(epsilon, delta dp.Amount, lambda float64) (*ObjectiveNoise, error) {
	if err := p.check(lambda, epsilon, delta); err != nil {
		return nil, err
	}
	e, models := epsilon.Float()/roundingSlack, float64(p.Models)
	if lambda == 0 {
		lambda = p.lambdaFor((1 - noiseShare) * e / models)
		if p.Tapered {
			// The least with which no more noise is needed than without taking the taper into
			// account.
			sigma, err := p.deviation(epsilon, delta, lambda)
			if err != nil {
				return nil, err
			}
			lambda = lowestLambda(lambda, func(lambda float64) bool { return p.taperedDelta(lambda, sigma, e) <= delta.Float() })
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
		fits := func(sigma float64) bool { return p.taperedDelta(lambda, sigma, e) <= delta.Float() }
		if by, bad := leastFitting(fits, start); bad == nil && (err != nil || by < sigma) {
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
	return &ObjectiveNoise{Lambda: lambda, Scale: sigma * roundingSlack, Gaussian: true, Jacobian: j,
		Cost: dp.Cost{Epsilon: epsilon, Rho: amount, Delta: delta}}, nil
}

// Concentrated calibrates Gaussian objective perturbation to rho. A Lambda of 0 is chosen, by
// noiseShare.
func (p Problem) Concentrated(rho dp.Amount, lambda float64) (*ObjectiveNoise, error) {
	if err := p.check(lambda, rho); err != nil {
		return nil, err
	}
	each := rho.Float() / float64(p.Models) / roundingSlack
	if lambda == 0 {
		kappa, _ := numeric.BisectScale(0x1p-60, 0x1p60, 200, func(kappa float64) bool {
			return !(p.jacobianRho(p.lambdaOf(kappa)) > (1-noiseShare)*each)
		})
		lambda = math.Max(p.lambdaOf(kappa), minRegulariser)
	}
	extra := p.jacobianRho(lambda)
	if !(extra < each) {
		least := lambda
		for p.jacobianRho(least) >= each && least < 0x1p200 {
			least *= 1.01
		}
		return nil, &RegulariserError{lambda, least}
	}
	s := p.Gradient()
	return &ObjectiveNoise{
		Lambda: lambda, Scale: s / math.Sqrt(2*(each-extra)) * roundingSlack, Gaussian: true, Jacobian: p.Jacobian(lambda),
		Cost: dp.Cost{Epsilon: dp.Unbounded, Rho: rho},
	}, nil
}

func (p Problem) lambdaOf(kappa float64) float64 {
	return float64(p.Rows) * p.Curvature * p.Radius * p.Radius / kappa
}

// jacobianRho is what the Jacobian adds to the rho of one model: the least over where the two
// bounds of the package comment meet. Every a0 has a valid bound, so the search need not be exact.
func (p Problem) jacobianRho(lambda float64) float64 {
	k, j, c := p.kappaOf(lambda), p.Jacobian(lambda), math.Log(1.1514)
	if !p.OneSided {
		c = math.Ln2
	}
	best := math.Inf(1)
	for i := 1; i < 1000; i++ {
		x := float64(i) / 1000 // (a0-1) m kappa
		a := 1 + x/k
		low := k * k / 2 * (1 + 1/(1-x))
		high := j/a + c/(a*(a-1))
		best = min(best, max(low, high))
	}
	return best * roundingSlack
}

// check refuses what no calibration is for.
func (p Problem) check(lambda float64, amounts ...dp.Amount) error {
	if err := p.Validate(); err != nil {
		return err
	}
	for _, a := range amounts {
		if a == 0 || a == dp.Unbounded {
			return fmt.Errorf("%w: noise needs a privacy loss above zero, such as an epsilon of 1", errProblem)
		}
	}
	if lambda != 0 && !(lambda >= minRegulariser && lambda <= 1/minRegulariser) {
		return fmt.Errorf("%w: a regulariser must be a positive number, or 0 to have one chosen", errProblem)
	}
	return nil
}

// deviation is the smaller of two that are enough for (epsilon, delta): by the profile of the
// package comment, and by the conversion of a rho. The second is for people with many rows, where
// there are more sums than can be listed.
func (p Problem) deviation(epsilon, delta dp.Amount, lambda float64) (float64, error) {
	models := float64(p.Models)
	all, left := p.lengths(), epsilon.Float()/roundingSlack-models*p.Jacobian(lambda)
	sigma, err := leastFitting(func(sigma float64) bool { return p.delta(all, sigma, left) <= delta.Float() }, p.Gradient())
	rho, bad := account.Rho(epsilon, delta)
	if bad != nil {
		return sigma, err
	}
	if each := rho.Float()/models/roundingSlack - p.jacobianRho(lambda); each > 0 {
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
	m := p.differingRows()
	longest := float64(p.Models) * float64(m) * float64(m)
	if longest > 4096 || !p.OneSided {
		// Too many lengths to list: as if all sums were as long as the longest. With signs that is
		// so. The number may be infinite, and then this shows nothing.
		return []length{{longest, math.Exp2(float64(p.Models)*float64(m)) * roundingSlack}}
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
	return x * roundingSlack
}

// delta bounds the delta of Gaussian noise at what epsilon leaves after the Jacobians.
func (p Problem) delta(all []length, sigma, epsilon float64) float64 {
	unit := p.Slope * p.Radius * roundingSlack / sigma
	s := p.Gradient() / sigma
	tau := epsilon - float64(p.Models)*s*s/2
	if !(tau > 0) {
		return 1
	}
	total := 0.0
	for _, l := range all {
		mu := unit * math.Sqrt(l.square)
		total += l.count * numeric.Delta(mu, tau+mu*mu/2).Upper
	}
	return total * (1 + 1e-9)
}

// lowestLambda is a lambda, not above high and the least within a part in a million, from which on
// a condition holds; high where it never does.
func lowestLambda(high float64, fits func(float64) bool) float64 {
	low := high
	for range 60 {
		if low /= 2; low < minRegulariser || !fits(low) {
			break
		}
		high = low
	}
	_, high = numeric.BisectScale(low, high, 20, func(x float64) bool { return !(x >= minRegulariser && fits(x)) })
	return high
}

// leastFitting is the smallest x, within a part in a billion, from which on a condition holds.
func leastFitting(fits func(float64) bool, start float64) (float64, error) {
	high := start
	for i := 0; !fits(high); i++ {
		if high *= 2; i > 200 {
			return 0, fmt.Errorf("%w: no noise is large enough; ask with a larger epsilon or delta", errProblem)
		}
	}
	low := high / 2
	for fits(low) && low > 0 {
		high, low = low, low/2
	}
	_, high = numeric.Bisect(low, high, 60, func(x float64) bool { return !fits(x) })
	return high, nil
}

// Problem is what is public about a training: all that noise depends on.
type Problem struct {
	Slope     float64 // G: |phi'| is at most that
	Curvature float64 // c: the second derivative of phi is at most that
	OneSided  bool    // for a given target the sign of phi' never changes
	// the second derivative is at most 4 c s(1-s) where |phi'| is s G: the loss is straight where
	// it is steep, as the logistic is
	Tapered bool
	Radius  float64 // R: no row's features are longer
	Weights int     // d: how many weights a model has, the intercept's among them
	Models  int     // K: how many models are trained on the same rows, one for each class where there are more than two
	Rows    int     // m: how many rows of one person count
	// Neighbours says whether a person is added or removed, or another one takes their place.
	Neighbours dp.Neighbours
}

// roundingSlack is the factor by which noise is made larger than computed, for all errors of
// rounding together.
const roundingSlack = 1 + 0x1p-40

// Limits of what is calibrated.
const (
	maxWeights     = 1 << 20
	maxModels      = 1 << 10
	maxRows        = 1 << 10
	minRegulariser = 0x1p-60 // and the inverse of the largest regulariser
)

// errProblem is returned for parameters that nothing can be calibrated to.
var errProblem = errors.New("nothing can be calibrated to this")

// Validate says what is wrong with a problem.
func (p Problem) Validate() error {
	positive := func(x float64) bool { return x >= 0x1p-100 && x <= 0x1p100 }
	switch {
	case !positive(p.Slope) || !positive(p.Curvature):
		return fmt.Errorf("%w: the loss needs a bounded slope and curvature", errProblem)
	case !positive(p.Radius):
		return fmt.Errorf("%w: the radius that rows are clipped to must be a positive number", errProblem)
	case p.Weights < 1 || p.Weights > maxWeights:
		return fmt.Errorf("%w: a model has from 1 to %d weights", errProblem, maxWeights)
	case p.Models < 1 || p.Models > maxModels:
		return fmt.Errorf("%w: there are from 1 to %d models", errProblem, maxModels)
	case p.Rows < 1 || p.Rows > maxRows:
		return fmt.Errorf("%w: a person has from 1 to %d rows; lower max_rows", errProblem, maxRows)
	case p.Neighbours != dp.AddRemove && p.Neighbours != dp.Substitute:
		return fmt.Errorf("%w: neighbours must be add-remove or substitute", errProblem)
	}
	return nil
}

// differingRows is M: in how many rows neighbours differ at most.
func (p Problem) differingRows() int {
	if p.Neighbours == dp.AddRemove {
		return p.Rows
	}
	return 2 * p.Rows
}

// Gradient is S: how far the gradient of one model's sum moves between neighbours, in l2.
func (p Problem) Gradient() float64 {
	return float64(p.differingRows()) * p.Slope * p.Radius * roundingSlack
}

// kappaOf is m c R^2/Lambda, rounded up.
func (p Problem) kappaOf(lambda float64) float64 {
	return float64(p.Rows) * p.Curvature * p.Radius * p.Radius / lambda * roundingSlack
}

// rank is the rank of what one person's rows add to the second derivative.
func (p Problem) rank() float64 { return float64(min(p.Rows, p.Weights)) }

// Jacobian is J: the most that the change of variables adds to the privacy loss of one model.
func (p Problem) Jacobian(lambda float64) float64 {
	k := p.rank()
	return k * math.Log1p(p.kappaOf(lambda)/k) * roundingSlack
}

// lambdaFor is the least Lambda, rounded up, whose Jacobian is at most j.
func (p Problem) lambdaFor(j float64) float64 {
	k := p.rank()
	m := float64(p.Rows) * p.Curvature * p.Radius * p.Radius
	return math.Max(m/(k*math.Expm1(j/(k*roundingSlack)))*roundingSlack*roundingSlack, minRegulariser)
}

// tapered is the most of a price that can go into noise where a loss is straight where it is steep:
// the largest e' with, for each differing row,
//
//	beta + max over s of (beta s + ln(1 + 4 kappa s (1-s))) <= price/m,   beta = e'/(2m)
//
// where persons are substituted; without the first beta and with e'/m where they are added and
// removed. From 4 kappa <= beta on the maximum is beta, at s = 1, and all of it is noise.
func (p Problem) tapered(lambda, price float64) float64 {
	if !p.Tapered {
		return 0
	}
	m := float64(p.Rows)
	k := p.kappaOf(lambda) / m * roundingSlack
	low, _ := numeric.Bisect(0, price, 100, func(beta float64) bool {
		total := m * largestTaperedLoss(beta, k)
		if p.Neighbours == dp.Substitute {
			total += m * beta
		}
		return total*roundingSlack <= price
	})
	return low * float64(p.differingRows())
}

// largestTaperedLoss is the largest beta s + ln(1 + 4 k s(1-s)) for s from 0 to 1. With u = 1-2s
// the derivative is 0 where k beta u^2 - 4 k u - beta (1+k) = 0.
func largestTaperedLoss(beta, k float64) float64 {
	if beta >= 4*k || k == 0 {
		return beta
	}
	u := 0.0
	if beta > 0 {
		// The root that is not positive, without a difference of numbers that are close.
		u = math.Max(-1, -beta*(1+k)/(2*k+math.Sqrt(4*k*k+k*beta*beta*(1+k))))
	}
	s := (1 - u) / 2
	return (beta*s + math.Log1p(k*(1-u*u))) * roundingSlack
}

// maxTaperedRows is up to how many rows of a person the sums of a tapered loss are counted one by
// one.
const maxTaperedRows = 6

// taperedDelta bounds delta like [Problem.delta], without a Jacobian in the term that matters. c(s)
// = ln(1 + 4 kappa s(1-s)) is concave, and so below its tangents at 0, 1/2 and 1, which meet at s =
// x and 1-x, x = ln(1+kappa)/(4 kappa), at a height of ln(1+kappa). So each of the m rows that only
// this database has adds at most the largest of 0, x g + ln(1+kappa), (1-x) g + ln(1+kappa) and g,
// g being b.v/sigma^2, and each row that only the other has the larger of 0 and g.
func (p Problem) taperedDelta(lambda, sigma, epsilon float64) float64 {
	if !p.Tapered || p.Models != 1 || p.Rows > maxTaperedRows {
		return 1
	}
	m := p.Rows
	k := p.kappaOf(lambda) / float64(m) * roundingSlack
	height := math.Log1p(k) * roundingSlack
	x := height / (4 * k) // at most 1/4, but for the slack; rounded up where it is a length
	others := 0
	if p.Neighbours == dp.Substitute {
		others = m
	}
	unit, s := p.Slope*p.Radius*roundingSlack/sigma, p.Gradient()/sigma
	tau := epsilon - s*s/2
	if !(tau-float64(m)*height > 0) {
		return 1
	}
	total := 0.0
	for a := range m + 1 { // rows at x
		for b := range m - a + 1 { // rows at 1-x
			for c := range m - a - b + 1 { // rows at 1
				for v := range others + 1 {
					length := float64(a)*x + float64(b)*(1-x)*roundingSlack + float64(c+v)
					if length == 0 {
						continue
					}
					n := binomial(m, a) * binomial(m-a, b) * binomial(m-a-b, c) * binomial(others, v)
					mu := unit * length * roundingSlack
					left := tau - float64(a+b)*height
					total += n * numeric.Delta(mu, left+mu*mu/2).Upper
				}
			}
		}
	}
	return total * (1 + 1e-9)
}

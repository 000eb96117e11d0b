package utility

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Laplace is noise with density exp(-|x|/Scale)/(2 Scale).
type Laplace struct{ Scale float64 }

// Alpha returns Scale ln(1/beta): the noise is beyond it in absolute value with
// probability beta (Dwork, Roth 2014, Fact 3.7).
func (l Laplace) Alpha(beta float64) (float64, error) {
	if err := firstError(checkPositive("the scale", l.Scale), checkProbability(beta)); err != nil {
		return 0, err
	}
	return l.Scale * -math.Log(beta) * roundUpFactor, nil
}

// Variance returns 2 Scale^2.
func (l Laplace) Variance() (float64, error) {
	if err := checkPositive("the scale", l.Scale); err != nil {
		return 0, err
	}
	return 2 * l.Scale * l.Scale, nil
}

// Gaussian is normal noise with mean 0 and standard deviation Sigma.
type Gaussian struct{ Sigma float64 }

// Alpha returns Sigma times the two-sided quantile: P(|noise| > alpha) = beta.
func (g Gaussian) Alpha(beta float64) (float64, error) {
	if err := firstError(checkPositive("sigma", g.Sigma), checkProbability(beta)); err != nil {
		return 0, err
	}
	return g.Sigma * math.Sqrt2 * inverseErfc(beta) * roundUpFactor, nil
}

// Variance returns Sigma^2.
func (g Gaussian) Variance() (float64, error) {
	if err := checkPositive("sigma", g.Sigma); err != nil {
		return 0, err
	}
	return g.Sigma * g.Sigma, nil
}

// inverseErfc returns an x with erfc(x) <= beta that is larger than the least by at most some 1e-14
// of itself. The standard library's Erfcinv inverts 1 - beta, in which a small beta is lost.
func inverseErfc(beta float64) float64 {
	if beta < smallestBeta {
		// erfc(x) <= exp(-x^2) (Chernoff).
		return math.Sqrt(-math.Log(beta)) * roundUpFactor
	}
	if beta >= 0.5 {
		// 1 - beta is exact, and Erfinv is accurate to a few units in the last place.
		return math.Erfinv(1-beta) * roundUpFactor
	}
	// Newton's method on ln erfc, which is concave and falls faster than x^2, from
	// a point that is at most 3 too large: it converges from there on in a few steps.
	x := math.Sqrt(-math.Log(beta))
	for range 60 {
		e := math.Erfc(x)
		step := math.Log(e/beta) * e * math.Sqrt(math.Pi) / 2 * math.Exp(x*x)
		x += step
		if math.Abs(step) < 1e-15*x {
			break
		}
	}
	// Erfc is within one unit in the last place, so this certifies x.
	for math.Erfc(x)*(1+0x1p-50) > beta {
		x *= 1 + 0x1p-51
	}
	return x
}

// maxScale is the largest scale of noise on the integers that we answer for: with
// it every alpha is exact in a float64.
const maxScale = 0x1p40

func checkScale(name string, x, most float64) error {
	if err := checkPositive(name, x); err != nil {
		return err
	}
	if x > most {
		return fmt.Errorf("%w: %s is %v; write at most %v, or use the continuous law, which is as good there", errInput, name, x, most)
	}
	return nil
}

// DiscreteLaplace is noise on the integers, P(k) = (1-q)/(1+q) q^|k| with q = exp(-1/Scale).
type DiscreteLaplace struct{ Scale float64 }

// Alpha returns the smallest integer with P(|noise| > alpha) <= beta. The probability is 2
// q^(alpha+1)/(1+q), so alpha + 1 >= Scale (ln 2 - ln beta - ln(1+q)).
func (l DiscreteLaplace) Alpha(beta float64) (int64, error) {
	if err := firstError(checkScale("the scale", l.Scale, maxScale), checkProbability(beta)); err != nil {
		return 0, err
	}
	// ln(2/(1+q)) is written without cancellation; it is near 0 for wide noise.
	x := l.Scale * (-math.Log(beta) - math.Log1p(math.Expm1(-1/l.Scale)/2))
	return int64(math.Max(0, math.Ceil(x*roundUpFactor)-1)), nil
}

// Variance returns 2q/(1-q)^2 = 1/(2 sinh(1/(2 Scale))^2).
func (l DiscreteLaplace) Variance() (float64, error) {
	if err := checkScale("the scale", l.Scale, maxScale); err != nil {
		return 0, err
	}
	s := math.Sinh(1 / (2 * l.Scale))
	return 1 / (2 * s * s), nil
}

// DiscreteGaussian is noise on the integers, P(k) proportional to exp(-k^2/(2
// Sigma2)). Sigma2 is the parameter; the variance is slightly smaller.
type DiscreteGaussian struct{ Sigma2 float64 }

// maxSummedDeviation is the standard deviation up to which tails are summed term by term, which is
// exact however far out they are. There are some 40 terms to a standard deviation.
const maxSummedDeviation = 4096

// Alpha returns the smallest integer with P(|noise| > alpha) <= beta.
func (g DiscreteGaussian) Alpha(beta float64) (int64, error) {
	if err := firstError(checkScale("sigma^2", g.Sigma2, maxScale*maxScale), checkProbability(beta)); err != nil {
		return 0, err
	}
	l := numeric.NewLattice(g.Sigma2)
	// P(|noise| > k) <= 2 exp(-(k+1)^2/(2 Sigma2)), because the discrete Gaussian
	// is subgaussian (Canonne, Kamath, Steinke 2020): enough always.
	upper := int64(math.Ceil(l.S * math.Sqrt(2*(math.Ln2-math.Log(beta))) * roundUpFactor))
	switch {
	case beta < smallestBeta:
		return upper, nil
	case l.S <= maxSummedDeviation:
		return min(l.HalfWidth(beta), upper), nil
	}
	_, high := numeric.BisectWhole(-1, upper, func(k int64) bool { return !(l.TailBeyond(float64(k)) <= beta) })
	return high, nil
}

// Variance returns the exact variance. By Poisson summation it differs from
// Sigma2 by less than 1e-300 of itself from Sigma2 = 64 on.
func (g DiscreteGaussian) Variance() (float64, error) {
	if err := checkScale("sigma^2", g.Sigma2, maxScale*maxScale); err != nil {
		return 0, err
	}
	if g.Sigma2 >= 64 {
		return g.Sigma2, nil
	}
	l, sum := numeric.NewLattice(g.Sigma2), 0.0
	for k := l.Last(); k >= 1; k-- {
		sum += float64(k) * float64(k) * l.Weight(float64(k))
	}
	return 2 * sum / l.Z, nil
}

// SparseVector answers which of Queries questions, asked one after the other, are above a
// threshold, until Answers of them were. Each question has the given sensitivity. The form is Dwork
// and Roth's (2014, Algorithm 2): the threshold has Laplace noise of scale s, drawn again after
// each answer, and each question of scale 2s. With Answers = 1 it is their AboveThreshold.
type SparseVector struct {
	Epsilon, Delta, Sensitivity float64
	Queries, Answers            int
}

// Scale returns s: 2 c D/epsilon, or D sqrt(32 c ln(1/delta))/epsilon with a delta. For c = 1 it is
// 2D/epsilon whatever delta is, because one answer needs no composition.
func (v SparseVector) Scale() (float64, error) {
	if err := firstError(checkPositive("epsilon", v.Epsilon), checkPositive("the sensitivity", v.Sensitivity),
		checkAtLeast("the number of queries", v.Queries, 1), checkAtLeast("the number of answers", v.Answers, 1)); err != nil {
		return 0, err
	}
	if !(v.Delta >= 0 && v.Delta < 1) {
		return 0, fmt.Errorf("%w: delta is %v; write 0, or a probability such as 1e-6", errInput, v.Delta)
	}
	if v.Answers > v.Queries {
		return 0, fmt.Errorf("%w: there are %d answers to %d queries; write at most as "+
			"many answers as queries", errInput, v.Answers, v.Queries)
	}
	c := float64(v.Answers)
	if v.Delta == 0 || v.Answers == 1 {
		return 2 * c * v.Sensitivity / v.Epsilon, nil
	}
	return v.Sensitivity * math.Sqrt(-32*c*math.Log(v.Delta)) / v.Epsilon, nil
}

// Alpha returns 4 s (ln k + ln(2c/beta)): with probability at least 1 - beta no question that is
// reported above has a value below the threshold less alpha, and none that is reported below has a
// value above the threshold plus alpha, until it halts.
//
// For AboveThreshold that is 8 (ln k + ln(2/beta))/epsilon (Dwork, Roth 2014, Theorem 3.24), and
// for c answers 8 c (ln k + ln(2c/beta))/epsilon, or (ln k + ln(2c/beta)) sqrt(512 c
// ln(1/delta))/epsilon (Theorem 3.26). The proof: alpha/2 for each of the k question noises, of
// scale 2s, at beta/2 in all, and alpha/2 for each of the c threshold noises, of scale s, at beta/2
// in all. Nothing is assumed of the questions; the theorems' condition that few are near the
// threshold only says that it does not halt early.
func (v SparseVector) Alpha(beta float64) (float64, error) {
	s, err := v.Scale()
	if err := firstError(err, checkProbability(beta)); err != nil {
		return 0, err
	}
	c, k := float64(v.Answers), float64(v.Queries)
	return 4 * s * (math.Log(k) + math.Log(2*c) - math.Log(beta)) * roundUpFactor, nil
}

// BetaOfEachIndependent returns the beta at which each of k independent releases must hold so that
// all hold together with probability at least 1 - beta: exactly 1 - (1-beta)^(1/k), rounded down,
// computed without the cancellation. It is a little more than the beta/k of [BetaOfEach].
func BetaOfEachIndependent(k int, beta float64) (float64, error) {
	if err := firstError(checkAtLeast("the number of releases", k, 1), checkProbability(beta)); err != nil {
		return 0, err
	}
	if k == 1 {
		return beta, nil
	}
	return math.Max(-math.Expm1(math.Log1p(-beta)/float64(k))/roundUpFactor, beta/float64(k)/roundUpFactor), nil
}

// BetaOfEach is [BetaOfEachIndependent] for releases that may depend on one another, by the union
// bound.
func BetaOfEach(k int, beta float64) (float64, error) {
	if err := firstError(checkAtLeast("the number of releases", k, 1), checkProbability(beta)); err != nil {
		return 0, err
	}
	return beta / float64(k) / roundUpFactor, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// errInput is returned when a parameter is not one that the mechanism can have.
// The text says which, and what to write instead.
var errInput = errors.New("no such mechanism")

// checkPositive refuses what is not a positive, finite number.
func checkPositive(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 1) {
		return fmt.Errorf("%w: %s is %v; write a positive number", errInput, name, x)
	}
	return nil
}

// checkProbability refuses a beta that no alpha belongs to, and one that every alpha belongs to.
func checkProbability(beta float64) error {
	if !(beta > 0 && beta < 1) {
		return fmt.Errorf("%w: beta is %v; write a probability of failure above 0 and below 1, such as 0.05", errInput, beta)
	}
	return nil
}

// checkAtLeast refuses a number of things that is too small.
func checkAtLeast(name string, n, least int) error {
	if n < least {
		return fmt.Errorf("%w: %s is %d; write at least %d", errInput, name, n, least)
	}
	return nil
}

// roundUpFactor is what a value made of a few operations, each within one unit in the last
// place, is multiplied with so that it is not too small. It is 16 such units.
const roundUpFactor = 1 + 0x1p-48

// smallestBeta is a probability so small that sums of floating-point numbers do not hold it
// well; below it we use closed bounds, which are a little larger.
const smallestBeta = 1e-280

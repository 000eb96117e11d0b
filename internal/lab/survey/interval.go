package survey

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Population says what an estimate is about.
type Population int

const (
	// Fixed: the proportion among those who were asked. Only their coins are random.
	Fixed Population = iota
	// Sample: the proportion in the population from which those who were asked are a
	// random sample, drawn with replacement or much smaller than it.
	Sample
)

func (p Population) String() string {
	if p == Sample {
		return "sample"
	}
	return "fixed"
}

// minMissProbability is the smallest probability that intervals are made for.
const minMissProbability = 1e-12

// missProbability returns 1 - confidence.
func missProbability(confidence float64) (float64, error) {
	beta := 1 - confidence
	if !(beta >= minMissProbability && beta < 1) { // NaN too
		return 0, fmt.Errorf("%w, above 0 and at most 1 - 1e-12, not %v", errConfidence, confidence)
	}
	return beta, nil
}

// maxFixedPeople is the largest survey for which the sum of two binomials is evaluated.
// Beyond it an interval is that of wider.
const maxFixedPeople = 1 << 24

// interval inverts the two one-sided tests at beta/2. It returns proportions f in
// [0, 1]: the smallest at which so many reports or more, and the largest at which so
// many or fewer, are not too rare.
//
// Both laws of the count move up with f: those who hold x support it with p, the others with q, and
// p > q. So what is too rare for one f is for all below, or above, and bisection finds the end. A
// probability is within 1e-10 of itself; what is too rare by less than that is not thrown out, and
// of the two ends of the last step the outer one is returned.
func (r rates) interval(count, n int64, beta float64, of Population) [2]float64 {
	if of == Sample {
		return r.binomial(count, count, n, beta)
	}
	if n > maxFixedPeople {
		return r.wider(count, n, beta)
	}
	return r.ends(r.estimate(count, n), n, beta, Fixed, float64(n), func(f float64) float64 {
		own, rest := r.laws(f, n)
		return own.plusFrom(rest, count)
	}, func(f float64) float64 {
		own, rest := r.laws(f, n)
		return own.plusTo(rest, count)
	})
}

// laws are those of the supporting reports of the people who hold a value, f n of n, and of
// the others.
func (r rates) laws(f float64, n int64) (own, rest binomialLaw) {
	m := int64(math.Round(f * float64(n)))
	return newBinomialLaw(m, r.p), newBinomialLaw(n-m, r.q)
}

// wider is the interval of a Sample with one count to spare on both sides. It holds for every sum
// of n independent bits with the mean n (q + f(p-q)), also of bits that are not alike, as those of
// a Fixed population are not. From one above the mean on, such a sum reaches c with at most the
// probability of the binomial of the same mean (Hoeffding 1956, Theorem 4). A count that is too
// large by the binomial is above the mean rounded down, because a median is there or above, and
// with one to spare it is more than one above the mean.
func (r rates) wider(count, n int64, beta float64) [2]float64 {
	return r.binomial(count-1, count+1, n, beta)
}

// binomial inverts the tests of a binomial at the first count for the lower end and at
// the second for the upper one.
func (r rates) binomial(fewer, more, n int64, beta float64) [2]float64 {
	i := r.ends(r.estimate(fewer+(more-fewer)/2, n), n, beta, Sample, 0x1p40, func(f float64) float64 {
		return newBinomialLaw(n, r.q+f*r.gap).from(fewer)
	}, func(f float64) float64 {
		return newBinomialLaw(n, r.q+f*r.gap).to(more)
	})
	// A step is 2^-40, and products are rounded.
	return [2]float64{math.Max(0, i[0]-0x1p-40), math.Min(1, i[1]+0x1p-40)}
}

// ends looks for both ends, in so many steps from 0 to 1, by the probabilities of as many
// reports or more, and of as many or fewer.
func (r rates) ends(middle float64, n int64, beta float64, of Population, steps float64, above, below func(f float64) float64) [2]float64 {
	sd := math.Sqrt(r.Variance(math.Min(1, math.Max(0, middle)), n, of))
	level := beta / 2 * (1 - 1e-9)
	low := findEnd(middle, sd, steps, level, above)
	high := 1 - findEnd(1-middle, sd, steps, level, func(f float64) float64 { return below(1 - f) })
	return [2]float64{low, high}
}

// findEnd returns the smallest i/steps in [0, 1] at which an increasing probability is at
// least the level, or 1 where none is.
//
// In units of its standard deviation the count is nearly normal, so two steps of Newton's
// method on the normal quantile of the probability come near. That is a guess only: what
// is returned is found by comparing, from there on.
func findEnd(middle, sd, steps, level float64, probability func(f float64) float64) float64 {
	within := func(f float64) float64 { return math.Floor(math.Min(math.Max(f, 0), 1) * steps) }
	z := numeric.Quantile(level)
	i := within(middle - z*sd)
	for range 2 {
		if p := probability(i / steps); p > 0 && p < 1 {
			i = within(i/steps + (numeric.Quantile(p)-z)*sd)
		}
	}
	in := func(i float64) bool { return probability(i/steps) >= level }
	// As exact as a step, or a millionth of a standard deviation.
	least := math.Max(1, math.Floor(sd*steps*1e-6))
	var low, high float64 // not in, and in or the last
	if in(i) {
		for by := least; ; by *= 4 {
			if high = i; high == 0 {
				return 0
			}
			if i = math.Max(i-by, 0); !in(i) {
				low = i
				break
			}
		}
	} else {
		for by := least; ; by *= 4 {
			low = i
			if i = math.Min(i+by, steps); i == steps || in(i) {
				high = i
				break
			}
		}
	}
	for high-low > least {
		if mid := math.Floor((low + high) / 2); in(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	if least > 1 {
		return low / steps // the outer end
	}
	return high / steps
}

// binomialLaw is the binomial distribution, without the parts whose masses are below 1e-30 of
// the largest.
type binomialLaw struct {
	first int64
	mass  []float64 // of first, first+1, ...
}

// newBinomialLaw starts at the mode with weight 1 and multiplies outwards by (n-k)/(k+1) p/(1-p) or
// its inverse, and divides by the sum: no factorial and no logarithm. A mass that is m steps from
// the mode is within 8(m+1) units in the last place, and m is some 12 standard deviations at most.
func newBinomialLaw(n int64, p float64) binomialLaw {
	if n == 0 || p <= 0 {
		return binomialLaw{0, []float64{1}}
	}
	if p >= 1 {
		return binomialLaw{n, []float64{1}}
	}
	const smallest = 1e-30
	odds := p / (1 - p)
	mode := min(int64(float64(n+1)*p), n)
	mass := make([]float64, 0, int(24*math.Sqrt(float64(n)*p*(1-p)))+128)
	for k, w := mode, 1.0; k > 0; k-- {
		if w *= float64(k) / (float64(n-k+1) * odds); w < smallest {
			break
		}
		mass = append(mass, w)
	}
	first := mode - int64(len(mass))
	slices.Reverse(mass)
	mass = append(mass, 1)
	for k, w := mode, 1.0; k < n; k++ {
		if w *= float64(n-k) * odds / float64(k+1); w < smallest {
			break
		}
		mass = append(mass, w)
	}
	total := 0.0
	for _, w := range mass {
		total += w
	}
	for i := range mass {
		mass[i] /= total
	}
	return binomialLaw{first, mass}
}

func (l binomialLaw) from(k int64) float64 {
	if k <= l.first {
		return 1
	}
	sum := 0.0
	for i := int64(len(l.mass)) - 1; i >= k-l.first; i-- {
		sum += l.mass[i]
	}
	return sum
}

func (l binomialLaw) to(k int64) float64 {
	if k >= l.first+int64(len(l.mass))-1 {
		return 1
	}
	sum := 0.0
	for i := int64(0); i <= k-l.first; i++ {
		sum += l.mass[i]
	}
	return sum
}

// plusFrom is P(X + Y >= k) for an independent Y: as X goes up, what Y has to reach goes
// down, and the probability of that is a running sum, the small masses first.
func (l binomialLaw) plusFrom(y binomialLaw, k int64) float64 {
	sum, reach := 0.0, 0.0
	next := int64(len(y.mass)) - 1
	for i, p := range l.mass {
		for need := k - l.first - int64(i) - y.first; next >= need && next >= 0; next-- {
			reach += y.mass[next]
		}
		sum += p * reach
	}
	return sum
}

// plusTo is P(X + Y <= k) for an independent Y.
func (l binomialLaw) plusTo(y binomialLaw, k int64) float64 {
	sum, reach := 0.0, 0.0
	next := int64(0)
	for i := len(l.mass) - 1; i >= 0; i-- {
		for room := k - l.first - int64(i) - y.first; next <= room && next < int64(len(y.mass)); next++ {
			reach += y.mass[next]
		}
		sum += l.mass[i] * reach
	}
	return sum
}

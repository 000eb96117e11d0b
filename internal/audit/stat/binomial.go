package stat

import (
	"math"

	"github.com/discreet-dp/discreet/internal/root"
)

// tailSlack is what the tail of a binomial may be wrong by, relative to itself: the
// logarithms of factorials are within 2^-50 of themselves, and below 3e10 for a billion
// samples, the most that are drawn.
const tailSlack = 1e-4

// LowerBound returns a p such that k successes or more out of n have a probability of
// at most beta for all success probabilities below p (Clopper, Pearson 1934). It is
// rounded down.
func LowerBound(k, n int, beta float64) float64 {
	if k == 0 {
		return 0
	}
	low, _ := root.Halve(0, float64(k)/float64(n), 60, func(p float64) bool { return binomialTail(k, n, p) <= beta*(1-tailSlack) })
	return low
}

// UpperBound is LowerBound for the failures.
func UpperBound(k, n int, beta float64) float64 { return 1 - LowerBound(n-k, n, beta) }

// binomialTail is P(X >= k) for p <= k/n. From k on each term is smaller than the one before, by
// a factor that falls too, so the sum ends where a term no longer counts.
func binomialTail(k, n int, p float64) float64 {
	if p <= 0 {
		return 0
	}
	odds := p / (1 - p)
	sum, term := 1.0, 1.0
	for i := k; i < n; i++ {
		term *= float64(n-i) / float64(i+1) * odds
		sum += term
		if term < 1e-12*sum*(1-float64(n-i)/float64(i+1)*odds) {
			break
		}
	}
	return sum * math.Exp(logChoose(n, k)+float64(k)*math.Log(p)+float64(n-k)*math.Log1p(-p))
}

func logChoose(n, k int) float64 { return logFactorial(n) - logFactorial(k) - logFactorial(n-k) }

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

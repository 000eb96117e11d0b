package holdout

import "math"

// laplaceAccuracy is how near answers with Laplace noise are to the sample: P(|Lap(s)| > a) =
// exp(-a/s), for all k.
func laplaceAccuracy(noise, queries float64) func(miss float64) float64 {
	return func(miss float64) float64 { return noise * math.Log(math.Max(1, queries/miss)) }
}

// gaussianAccuracy is the same for Gaussian noise: P(|N| > x sigma) <= exp(-x^2/2).
func gaussianAccuracy(sigma, queries float64) func(miss float64) float64 {
	return func(miss float64) float64 { return sigma * math.Sqrt(2*math.Log(math.Max(1, queries/miss))) }
}

// thresholdTail is a w with P(Lap(2s) + Lap(4s) > w) <= p: the tail of the sum is (2/3)
// exp(-w/(4s)) - (1/6) exp(-w/(2s)).
func thresholdTail(noise, p float64) float64 { return 4 * noise * math.Log(math.Max(1, 2/(3*p))) }

// thresholdOf is the threshold that [Plan] speaks of. Half of beta is for the two samples, which
// differ by at most sqrt(ln(4k/beta)/n) (Hoeffding with 2n people), and half for the noise of all
// questions.
func thresholdOf(n, noise float64, w Wish) float64 {
	if w.Threshold > 0 {
		return w.Threshold
	}
	return math.Sqrt(math.Log(4*w.Queries/w.Beta)/n) + thresholdTail(noise, w.Beta/(2*w.Queries))
}

// thresholdAccuracy is how near the answers of Thresholdout are to the sample. Half of the
// probability is for training values, each of which was within T + Z - N of it, and half for
// answers with noise.
func thresholdAccuracy(noise, threshold float64, w Wish) func(miss float64) float64 {
	return func(miss float64) float64 {
		return math.Max(threshold+thresholdTail(noise, miss/(2*w.Queries)), laplaceAccuracy(noise, w.Answers)(miss/2))
	}
}

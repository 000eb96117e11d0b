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

// thresholdOf is the threshold that [Plan] speaks of: the smallest that we can prove to let, with
// probability 1 - beta, no question be answered from the holdout that does not overfit, of all k.
//
// One that does not has |h - t| = |G|, where G is the difference of two means over n people each,
// all drawn alike. It is answered from the holdout where |G| + N - Z >= T. With Z of scale 2s and N
// of scale 4s, P(N - Z > w) = (2/3) x - (1/6) x^2 with x = exp(-w/(4s)) for w >= 0, and is at most
// (2/3) x for every w: below 0 it is 1 - (2/3) y + (1/6) y^2 with y = 1/x, and 2/3 minus y times
// that is 2/3 - y + (2/3) y^2 - (1/6) y^3, which falls to 1/6 at y = 1. A round that has lasted
// alarms no more often than that ([mech.Above.Alarmed]). So both of these do, and the smaller is
// taken:
//
//   - half of beta for G, which is beyond sqrt(ln(4k/beta)/n) for none of k (Hoeffding), and half
//     for the noise: 4s ln(4k/(3 beta)) more;
//   - both at once. E exp(r G) <= exp(r^2/(4n)) (Hoeffding's lemma, for 2n people who count 1/n),
//     so with r = 1/(4s) the probability is at most (2/3) exp(-T/(4s)) 2 exp(1/(64 s^2 n)), which is
//     beta/k at T = 4s ln(4k/(3 beta)) + 1/(16 s n).
func thresholdOf(n, noise float64, w Wish) float64 {
	if w.Threshold > 0 {
		return w.Threshold
	}
	samples := math.Min(math.Sqrt(math.Log(4*w.Queries/w.Beta)/n), 1/(16*noise*n))
	return samples + 4*noise*math.Log(4*w.Queries/(3*w.Beta))
}

// thresholdAccuracy is how near the answers of Thresholdout are to the sample, all of them at once:
// T + w, but with probability miss. The union is over the B rounds and not over questions.
//
// Proof. A training value that is farther than T + w from the mean over the holdout is confirmed in
// a round with probability P(Z - N > w) at most, however many questions the round has: the first
// that is so far off either ends it, or is confirmed by its own fresh noise ([mech.Above.Missed]).
// The one answer that ends it is farther than T + w off with probability exp(-(T + w)/s). With x =
// exp(-w/(4s)) the first is at most (2/3) x, and the second exp(-T/s) x^4, which is at most
// exp(-T/s) x. There are B rounds, because B answers end them. So miss is B (2/3 + exp(-T/s)) x.
func thresholdAccuracy(noise, threshold float64, w Wish) func(miss float64) float64 {
	each := w.Answers * (2.0/3 + math.Exp(-threshold/noise))
	return func(miss float64) float64 { return threshold + 4*noise*math.Log(math.Max(1, each/miss)) }
}

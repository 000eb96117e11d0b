package mech

import (
	"math"
	"math/big"
)

// Missed bounds the probability that a round answers "below" about anything that is at least margin
// above its threshold: about any one of its questions, however many there are, and whoever chose
// them by what they heard before. It is a statement about the noise, free, made before the round is
// opened; privacy does not rest on it. It is reached by whoever asks about nothing else.
//
// # Proof
//
// Call a question far where value >= threshold + margin. Whether it is depends on the data and on
// what was asked and answered before it, and not on its own noise. Let the first far question of
// the round be the one with the noise N. For each i, that the i-th is this one is decided by Z and
// by the noise of those before it, of which N_i is independent, so (Z, N) has the law of Z and of
// an independent noise of a question: nothing is conditioned on, and Z is as it was drawn. (A round
// without such a question misses none; let N be one more draw there.) Now
//
//   - either it is answered "above". Then the round is over, and no far question was missed;
//   - or it is answered "below", which takes value + N < threshold + Z, so Z - N > margin.
//
// So the round misses something with probability P(Z - N > margin) at most: one term for a round,
// and no union over questions. It is no statement about a round that has lasted: one whose Z is
// large lasts longer.
//
// A comparison whose answer nobody saw and nobody wrote down, because a process died, is made again
// with another N. It does not count, as long as dying does not depend on how it came out.
//
// # The law
//
// With p = exp(-1/a) for the scale a of Z, q = exp(-1/b) for the scale b of N, and margin m:
//
// One-sided, Z > m + N has, by the sum over N, the probability
//
//	sum over n >= 0 of (1-q) q^n p^(m+n+1) = p^(m+1) (1-q)/(1-pq),
//
// which is exp(-(m+1) e1/D) times about (e2/2)/(e1 + e2/2): a large Z alone does not miss the
// question, its own noise must be small besides.
//
// Two-sided, P(Z > k) is p^(k+1)/(1+p) for k >= -1 and 1 - p^-k/(1+p) below, and N = n has
// (1-q)/(1+q) q^|n|. The sum has three parts: n >= 0, n from -m to -1, and n < -m, which add up to
//
//	(1-q)/((1+q)(1+p)) (p^(m+1)/(1-pq) + p S) + q^(m+1)/(1+q) (1 - p (1-q)/((1+p)(1-pq))),
//
// where S is the sum of q^j p^(m-j) over j from 1 to m. Nothing in either is a small difference of
// large numbers, so that each is right to about (m/a + m/b) 2^-50; 1e-9 is added, and 1e-300, below
// which nothing is claimed.
func (a *Above) Missed(margin int64) float64 {
	if margin < 0 {
		return 1
	}
	z, n := a.Parameters()
	return a.beyond(z, n, margin)
}

// Alarmed bounds the probability that one question is answered "above" whose value is at least
// short below its threshold, given that the round comes to it. For several questions it is one term
// for each.
//
// Proof. The round comes to question i where all before it were answered "below", so what is asked
// then is decided. Given Z the probability of that rises with Z, and that of "above" at question i
// falls with Z. So the expectation over Z of their product is at most the product of their
// expectations (Chebyshev's sum inequality): a round that has lasted has fewer false alarms and not
// more. The second is P(N >= Z + short), which is the law of [Above.Missed] with Z and N exchanged.
func (a *Above) Alarmed(short int64) float64 {
	if short < 1 {
		return 1
	}
	z, n := a.Parameters()
	return a.beyond(n, z, short-1)
}

// beyond bounds P(X - Y > m) from above for the noise X and Y of two scales, and m >= 0.
func (a *Above) beyond(x, y *big.Rat, m int64) float64 {
	tail := missedLaplace
	if a.config.OneSided {
		tail = missedGeometric
	}
	xa, _ := x.Float64()
	yb, _ := y.Float64()
	return math.Min(1, tail(xa, yb, float64(m))*(1+1e-9)+1e-300)
}

// missedGeometric is P(Z - N > m) for geometric Z and N of scales a and b.
func missedGeometric(a, b, m float64) float64 {
	return math.Exp(-(m+1)/a) * math.Expm1(-1/b) / math.Expm1(-1/a-1/b)
}

// missedLaplace is the same for discrete Laplace noise.
func missedLaplace(a, b, m float64) float64 {
	p, q := math.Exp(-1/a), math.Exp(-1/b)
	q1, pq1 := -math.Expm1(-1/b), -math.Expm1(-1/a-1/b) // 1-q, 1-pq
	// The geometric sum, from its largest term on.
	sum := 0.0
	if m > 0 {
		sum = m
		if r := math.Abs(1/a - 1/b); r > 0 {
			sum = math.Expm1(-m*r) / math.Expm1(-r)
		}
		sum *= q * math.Exp(-(m-1)/math.Max(a, b))
	}
	return q1/((1+q)*(1+p))*(math.Exp(-(m+1)/a)/pq1+p*sum) + math.Exp(-(m+1)/b)/(1+q)*(1-p*q1/((1+p)*pq1))
}

package holdout

import "math"

// MaxInformation bounds, in bits, the max-information of a purely epsilon-private analysis about a
// sample of n people, of any distribution: epsilon n log2 e (Dwork, Feldman, Hardt, Pitassi,
// Reingold, Roth 2015, "Generalization in adaptive data analysis and holdout reuse", on pure
// epsilon).
func MaxInformation(n, epsilon float64) float64 {
	if !(n >= 1 && epsilon >= 0) {
		return math.Inf(1)
	}
	return epsilon * n * math.Log2E
}

// ApproximateMaxInformation bounds, in bits, the beta-approximate max-information of a purely
// epsilon-private analysis about n people who were drawn independently: log2 e (epsilon^2 n/2 +
// epsilon sqrt(n ln(2/beta)/2)) (the same, for product distributions), or [MaxInformation] where
// that is less.
func ApproximateMaxInformation(n, epsilon, beta float64) float64 {
	pure := MaxInformation(n, epsilon)
	if !(beta > 0 && beta < 1) {
		return pure
	}
	return math.Min(pure, math.Log2E*(epsilon*epsilon*n/2+epsilon*math.Sqrt(n*math.Log(2/beta)/2)))
}

// InformationTolerance is the smallest tolerance that so many queries have, all at once and with
// probability 1 - beta, where each was chosen by an analysis of epsilon: what has probability p for
// a fixed query has 2^bits p + beta' for a chosen one, and Hoeffding's inequality gives p = 2
// exp(-2 n t^2). Half of a query's share of beta is for beta'; with pure max-information there is
// no beta', and where that is better it is taken.
func InformationTolerance(n, epsilon, queries, beta float64) float64 {
	if !(n >= 1 && epsilon >= 0 && queries >= 1 && beta > 0 && beta < 1) {
		return math.Inf(1)
	}
	share := beta / queries
	at := func(bits, p float64) float64 { return math.Sqrt((math.Log(2/p) + bits*math.Ln2) / (2 * n)) }
	return math.Min(at(MaxInformation(n, epsilon), share), at(ApproximateMaxInformation(n, epsilon, share/2), share/2))
}

// CorrectedP is the p-value that is left of p when the test was chosen by an analysis with so many
// bits of beta-approximate max-information about the sample: 2^bits p + beta. At 1 or more nothing
// is left of it. Beta is 0 where the max-information is not approximate.
func CorrectedP(p, bits, beta float64) float64 {
	if !(p >= 0 && p <= 1 && bits >= 0 && beta >= 0 && beta <= 1) {
		return 1
	}
	if p == 0 {
		return beta // also where 2^bits is not finite
	}
	return math.Min(1, math.Exp2(bits)*p+beta)
}

// TestLevel is the other way round: the level to test at so that false discoveries have probability
// alpha at most, (alpha - beta)/2^bits. It is 0, and no test passes, where beta is alpha or more.
func TestLevel(alpha, bits, beta float64) float64 {
	if !(alpha > 0 && alpha <= 1 && bits >= 0 && beta >= 0 && beta < alpha) {
		return 0
	}
	return (alpha - beta) * math.Exp2(-bits)
}

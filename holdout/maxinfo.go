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

// InformationTolerance is the smallest tolerance t that so many queries have, all at once and with
// probability 1 - beta, where all were chosen by one purely epsilon-private analysis of n people
// who were drawn independently:
//
//	2 n t^2 = ln(2k) + (epsilon sqrt(n/8) + sqrt(ln(1/beta)))^2,
//
// or ln(2k/beta) + epsilon n, by [MaxInformation], where that is less. For one query it is about
// epsilon/4 + sqrt(ln(2/beta)/(2n)).
//
// Proof. Let S be the sample, Y what came of the analysis, and L = P(Y|S)/P(Y). Fix y, and write L
// as the product over people of r_i = P(y|S_1..S_i)/P(y|S_1..S_(i-1)), where those to come are
// averaged over. They are independent, so, given those before, r_i has the mean 1, and its
// logarithm X_i is in an interval of length epsilon, because another value of one person changes
// P(y|S) by a factor within exp(epsilon) whatever the others are. Therefore E r_i^a <= exp(a (a-1)
// epsilon^2/8) for a > 1: ln E exp(a X_i) is 0 at a = 0 and at a = 1, and its second derivative,
// which is the variance of something in that interval, is at most epsilon^2/4. (That is bounded
// range: Cesar, Rogers 2021.) From the last person to the first, E L^a <= exp(a (a-1) n
// epsilon^2/8) for a sample that is independent of y, for every y.
//
// So whatever event of S and Y has the probability Q where S is independent of Y has, by Hoelder's
// inequality, P = E[L; event] <= (E L^a)^(1/a) Q^(1-1/a) <= exp((a-1) n epsilon^2/8) Q^(1-1/a)
// where it is not. That is at most beta where ln(1/Q) >= a (n epsilon^2/8 + ln(1/beta)/(a-1)),
// which is smallest, the square above, at a - 1 = sqrt(8 ln(1/beta)/n)/epsilon. The event that one
// of the queries is off by more than t has Q <= 2k exp(-2 n t^2), because queries that do not
// depend on the sample are fixed (Hoeffding, and a union).
//
// The theorem on beta-approximate max-information, [ApproximateMaxInformation], gives the same with
// epsilon^2 n/2 for epsilon^2 n/8 and less of beta.
func InformationTolerance(n, epsilon, queries, beta float64) float64 {
	if !(n >= 1 && epsilon >= 0 && queries >= 1 && beta > 0 && beta < 1) {
		return math.Inf(1)
	}
	sure := -math.Log(beta)
	root := epsilon*math.Sqrt(n/8) + math.Sqrt(sure)
	return math.Sqrt((math.Log(2*queries) + math.Min(root*root, sure+epsilon*n)) / (2 * n))
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

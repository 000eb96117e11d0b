package holdout

import (
	"math"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// The bounds of this package are about means of values from 0 to 1 over n people who were drawn
// independently from one distribution, and say how far, at most, an answer is from the mean over
// the distribution: a tolerance. They are computed in floating point, for planning; they calibrate
// no noise.
//
// An argument that makes no sense (n below 1, a probability that is none) gives a tolerance or a
// probability that promises nothing, and is not an error: whoever asks sees that it is vacuous.

// IsVacuous reports that a tolerance, or a probability of failing, promises nothing: no two means
// of values from 0 to 1 are farther apart than 1, and nothing fails more often than always. NaN
// promises nothing either.
func IsVacuous(bound float64) bool { return !(bound < 1) }

// Hoeffding is the tolerance that means over n people have, all of the queries at once and with
// probability 1 - beta, where the queries were fixed before anybody saw the data:
// sqrt(ln(2k/beta)/(2n)) (Hoeffding 1963, Theorem 2, and a union over the queries). It says nothing
// about a query that was chosen by earlier answers.
func Hoeffding(n, queries, beta float64) float64 {
	if !(n >= 1 && queries >= 1 && beta > 0 && beta < 1) {
		return math.Inf(1)
	}
	return math.Sqrt(math.Log(2*queries/beta) / (2 * n))
}

// Splitting is the tolerance of answering every query on a part of the people of its own, n/k of
// them: the part is fresh whatever the earlier answers were, so it is Hoeffding's bound at n/k.
func Splitting(n, queries, beta float64) float64 {
	if !(queries >= 1) {
		return math.Inf(1)
	}
	return Hoeffding(math.Floor(n/queries), queries, beta)
}

// Naive is the tolerance of exact means over the same people for queries that are chosen by earlier
// answers. For one query it is Hoeffding's. For more there is none: an analyst who asks for n means
// can know everybody's data, and ask next for the mean of "is in the data", which is 1 here and
// near 0 elsewhere.
func Naive(n, queries, beta float64) float64 {
	if queries > 1 {
		return 1
	}
	return Hoeffding(n, queries, beta)
}

// Generalisation bounds the probability that the mean of a query over the sample is farther than
// the tolerance from that over the distribution, where the query was chosen by an analysis that is
// epsilon-differentially private in the sample:
//
//	epsilon <= sqrt(t^2 - ln 2/(2n))  gives  P(|mean over P - mean over S| > t) <= 3 sqrt 2 exp(-n t^2)
//
// (Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015, "Preserving statistical validity in
// adaptive data analysis", the theorem on pure epsilon). Where epsilon is larger it says nothing,
// and 1 is returned.
func Generalisation(n, epsilon, tolerance float64) float64 {
	if !(n >= 1 && epsilon >= 0 && tolerance > 0) || epsilon*epsilon > tolerance*tolerance-math.Ln2/(2*n) {
		return 1
	}
	return math.Min(1, 3*math.Sqrt2*math.Exp(-n*tolerance*tolerance))
}

// GeneralisationTolerance is the smallest tolerance at which [Generalisation] gives all of so many
// queries a probability of beta at most.
func GeneralisationTolerance(n, epsilon, queries, beta float64) float64 {
	if !(n >= 1 && epsilon >= 0 && queries >= 1 && beta > 0 && beta < 1) {
		return math.Inf(1)
	}
	return math.Sqrt(math.Max(math.Log(3*math.Sqrt2*queries/beta)/n, epsilon*epsilon+math.Ln2/(2*n)))
}

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

// Transfer is the transfer theorem of Jung, Ligett, Neel, Roth, Sharifi-Malvajerdi, Shenfeld 2019,
// for (epsilon, delta): a mechanism that is (epsilon, delta)-differentially private and whose
// answers are all within accuracy of the means over the sample, but with probability miss, has
// answers that are all within the tolerance of the means over the distribution, but with
// probability beta, for every c and g above 0:
//
//	tolerance = accuracy + (exp(epsilon) - 1) + c + 2g,  beta = miss/c + delta/g.
//
// With delta 0 there is no need of g, which may be 0.
func Transfer(accuracy, miss, epsilon, delta, c, g float64) (tolerance, beta float64) {
	if !(accuracy >= 0 && miss >= 0 && epsilon >= 0 && delta >= 0 && c > 0 && g >= 0) || delta > 0 && g == 0 {
		return math.Inf(1), 1
	}
	beta = miss / c
	if delta > 0 {
		beta += delta / g
	}
	return accuracy + math.Expm1(epsilon) + c + 2*g, math.Min(1, beta)
}

// Transferred is the smallest tolerance that was found, with what it takes.
type Transferred struct {
	Tolerance, Epsilon, Delta float64
	// Miss is the probability at which the accuracy was taken, and C and G are the theorem's.
	Miss, C, G float64
}

// BestTransfer looks for the miss, the delta, and the c and g that make the tolerance of [Transfer]
// smallest at a given beta. What it returns holds whether or not it is the smallest.
//
// Accuracy is how near answers are to the sample, but with the given probability; epsilon is what
// the mechanism costs at a delta, which may be 0 where it has a pure claim and is +Inf there where
// it has none. Of beta, a share pays for miss/c and the rest for delta/g, so c and g follow.
func BestTransfer(accuracy, epsilon func(float64) float64, beta float64) Transferred {
	if !(beta > 0 && beta < 1) {
		return Transferred{Tolerance: math.Inf(1), Epsilon: math.Inf(1)}
	}
	at := func(share, delta float64) Transferred {
		b := lowestArgument(beta*1e-12, beta, func(b float64) float64 { return accuracy(b) + b/(share*beta) })
		t := Transferred{Epsilon: epsilon(delta), Delta: delta, Miss: b, C: b / (share * beta)}
		if delta > 0 {
			t.G = delta / ((1 - share) * beta)
		}
		t.Tolerance, _ = Transfer(accuracy(b), b, t.Epsilon, delta, t.C, t.G)
		return t
	}
	best := at(1, 0)
	for _, share := range []float64{0.1, 0.5, 0.9} {
		delta := lowestArgument(beta*1e-15, beta, func(d float64) float64 { return math.Expm1(epsilon(d)) + 2*d/((1-share)*beta) })
		if t := at(share, delta); t.Tolerance < best.Tolerance || math.IsNaN(best.Tolerance) {
			best = t
		}
	}
	return best
}

// lowestArgument returns where a function that falls and then rises is lowest, between two numbers
// above 0, as near as half of a per cent.
func lowestArgument(from, to float64, f func(float64) float64) float64 {
	// Of two that are infinite the larger argument is nearer to what is finite: more noise, more
	// delta.
	low, high := numeric.Minimise(func(x float64) float64 { return f(math.Exp(x)) }, math.Log(from), math.Log(to), 0.005)
	return math.Exp((low + high) / 2)
}

package holdout

import "math"

// The bounds of this package are about means of values from 0 to 1 over n people who were drawn
// independently from one distribution, and say how far, at most, an answer is from the mean over
// the distribution: a tolerance. They are computed in floating point, for planning; they calibrate
// no noise.
//
// An argument that makes no sense (n below 1, a probability that is none) gives a tolerance or a
// probability that promises nothing, and is not an error: whoever asks sees that it is vacuous.

// Vacuous reports that a tolerance, or a probability of failing, promises nothing: no two means of
// values from 0 to 1 are farther apart than 1, and nothing fails more often than always. NaN
// promises nothing either.
func Vacuous(bound float64) bool { return !(bound < 1) }

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

// Package stat bounds the privacy loss of a mechanism from below by running it. It
// knows nothing of how the mechanism works: a million outcomes on each of two
// neighbours are all it sees, so that it finds what no proof looks at.
//
// # The bound
//
// Where a mechanism is (epsilon, delta)-private, every event S has P(S) <=
// exp(epsilon) Q(S) + delta. So for an event that was fixed before, a lower confidence
// bound p on P(S) and an upper one q on Q(S) give
//
//	epsilon >= ln((p - delta)/q)
//
// except with the probability that one of the two bounds is wrong (Ding, Wang, Wang, Zhang, Kifer
// 2018; Jagielski, Ullman, Oprea 2020). Where the mechanism is mu-Gaussian private, the same event
// gives mu >= Phi^-1(p) - Phi^-1(q) (Dong, Roth, Su 2022, Section 2).
//
// The event is chosen with one half of the samples and bounded with the other, which has
// no part in the choice. So the choice can be as greedy as it likes, and a poor
// one costs power and never truth. The bounds are those of Clopper and Pearson 1934,
// which hold for every number of samples, without a normal approximation.
//
// # Power
//
// At epsilon = 1 with Laplace noise, the best event has probabilities near 0.73 and 0.27. From
// 500,000 outcomes on each side and an error probability of 1e-6 the bound is below the truth by
// 0.016, give or take a standard deviation of 0.0025. A scale that is 5 % short, epsilon 1.0526, is
// then 14 deviations beyond what would hide it. The tests plant it.
//
// # Agreement
//
// [Fit] compares outcomes to the law that the mechanism should have: by the inequality
// of Dvoretzky, Kiefer, Wolfowitz with the constant of Massart 1990, and outcome by
// outcome with binomial tails. Both hold for every number of samples.
//
// # Limits that are raised
//
// [StoppingDelta] plays an owner who raises a limit in the worst way against what is stated of it.
package stat

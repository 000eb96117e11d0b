// Package utility says how accurate a mechanism is, before it is run: for every mechanism the alpha
// such that the error is at most alpha with probability at least 1 - beta.
//
// # Rules
//
//   - Everything here is computed from public numbers, so it costs no privacy. The
//     exceptions are the functions that take scores or the number of people who hold
//     a one: they are for studying mechanisms on data that is not private, and
//     their results must not be shown where the scores are.
//   - An alpha is never too small. Where a value is exact up to rounding, as most are, it
//     is rounded outwards by 1e-12 of itself or less.
//   - An alpha over the integers is the smallest integer, except where beta is
//     within some 1e-10 of itself to the probability at an integer below, which
//     it then may have skipped.
//   - Several releases: [BetaOfEachIndependent] for independent noise, [BetaOfEach] for any.
//
// Noise on numbers: [Laplace], [Gaussian], [DiscreteLaplace], [DiscreteGaussian]. Answers that
// people randomize themselves: [RandomizedResponse]. Choosing one of a set: [Selection]. Which of
// many questions are above a threshold: [SparseVector].
package utility

// Package noise draws exact samples on the integers, and real numbers of which as many
// digits exist as somebody needs. It is the only package of Discreet that holds randomness.
//
// # Distributions
//
//	Laplace       P(k) ~ exp(-|k|/b)               b in [2^-20, 2^40]
//	Geometric     P(k) ~ exp(-k/b)                 b in [2^-20, 2^40], k >= 0
//	Gaussian      P(k) ~ exp(-k^2/(2 sigma^2))     sigma^2 in [2^-40, 2^80]
//	BernoulliExp  P(true) = exp(-x)                x >= 0
//	Uniform       P(k) = 1/n                       0 <= k < n
//	Pick          P(i) ~ counts[i] exp(-r gaps[i])
//	Flip          P(keep i) = exp(-r gaps[i])
//	Below         P(k) = 1/n                       0 <= k < n, for a secret n
//	NewNormals    density ~ exp(-|x|^2/2)          x in R^n, real numbers
//	NewRadial     density ~ exp(-|x|)              x in R^n, |x| the Euclidean norm
//
// Parameters are exact rationals. That adding the first to an integer is private is shown by Ghosh,
// Roughgarden, Sundararajan 2009, and for the Gaussian by Canonne, Kamath, Steinke 2020, who also
// have exact samplers for both. Geometric noise alone is not private, because what it is added to
// is never above the sum: it is for comparisons with noise on both sides (mech.AboveThreshold).
//
// # The lattice
//
// Noise on real numbers has to be rounded somewhere, and the rounding of
// floating-point numbers tells what was rounded (Mironov 2012). Here values are
// integers, in steps of a granularity that the policy makes public, before the
// noise is added, and integers after it. There is nothing to round.
//
// [Reals] are real numbers, and are not rounded as floating-point numbers are either: what is
// known of one is an interval between two fractions, and it can be made as short as
// somebody wants. [Reals.Round] makes it so short that the nearest integer is
// certain. Adding that to an integer is rounding the real sum, which is post-processing of it.
//
// # What is exact
//
// The theorems are about the distributions above, so these are what is drawn, not approximations of
// them. A draw that does not fit in an int64 becomes 2^63-1 or -(2^63-1). The probability of that
// is at most 2 exp(-2^63/2^40), less than exp(-2^22), for Laplace, and far less for the Gaussian.
// Every other k comes with exactly its probability.
//
// Exactness rests on three arguments and on one assumption: the bits of crypto/rand
// are independent and uniform. Where that package cannot deliver, it ends the
// program, and so no noise is ever made of bad bits.
//
// # First argument: blocks
//
// Write a magnitude as W h + u with 0 <= u < W, where W is a power of two. The
// weight of W h + u is the product of
//
//	exp(-rate (W h)^p)                         the weight of block h, and
//	exp(-rate ((W h + u)^p - (W h)^p))         a number in (0, 1],
//
// with p = 1 and rate = 1/b, or p = 2 and rate = 1/(2 sigma^2). So: draw block h in proportion to
// its weight, draw u uniformly, keep both with the second factor as probability, and start over
// otherwise. Then (h, u) is kept in proportion to the weight of W h + u, whatever W is. Give it a
// random sign, and start over on minus zero, so that zero does not count twice. As W is between a
// sixteenth and an eighth of the scale (of b, of sigma), few blocks matter, and nineteen of twenty
// pairs are kept. The samplers of Canonne, Kamath, Steinke 2020 draw from the same distributions by
// longer chains of Bernoulli trials.
//
// For scales below 16, W is 1. Nothing is left to keep or to refuse, and blocks
// other than 0 weigh double instead, once for each sign.
//
// # Second argument: refinement
//
// Two decisions have probabilities that are not fractions: which block (or weight, in Pick) a
// uniform number U falls into, when they are laid side by side in [0, 1), and whether U < exp(-x).
// Both ask where U lies among real numbers that can be computed to any precision. U is drawn digit
// by digit. After n digits U is known to lie in an interval of length 2^-n, and where that interval
// is on one side of the real number, so is U, and no further digit can change it. Digits that are
// not drawn do not exist yet, so deciding early is the same as deciding with all of them.
//
//   - First come 11 or 8 digits and a look-up or a comparison with 1 - x.
//   - Then 32 digits and 64-bit fixed point. Every fixed-point value comes with
//     a bound on its error, proven beside the code, and is only believed that far.
//   - Last, about once in ten million draws, come 64 digits, 128, and so on, and
//     interval arithmetic on integers of growing length, until the digits decide.
//
// The tables of fixed-point values end where about 2^-30 is left. The
// distributions do not: what lies beyond is drawn by the interval arithmetic,
// which goes as far as the digits require. The refinement ends with probability
// one; that it has not ended after n digits has a probability of about 2^-n.
//
// # Third argument: comparisons
//
// Real numbers are drawn without computing any function: uniform numbers are compared with each
// other, and one of them is kept. A comparison draws digits of both until they differ, as in the
// second argument, so it is that of the whole numbers. What is kept is one of the uniform numbers
// with the digits that it has, and all digits that it does not have yet are uniform and independent
// of everything, because no comparison has asked for them. They are drawn when somebody asks, and
// never change.
//
//   - A coin of probability exp(-x): how long does x > u1 > u2 > ... go on? At least j
//     times with probability x^j/j!, so an even number of times with the
//     probability 1 - x + x^2/2 - ... = exp(-x) (von Neumann 1951).
//   - An exponential number: keep a uniform x with that coin; add one for every refusal.
//   - A normal number: Karney 2016, "Sampling exactly from the normal distribution",
//     Algorithm N. The magnitude is k + x; k comes with weight exp(-k^2/2) out of coins of
//     probability exp(-1/2), and x is kept with exp(-x(2k + x)/2) out of k + 1 coins.
//   - A radial vector: length times direction, the sum of n exponential numbers times
//     z/|z| for n normal numbers z. Sum, root and quotient are intervals of integers
//     in units of the last digit, and every operation rounds outwards.
//
// Digits are drawn 64 at a time, of all numbers of a vector in their order. So neither how
// many are asked for at once nor in which steps changes any number.
//
// No floating-point number decides anything. Variance returns one, for reports.
//
// # Checks
//
// The tests walk through every way a draw can go, with the production code, and compare the sum of
// the probabilities with the definition. They find samplers that count zero twice, that are off by
// one, that cut off the tail beyond the tables, or whose rate is wrong by a part in a billion.
//
// The ways of a real number are the outcomes of its comparisons. The tests integrate the
// probability of each, as a polynomial in the number that is kept, and hold the sum against exp(-x)
// and exp(-x^2/2), between what was found and what was not followed. They find a forgotten refusal,
// a slope that is off by one part, and a coin that is turned over. Digits, norms and directions are
// tested as samples besides.
//
// # Concurrency and timing
//
// A distribution does not change once it is made, and many goroutines may draw from it, each with a
// Source of its own. How long a draw takes depends on the public parameter and on the random bits,
// and on nothing else: noise is drawn without knowing what it will be added to. Somebody who could
// time a single draw to the nanosecond would learn something about that noise: draw for a whole
// answer at once, and release it at once.
//
// Pick, Flip and Below are for parameters that are private. They draw a number of
// bits that does not depend on these, but for the refinement, and take the same
// steps for all of them as far as a processor lets us say so.
package noise

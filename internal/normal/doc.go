// Package normal computes tails of the standard normal distribution, and the
// privacy of Gaussian noise, with small relative error far into the tail; and tails of the discrete
// Gaussian.
//
// A delta of 1e-12 that is wrong by 1e-15 is fine and one that is wrong by
// 1e-12 is no guarantee at all, so every bound here is relative. Differences of
// distribution functions, 1 - Phi(x), lose all digits beyond x = 8; here
// everything is a product of positive parts:
//
//	density(x) = exp(-x^2/2)/sqrt(2 pi)
//	Mills(x)   = Tail(x)/density(x) = integral over t > 0 of exp(-x t - t^2/2)
//	Tail(x)    = density(x) Mills(x)
//
// # Error bounds
//
// The bounds below hold wherever the result is a normal float64. They are
// measured against 60-digit references over the whole range, and at least four
// times what was seen:
//
//	Tail, Mills, LogTail      relative error at most 2^-48 (Mills for x >= -8)
//	Quantile, LogQuantile     relative error at most 2^-48
//	Delta                     a bracket of relative width 2^-41
package normal

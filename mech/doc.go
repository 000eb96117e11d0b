// Package mech turns exact integer vectors into noisy ones and says what that
// costs and how wrong the result may be.
//
// # The promise
//
// Let f map databases to integer vectors, and let s bound how far f moves
// between neighbouring databases, in lattice steps. For a mechanism m made from
// s, the result of [Releaser.Release] on f satisfies every claim of m's Cost:
//
//   - [Laplace] (s in the l1 norm): P(noise = k) ~ exp(-|k|/b) with b = D1/epsilon.
//     It is epsilon-differentially private (Dwork, McSherry, Nissim, Smith 2006, Theorem 1)
//     and rho-zCDP for the rho of rhoOfLaplace.
//   - [Gaussian] (s in the l2 norm): P(noise = k) ~ exp(-k^2/(2 sigma^2)) with
//     sigma^2 = D2^2/(2 rho). It is rho-zCDP (Canonne, Kamath, Steinke 2020,
//     Theorem 4; Theorem 14 for vectors), and no pure claim is made.
//
// What the promise rests on, by number:
//
//  1. The scale handed to the sampler is an exact rational, and the sampler is
//     exact (package noise). No floating-point number meets a private value.
//  2. Every coordinate has noise of its own.
//  3. All noise of a release is drawn before the first value is looked at. How much
//     randomness is used depends on the mechanism, the length and chance, never on a value.
//  4. Values enter as an [Exact], which cannot be printed, and Release is the only
//     function of the project that opens one to answer somebody.
//  5. A bound in the wrong norm is an error, not a conversion.
//
// # Error bars
//
// HalfWidth(beta) is a k with P(|noise| > k) <= beta for the discrete
// distribution itself, not for its continuous limit. [HalfWidthOfSum] is the
// same for weighted sums of independent noises and [RatioInterval] for a
// quotient. These functions compute in floating point with all errors counted
// on one side: a stated half width is never too small. They read scales and
// noisy values only, so they are free.
package mech

// Package mech turns exact integer vectors into noisy ones, chooses among public candidates by
// exact scores, and says what that costs and how wrong the result may be.
//
// # The promise
//
// Let f map databases to integer vectors, and let s bound how far f moves
// between neighbouring databases, in lattice steps. For a mechanism m made from
// s, the result of [Releaser.Release] on f satisfies every claim of m's Cost:
//
//   - [Laplace] (s in the l1 norm): P(noise = k) ~ exp(-|k|/b) with b = D1/epsilon.
//     It is epsilon-differentially private (Dwork, McSherry, Nissim, Smith 2006, Theorem 1)
//     and rho-zCDP for the rho of rhoOfLaplace, which rests on how far each number moves where s
//     says so ([dp.NewL1Each]).
//   - [Gaussian] (s in the l2 norm): P(noise = k) ~ exp(-k^2/(2 sigma^2)) with
//     sigma^2 = D2^2/(2 rho). It is rho-zCDP (Canonne, Kamath, Steinke 2020,
//     Theorem 4; Theorem 14 for vectors), and no pure claim is made.
//   - [NewRadial] (s in the l2 norm): round(b) for a real vector b of density
//     exp(-|b|/s), up to a constant, with s = D2/epsilon. It is epsilon-differentially private
//     (Hardt, Talwar 2010; Chaudhuri, Monteleoni, Sarwate 2011), because x + round(b) =
//     round(x + b) for integer x. Its coordinates depend on each other.
//
// What the promise rests on, by number:
//
//  1. The scale handed to the sampler is an exact rational, and the sampler is
//     exact (package noise). No floating-point number meets a private value.
//  2. Every coordinate has noise of its own, and every release has.
//  3. All noise of a release is drawn before the first value is looked at. How much
//     randomness is used depends on the mechanism, the length and chance, never on a value.
//  4. Values enter as an [Exact], which cannot be printed, and the methods of
//     [Releaser] are the only functions of the project that open one to answer somebody.
//  5. A bound in the wrong norm is an error, not a conversion.
//
// # Selection
//
// A [Selector] chooses one element of a public set by integer scores, of which
// each moves by at most D = [Scoring].Sensitivity between neighbours. Let b =
// 2D/epsilon, or b = D/epsilon where all scores move the same way.
//
//   - [NewExponential]: P(i) ~ exp(s_i/b). Pure epsilon, and epsilon^2/8-zCDP.
//   - [NewPermuteAndFlip]: uniformly among those that win a coin of probability
//     exp((s_i - max)/b). Pure epsilon, never worse, but no better than
//     epsilon tanh(epsilon/2)-zCDP in general. [ChooseSelector] chooses between them.
//   - [NewNoisyMax]: the first of the highest s_i + noise. Pure epsilon.
//   - [TopK]: one of these, again and again, without what has been chosen.
//   - [Quantiles]: Exponential on the points of a lattice, scored by rank.
//
// Here the randomness is drawn with the scores at hand, because they are its
// parameters. Items 1 and 4 hold as above, and in place of 2 and 3:
//
//  6. How many random bits are drawn depends on the number of candidates, which is
//     public, and on chance. An extra word is drawn with a probability below 2^-20 for a
//     million candidates, and whether it is then needed can depend on a score.
//  7. No error depends on a score. Scores out of a range are clamped where a mechanism
//     needs a range, which moves neighbours no farther apart.
//  8. Only the index leaves, never the score or the noisy score of the chosen.
//
// How long a selection takes depends on the number of candidates, and by a few
// nanoseconds for each on the scores. [Releaser.ReleaseQuantiles] sorts private values, and
// under add-remove their number is private too; so its time is no secret kept here.
// A server answers at a time that does not depend on it.
//
// # Sessions, keys and bounds
//
//   - [Sparse]: any number of questions "is this at or above that?" in one session,
//     priced in full when it is opened, which ends with the c-th "above". All noise
//     of a question is drawn before its value is looked at.
//   - [AboveThreshold]: one round of that, until the first "above", for sessions that pay round by
//     round and outlive their process.
//   - [KeyThreshold] and [KeySelection]: which group keys may leave, where the keys
//     themselves are private. One function is both the test and the tail that delta
//     pays for.
//   - [Bounds]: a range of powers of two for a column whose range is not known.
//
// # Several numbers together
//
// What is shown may be made of other integers that are released with Gaussian noise, so that the
// numbers share their price better, and agree with each other:
//
//   - [Residuals]: marginals of one table, as of GROUP BY CUBE, from the residuals of all sets below
//     them ([Releaser.ReleaseMarginals]).
//   - [RunningTotals]: a sequence of which running totals are made ([Releaser.ReleaseRunningTotals]).
//
// The proof of each is that of the Gaussian mechanism, at the sensitivity of what is released; the
// rest is post-processing. [MarginalNoise] has the error bars.
//
// # Noise that is not added
//
// [Releaser.DrawReals] draws real noise for a function that is minimised (objective
// perturbation). No claim is made of it here: that is the part of package learn.
//
// # Error bars
//
// HalfWidth(beta) is a k with P(|noise| > k) <= beta for the discrete distribution itself, not for
// its continuous limit. [HalfWidthOfSum] is the same for weighted sums of independent noises and
// [RatioNoise] for a quotient; [RatioInterval] is wider, and takes noises that depend on each
// other. These functions compute in floating point with all errors counted on one side: a stated
// half width is never too small. They read scales and noisy values only, so they are free.
package mech

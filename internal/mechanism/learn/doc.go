// Package learn trains linear classifiers and regressions under differential privacy: from what is
// public alone a [Plan] with its exact price ([Prepare]), and from a [Table] of rows a [Model] that
// is private at that price ([Fit]). The curator charges the price between the two, and lets an
// engine fill the table in between (package training).
//
// # What is trained
//
//	F(w) = sum over the rows of a_i phi(w.x_i, y_i) + (Lambda/2) |w|^2
//
// with phi the logistic or the Huber loss for classes, and squares, straight from a residual on,
// for numbers. More than two classes are one model each, against the rest. It is a sum and not a
// mean: Lambda is 1/C of other libraries, and nothing depends on the number of rows, which is
// private unless the policy says otherwise.
//
// # From a row to features
//
// All of it follows from public declarations ([Encoding]) and is total, so that no row can make an
// error. A number is clamped to its public bounds and scaled to [-1, 1]; a missing one is 0, the
// middle. A category is a 1 in the place of its value and 0 elsewhere; a value that is not
// declared, and a missing one, is 0 everywhere. Then comes the 1 of the intercept, and only then is
// the row clipped to the radius R: an intercept that is appended after clipping, or that is not
// regularised, has no guarantee. A number that is the target is clamped and scaled in the same way.
// A row without a target is left out, as if it were not in the table. The weights a_i of classes
// are public and divided by the largest, so that none is above 1.
//
// Every row therefore has |x| <= R, proven for the float32 numbers that it consists of (package
// learn/solve), and adds a gradient of at most G R.
//
// # Methods
//
// Let neighbours differ in the rows of one person, at most m on either side, and S = m G R, or 2 m
// G R where a person is substituted, be how far the gradient of the sum moves.
//
//   - [Objective]: the minimiser of F(w) + b.w for a random vector b, rounded to a lattice.
//     Theorems and calibration: calibrate.go. b consists of real numbers, drawn digit by
//     digit as they are needed (package noise), and what is released is the rounded minimiser of
//     the real function, decided by proven bounds and with as many digits as that takes (package
//     learn/solve). So the theorem for real numbers is the one that holds, with the price that it
//     says and nothing charged to delta for the arithmetic. Pure budgets: b has density
//     exp(-|b|/s). Others: b is normal; with a delta, radial noise is taken where it is shorter.
//   - [Output]: a point at which the gradient of F is at most gamma long, proven by outward
//     rounding, is rounded to whole steps, and noise is added to the whole numbers: radial for pure
//     budgets (mech.radial), the discrete Gaussian for others. Theorem: see newOutput. No minimiser
//     needs to be exact, because gamma is in the sensitivity.
//   - [Minima]: Gaussian objective perturbation, minimised to a gamma that is proven, and then a
//     little discrete Gaussian noise for what is missing. Theorem: see newMinima. It is here to be
//     compared with: Objective has no use for the second noise.
//   - [Auto] takes Objective; and Output where the regulariser that was asked for is too small for
//     Objective. It looks at no data, and says why.
//
// A regulariser that nobody gave follows from the price, so the default needs no tuning. Where
// several are given ([Spec].Tune) each is trained on a part of the rows, and one is chosen
// privately; see tuning for the theorem, and splitter for what makes the parts independent of each
// other. Which of the parts a row is in depends on the row and its copies alone.
//
// An estimate of the accuracy on the training rows ([Spec].Evaluate) is two noisy counts; see
// calibrateEvaluation.
//
// # The price
//
// [Plan].Cost is exact in units of account: the sum of what the weights of all models, the choice
// among regularisers and the estimate cost. It is known before any row is read. All noise is drawn
// by a mech.Releaser, from values that are sealed or from nothing. How long a training takes
// depends on the data, as with every engine.
//
// # What is not proven
//
// That the rows are the table's: that is the engine's part. And progress is for the owner: how many
// steps a minimisation takes depends on the rows.
package learn

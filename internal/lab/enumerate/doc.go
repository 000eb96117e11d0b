// Package enumerate computes what a mechanism loses between two neighbours from the probabilities
// of its outcomes. Nothing is estimated: a mechanism whose outcomes can be counted has a law that
// can be written down, and the privacy loss is a maximum or a sum over it.
//
// A [Law] lists outcomes with the logarithms of their probabilities, and bounds the
// mass of all that it does not list. What is left out counts against the attack and
// never for it: [Loss], [Delta].Lower, [Epsilon] and [Renyi] are lower bounds on the
// loss whatever the unlisted outcomes are. For the laws of this package they are the
// loss itself, up to rounding, because beyond the listed outcomes the ratio of two
// probabilities is constant (Laplace) or has a weight that rounding hides (Gaussian).
//
// The laws are written from the definitions of the literature and not from the code
// that samples them, so that the two can disagree. Package stat compares them. A [Finding]
// is what an audit says of one claim.
//
// Computations are in float64. All sums are of positive terms, so a relative error
// is a few units in the last place for each term, below 1e-10 for the laws here; a
// claim is refuted where the loss is above it by more than Rounding.
package enumerate

// RoundingError is the relative error that a computed loss is allowed.
const RoundingError = 1e-9

// MaxReportedLoss is reported where the loss is infinite, because documents have no infinity.
// It is a lower bound like any other, and no mechanism of use has such a loss.
const MaxReportedLoss = 1e6

// Package holdout is Thresholdout, the reusable holdout (Dwork, Feldman, Hardt, Pitassi, Reingold,
// Roth 2015, Figure 1), and what differential privacy says about generalisation. The curator opens
// one [Session] for each holdout of a policy, on its ledger as the host, and brings the two scores
// of a question sealed (package holdoutsession).
//
// An analyst has training data, and asks how well something does on a holdout that only the curator
// has. Whoever asks a plain holdout often enough, and goes on by its answers, fits it as well as
// the training data. Thresholdout answers with the training value as long as the holdout does not
// contradict it, and with noise where it does, and it does that B times at most.
//
// # The mechanism
//
// A score is a mean over n people of values from 0 to 1. With a threshold T and noise of scale s,
// both in units of a score:
//
//	Z ~ Lap(2s)
//	for each question, of training value t and holdout value h:
//	    refuse where B answers have come from the holdout
//	    N ~ Lap(4s)
//	    if |h - t| + N >= T + Z:  answer h + Lap(s), and draw a new Z
//	    else:                     answer t
//
// It is done on integers. Values are whole numbers from 0 to Steps, h is a sum of them, and a scale
// of x in units of a score is one of x n Steps on this lattice. T, and t where it is compared, are
// rounded to the nearest step, half a step at most; the answer t is what was sent. An answer from
// the holdout is clamped to 0 and 1, which is post-processing and brings it no farther from the
// truth.
//
// # Theorem
//
// A round, which is all questions up to and including the next answer from the holdout, is
// e-differentially private with
//
//	e = e1 + e2 + e3 = 1/(2sn) + 1/(2sn) + 1/(sn) = 2/(sn),
//
// and B rounds with B e = 2B/(sn), however the questions are chosen, as the paper has it with the
// same constants.
//
// Proof. Somebody's value moves the sum h by D = Steps at most, so |h - t| moves by D at most, t
// being public. A round up to its "above" is AboveThreshold with Z of scale D/e1 and N of scale
// 2D/e2 on the lattice, which costs e1 + e2 ([mech.AboveThreshold] has the proof). D/e1 = 2s n
// Steps and 2D/e2 = 4s n Steps give e1 = e2 = 1/(2sn). The answer has Laplace noise of scale D/e3 =
// s n Steps, so costs e3 = 1/(sn). Both are of the same database, so the costs add; and so do those
// of rounds, each being chosen after all before it (sums of pure epsilon are a valid filter:
// Rogers, Roth, Ullman, Vadhan 2016). An answer t, a refusal, and the same answer again are
// functions of what was released.
//
// The three amounts are rounded down to units of account, and the noise is calibrated to the
// rounded ones: it is never smaller than declared, and never costs more than the theorem says. The
// rho of a round is the sum of those of its two mechanisms. The noise is the same whatever is
// counted.
//
// # Charging
//
// A round is charged whole, when its first question comes, before its Z is drawn. What is not
// needed is not charged: a holdout that was never contradicted has cost one round. See package
// session for what happens when a process dies.
//
// # What it is good for
//
// See [Plan]: at a size of 10,000 the theorems on generalisation promise nothing for the parameters
// at which it works well in practice. Where nothing is promised ([PromisedTolerance]) it can be
// fitted by trying: a vote of random guesses, weighted by what the holdout said of them, is
// confirmed far above one half on labels that are coins.
package holdout

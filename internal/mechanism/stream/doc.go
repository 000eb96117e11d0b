// Package stream answers many correlated questions on one budget: the median mechanism of Roth and
// Roughgarden (2010), in its iterative form. The curator opens one [Session] for each stream of a
// policy, on its ledger as the host and with an engine as the [Loader] (package streamsession).
//
// A stream is declared by a public finite domain, how far answers may be off (Alpha, a share of
// Size), the probability that any of them is further off (Beta), and for how many different
// questions. Each question is a linear query: a weight for every cell, from 0 to Steps, added up
// over people. A predictor, which sees what was released and nothing else, guesses the answer. A
// round of AboveThreshold compares the guess with the truth. Where it is close the guess is the
// answer, free; where it is far the round ends with a noisy answer, which is paid for, and from
// which the predictor learns.
//
// # Privacy
//
// Everything that depends on data is one of three things, each of which is charged to the
// [session.Host] before data is looked at:
//
//   - a round: [mech.AboveThreshold], of any number of comparisons up to the first "far", and the one answer
//     that follows it, with Laplace noise, or Gaussian noise under zCDP. Its comparisons are of
//     |q(D) - guess|, which moves between neighbours by no more than q(D), that is by Steps,
//     whether a person comes, goes or is exchanged;
//   - a plain answer, with noise of the same kind;
//   - a marginal: the counts of all combinations of values of one or more attributes, with noise. A
//     person is in one of these disjoint sets, so that the vector moves by one (by one in two
//     places, where a person is exchanged).
//
// What is chosen next, and whether the budget lets it happen, depends on released answers and
// public state alone. So the composition is adaptive and sequential, and the sum of what was
// charged bounds the loss: a host is a privacy filter, and streams and other sessions interleave
// with each other and with ordinary queries, because open rounds are interactive mechanisms and
// these compose like others, with prices that are chosen on the way (Vadhan, Wang 2021; Haney,
// Shoemate, Tian, Vadhan, Vyrros, Xu, Zhang 2023). Everything else (guesses, cached and free
// answers given that no alarm went off, the choice of a way, [Session.Synthetic]) is
// post-processing.
//
// # Accuracy
//
// All answers but those marked [Unchecked] are within floor(Alpha Size Steps) of the truth, all of
// them together with probability 1 - Beta. The first guess of a round that is too far off ends it,
// or is missed by its own noise and that of the threshold, and no others have to be thought of: the
// union is over what is paid for, not over what is asked. The proof stands where the noise is
// chosen, in calibrate.go, and its part on rounds at [mech.AboveThreshold.MissProbability].
//
// # Cost
//
// Whatever its predictor does, a stream never costs more than 1.2 times the exact-match cache,
// which pays for each different question and repeats its answers. It buys only what is within that,
// at every moment, so that it begins with plain answers and buys other things from what these leave
// of 1.2:
//
//   - First the marginals of single attributes, at the price of one plain answer each, which
//     explain most of real data; under zCDP, where a round is dear, those of pairs too.
//   - Then rounds, as long as one costs less than the declared questions that are left, and rounds
//     have paid for themselves so far.
//   - After an alarm, the marginal of the attributes of the question that set it off, or where that
//     is large those of its pairs, at the price of two plain answers: where one prediction about
//     them was wrong others will be, and an alarm costs six.
//   - With an [Ensemble], a plain answer without a test where its candidates disagree by more than
//     the error.
//
// So it finds by itself that under zCDP with few questions plain answers are cheapest: a round
// costs 150 times as much there, and is never opened.
//
// Marginals answer nothing. They are learned, so that they need no accuracy, and have no share of
// Beta.
//
// With the predictor [Halving], an alarm removes at least half of the candidate databases, so that
// there are at most log2 of their number of them, with probability 1 - Beta. That is for databases
// of exactly Size people, as under substitution; where Size is only about how many there are, as
// under add-remove neighbours, the true database is not among the candidates, the bound is not
// proven, and privacy is the same. The other predictors have no such theorem and are cheaper on
// real data. [Auto] is [Weights], which was the cheapest on every stream that we measured. The
// measurements are tests, and print their figures:
//
//	go test ./internal/mechanism/stream -run TestCovid -v
//	go test ./internal/mechanism/stream -run TestAdult -v -args -adult adult.data.gz,adult.test.gz
//	go test ./internal/mechanism/stream -run TestLarge -v -args -large 2000
//
// # The journal
//
// A stream is a function of its journal: what it would pay and answer is the same after a restart.
// A charge that is not in the journal was seen by nobody, and what it pays for is drawn again. The
// entry of an open round has the secret noise of its threshold; see [session]. One journal is for
// one Session at a time. Where an entry could not be written the journal is read anew before the
// next question, as if the stream had been opened again.
package stream

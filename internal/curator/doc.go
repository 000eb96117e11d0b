// Package curator is the choke point: the only place where an exact aggregate
// and the ledger meet. The privacy argument is read here, in mech and in plan, and
// nowhere else.
//
// A question goes through it in this order, and in no other:
//
//  1. prepare: the text is checked against the policy (plan), and so is a query
//     around the answers (engine/outer). What cannot be asked is refused here, free of charge.
//  2. price: everything that is released gets its mechanism, calibrated to its sensitivity (mech).
//     The price is a function of the text, the settings and the policy, never of the data.
//  3. recall: an answer already paid for, to the same private query with the same
//     noise on the same data, is given again, the same numbers, free.
//  4. charge: the cost of all that is not remembered is spent, in one charge, in the dataset's account
//     and in the analyst's, in both or in neither, and is on stable storage before the next step.
//  5. run: the engine computes exact integers, which stay sealed.
//  6. release: noise is added, groups are chosen, private keys are released. From here on everything
//     is post-processing.
//  7. keep: what was released is stored before anybody sees it.
//  8. finish: averages, variances, HAVING, ORDER BY, LIMIT, error bars and the query around, on noisy values.
//
// If step 5, 6 or 7 fails the charge stays, and the error says nothing about the data.
//
// # What is released
//
//   - Counts and sums: noise on the vector of all groups ([mech.Mechanism]), at tree.Query.Sensitivity.
//   - Quantiles: [mech.Quantiles] for each group by itself. Neighbours differ in at most T groups, so T times the
//     price of a group is charged, and a group gets the share over T (pricing).
//   - The best groups: [mech.TopK], where a score moves by the largest weight times what one person adds.
//   - Private keys: [mech.KeyThreshold] on the number of people, or [mech.KeySelection] where nothing else is asked for; and
//     then everything above for the keys that were shown and for no others. Their delta is charged.
//
// # Sessions
//
// A session of the sparse vector ([Curator.OpenSparse]) is charged for in full when it is opened, in the same order: prepare, price, charge. Its questions are then
// prepared, run and answered, and nothing of them is recalled or kept: the noise of a session is in memory, and is gone with it.
//
// # Holdouts
//
// A holdout ([Curator.AskHoldout]) is shared by all analysts of the dataset and charged round by round, by the first question of each; the noise of an open round,
// every answer and the board are notes of the ledger, so that it outlives the process.
//
// # Streams
//
// Counts over the columns of a stream of the policy (package stream) may go through it: steps 4 to 7 are then the session's, round by round, in the same order. A charge is on stable storage
// before the engine counts the people in the cells, which it does once for each version of the data (openStream.load); the noise of a round's threshold is in the journal before anything is
// compared with it, and an answer before anybody sees it (package session). Which way a question goes follows from the text, the settings and what was released, and from nothing
// else: the stream is taken where it costs at most what the question by itself would (route.cheaper). A stream is shared by all analysts; each pays for what they cause (host).
//
// # Models
//
// A training ([Curator.Train]) goes the same way. The engine hands rows, sealed, to a table of package learn that nobody can print; learn.Fit draws the noise and returns a model, which is kept before
// anybody sees it. A training that failed by itself is kept as a failure of its charge, so that noise is never drawn twice for one charge because of how the first turned out.
//
// # What an answer promises
//
// The exact value of a count or a sum is within its error bar with the probability that the answer says. What is
// computed of several noisy numbers has a bar by interval arithmetic, which is at least as sure, or none. Quantiles have
// none: how far a rank is in values only the data knows. No value is NaN, infinite or a negative zero.
//
// Which version of the data it is about is said by a number, and by the owner's name for it where there is one. The
// engine's own name may be a hash of the contents, and goes no further than to the ledger, which keys it.
package curator

// Package curator is the choke point: the only place where an exact aggregate
// and the ledger meet. The privacy argument is read here, in mech and in plan, and
// nowhere else.
//
// A question goes through it in this order, and in no other:
//
//  1. prepare: the text is checked against the policy (plan), and so is a query
//     around the answers (engine/postquery). What cannot be asked is refused here, free of charge.
//  2. price: everything that is released gets its mechanism, calibrated to its sensitivity (mech).
//     The price is a function of the text, the settings and the policy, never of the data.
//  3. recall: an answer already paid for, to the same private query with the same
//     noise on the same data, is given again, the same numbers, free. What was kept for the
//     request's own charge comes first, so that a request has one answer.
//  4. charge: the cost of all that is not remembered is spent, in one charge, in the dataset's
//     account and in the analyst's, in both or in neither, and is on stable storage before the next
//     step.
//  5. run: the engine computes exact integers, which stay sealed.
//  6. release: noise is added, groups are chosen, private keys are released. From here on
//     everything is post-processing.
//  7. keep: what was released is stored before anybody sees it; for its request alone, where the
//     data moved while it was computed.
//  8. finish: averages, variances, HAVING, ORDER BY, LIMIT, error bars and the query around, on
//     noisy values. It may be made while step 7 waits for a disk, and is shown after it.
//
// If step 5, 6 or 7 fails the charge stays, and the error says nothing about the data.
//
// # Parts
//
// A planner makes statements of questions and prices them; a verifier derives once more what they
// claim; a cashier charges; a runner is the only way to the engine; a releaser adds noise;
// incidents takes in what fails. A request is one question on its way through them.
//
// What follows from text and policy is package pricing's; what is made of released values is that
// of answers, which see neither data nor the ledger; answercache keeps what was released, and
// budgets reads the accounts. What a question needs comes from one of four sources, tried in order:
// answers that were kept, public keys, a stream, and the engine ([answerSource]). What has no rows,
// whatever the data is, needs none of them, and is answered by its columns after step 1.
//
// Sparse vectors, streams, holdouts and trainings are packages of their own (sparsesession,
// streamsession, holdoutsession, training). They go the same way, in the same order, and have of
// the curator what package sessionhost says: they charge, run, note and fail by its methods, and
// have no engine.
//
// # What is released
//
//   - Counts and sums: noise on the vector of all groups ([mech.Mechanism]), at
//     tree.Query.Sensitivity.
//   - The sets of a GROUP BY of people with one row each, on budgets that add up rho: one table, run
//     once, and all sets as its marginals ([mech.Residuals]). They are bought together or not at all.
//     Groups of which running totals are made: a sequence ([mech.RunningTotals]).
//   - Quantiles: [mech.Quantiles] for each group by itself. Neighbours differ in at most T groups,
//     so T times the price of a group is charged, and a group gets the share over T (pricing).
//   - The best groups: [mech.TopK], where a score moves by the largest weight times what one person
//     adds.
//   - Private keys: [mech.KeyThreshold] on the number of people, which is shown where it is asked
//     for, [mech.KeyWeights] where somebody may have several, or [mech.KeySelection] where
//     nothing else is asked for; and then everything above for the keys that were shown and for no
//     others. Their delta is charged.
//
// # What an answer promises
//
// The exact value of a count or a sum is within its error bar with the probability that the answer
// says. Of counts that decide whether their private key is shown that is so for all keys together,
// those that are hidden too, and the answer says it. What is computed of several noisy numbers has
// a bar by interval arithmetic, which is at least as sure, or none. Quantiles have none: how far a
// rank is in values only the data knows. No value is NaN, infinite or a negative zero.
//
// Which version of the data it is about is said by a number, and by the owner's name for it where
// there is one. The engine's own name may be a hash of the contents, and goes no further than to
// the ledger, which keys it.
package curator

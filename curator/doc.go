// Package curator is the choke point: the only place where an exact aggregate
// and the ledger meet. The privacy argument is read here, in mech and in plan, and
// nowhere else.
//
// A question goes through it in this order, and in no other:
//
//  1. prepare: the text is checked against the policy (plan). What cannot be
//     asked is refused here, free of charge.
//  2. price: every measure gets its noise, calibrated to its sensitivity (mech).
//     The price is a function of the text and the policy, never of the data.
//  3. recall: an answer already paid for, to the same private query with the same
//     noise on the same data, is given again, the same numbers, free.
//  4. charge: the cost is spent in the dataset's account and in the analyst's, in both or in
//     neither, and is on stable storage before the next step.
//  5. run: the engine computes exact integers, which stay sealed.
//  6. release: noise is added. From here on everything is post-processing.
//  7. keep: the noisy integers are stored before anybody sees them.
//  8. finish: averages, HAVING, ORDER BY, LIMIT and error bars, on noisy values.
//
// If step 5, 6 or 7 fails the charge stays, and the error says nothing about the data.
package curator

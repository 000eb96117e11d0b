// Package ledger says what a ledger of privacy charges promises: what it takes,
// what it answers, and how it fails. The package sqlite below it keeps one in a
// single file.
//
// A ledger knows who asked, when, for which data, at what cost, and the noisy
// answer that was released for it. It never sees data or the text of a query.
//
// # Promises
//
//  1. Charged before release. Charge and Keep return without an error only
//     after what they wrote is on stable storage.
//  2. Never over budget. A charge is admitted by every account it names or
//     spends nothing in any of them, also when many arrive at once. A refusal
//     leaves the accounts open for smaller charges.
//  3. Once per request. A request identifier is charged once and has at most one
//     answer, however often it is sent; used for another question it is refused.
//  4. Spent never decreases. There is no refund. Costs that claim nothing, claim
//     zero or do not fit are refused, and sums saturate.
//  5. One order. Records are numbered 0, 1, 2, ... without a gap, are only ever
//     appended, and each contains the hash of the one before. The answers that were kept
//     are bound by their own hash.
//  6. Killed at any moment, there is never an answer that was not paid for. The
//     other way round can happen: a charge whose answer was never released. The
//     same request may then be answered, once, without a second charge.
//  7. Damage is noticed. A ledger that does not check from its first to its last
//     record is not opened, and not changed.
//  8. One writer at a time. The lock dies with the process that holds it.
//  9. A full disk or a failing one forgets nothing spent and releases nothing
//     unpaid. After a write whose fate is not known the ledger does no more work
//     until it is opened again.
//  10. Independent of the clock. The time is recorded and decides nothing.
//
// What is not promised: a ledger that is replaced as a whole by an older copy of
// itself is a good ledger, only a forgetful one, and so is one whose last
// records were removed by somebody who also rewrote the head. Only a position and a
// hash kept elsewhere (see [Ledger.Head]) can tell. The chain is a guard against
// accidents and for auditors who kept a head; it is no signature.
//
// # Records
//
// A record is a sequence of netstrings, "length:bytes,": the length in decimal
// counts the bytes, so that no two different records have the same
// encoding, and a person can still read it. Numbers are decimal without leading
// zeros; amounts count units of 2^-40, and 18446744073709551615 is an unbounded one.
// Times are RFC 3339 in UTC. Its hash is the SHA-256 of these bytes, in
// lower-case hexadecimal, which any other program can recompute.
//
//	ledger    "ledger" sequence(0) time format("1") identity
//	charge    "charge" sequence time request analyst dataset data-version
//	          query mechanisms epsilon rho delta
//	          number-of-accounts
//	            { name limit-epsilon limit-rho limit-delta
//	                   spent-epsilon spent-rho spent-delta }
//	          previous-hash
//	answer    "answer" sequence time charge key answer-hash previous-hash
//
// The first record is the only one of kind ledger. Its identity is random, so no
// record of one ledger fits into another. The amounts spent are those after the
// charge. An answer record names the charge that paid for it and the SHA-256 of the
// answer, whose bytes are stored beside the chain.
package ledger

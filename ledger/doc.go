// Package ledger says what a ledger of privacy charges promises: what it takes,
// what it answers, and how it fails. The package sqlite below it keeps one in a
// single file, the package postgres in a database that several servers share, and the package
// anchor keeps what tells an old copy of it from the ledger itself.
//
// A ledger knows who asked, when, for which data, at what cost, and the noisy answer that was
// released for it. It never sees data or the text of a query. For interactive mechanisms it also
// keeps what they have to know after a restart.
//
// # Promises
//
// Each has tests that are named after it, TestPromise1 and so on, in the packages that keep it.
//
//  1. Charged before release. Charge, Keep and Enter return without an error only after what they
//     wrote is on stable storage.
//  2. Never over budget. A charge is admitted by every account it names or spends nothing in any of
//     them, also when many arrive at once. A refusal leaves the accounts open for smaller charges.
//  3. Once per request. A request identifier is charged once and has at most one answer, however
//     often it is sent; used for another question it is refused, and so it is where it was charged
//     in a window that has ended and has no answer.
//  4. Spent never decreases. There is no refund, and a renewal begins new accounts instead of
//     emptying old ones. Costs that claim nothing, claim zero or do not fit are refused, and sums
//     saturate.
//  5. One order. Records are numbered 0, 1, 2, ... without a gap and are only ever appended. Who
//     was told of a record before another one was asked for finds them in this order.
//  6. Killed at any moment, there is never an answer that was not paid for, and none that was
//     confirmed is lost. The other way round can happen: a charge whose answer was never released.
//     The same request may then be answered, once, without a second charge, as long as its window
//     lasts.
//  7. Tamper-evident. Each record contains the hash of the one before, and the answers that were
//     kept are bound by their own. A ledger that does not check from its first to its last record
//     is not opened, not changed, and the error says where it is damaged. What a write that was
//     never confirmed left at the end is taken back. Damage of several bytes in the very last
//     commit looks the same, and only an anchor notices it.
//  8. One writer at a time. The lock of a file dies with the process that holds it. In a database
//     that several servers share, each write is decided after all before it, and a server that was
//     given up writes nothing more, however long it slept.
//  9. A full disk or a failing one forgets nothing spent and releases nothing unpaid. After a write
//     whose fate is not known the ledger does no more work until it is opened again, or, in a
//     database, until it could be asked; a failed fsync is never tried again.
//  10. Independent of the clock. The time is recorded and decides nothing.
//  11. Balances follow from the chain alone. Who has the records can add up every account, and
//     re-derive every decision.
//  12. More is only granted by a signature. A limit is what the policy says at the moment of the
//     charge, and what top-ups add that the ledger's owner signed.
//  13. A ledger that is older than its anchor is not opened, and what it lost counts as spent
//     before it is used again. A ledger that had an anchor is not opened where there is none, nor
//     where none is named, until its owner gives the anchor up, of the ledger that the anchor knows
//     (see [AnchorNotes], [GiveUpNotes]).
//  14. Notes are kept and kept secret. Note returns without an error only after the note is on
//     stable storage. The notes of a session are read in the order in which they were confirmed,
//     without a gap, also after a kill; a note that was changed is noticed. Nothing of a note
//     leaves but by Notes: no record, no export and no error has its bytes, and its hash has 16
//     random bytes before it, so that nobody can try what it might be. A session that began before
//     a recovery gets no notes and can write none.
//  15. A charge pays in its own window. Nothing is kept or noted for a charge whose window has
//     ended (see [LapsedError], [ChargeNotes]), so that what can be learnt in a window is what that
//     window's accounts have paid for. What was kept before stays, and can be had again.
//  16. A failure locks out. Fail says that it may be told only after the incident is on stable
//     storage. While a dataset is closed to an analyst there is no charge and no answer of theirs,
//     also when many arrive at once, until the owner enters a release. See [Lockouts] for the
//     rules. What fails then and what does not leave the same records, which is none.
//
// What is not promised: a ledger that is replaced as a whole by an older copy of itself is a good
// ledger, only a forgetful one, and so is one whose last records were removed by somebody who also
// rewrote the head. Only a position and a hash kept elsewhere can tell: an [Anchor], which the
// ledger keeps in a second place where the owner names one (package anchor), or a receipt (see
// [Ledger.Head]). The chain is a guard against accidents and for auditors who kept a head; it is no
// signature.
//
// # Records
//
// A record is a sequence of netstrings, "length:bytes,": the length in decimal counts the bytes, so
// that no two different records have the same encoding, and a person can still read it. Numbers are
// decimal without leading zeros; amounts count units of 2^-40, and 18446744073709551615 is an
// unbounded one. Times are RFC 3339 in UTC. Its hash is the SHA-256 of these bytes, in lower-case
// hexadecimal, which any other program can recompute.
//
//	ledger    "ledger" sequence(0) time format("2") identity
//	charge    "charge" sequence time request analyst dataset data-version
//	          query mechanisms window cost balances previous-hash
//	answer    "answer" sequence time charge key answer-hash previous-hash
//	version   "version" sequence time dataset data-version previous-hash
//	renewal   "renewal" sequence time dataset window reason previous-hash
//	owner     "owner" sequence time public-key reason previous-hash signature
//	topup     "topup" sequence time number-of-accounts { account } cost reason
//	          public-key previous-hash signature
//	recovery  "recovery" sequence time anchor-sequence anchor-hash reason
//	          public-key balances previous-hash
//	note      "note" sequence time session note-hash previous-hash
//	incident  "incident" sequence time charge analyst dataset failure
//	          borne-by-analyst borne-by-dataset previous-hash
//	release   "release" sequence time dataset analyst reason public-key
//	          previous-hash signature
//
//	cost      epsilon rho delta
//	balances  number { account limit(cost) granted(cost) spent(cost) }
//
// The first record is the only one of kind ledger. Its identity is random, so no record of one
// ledger fits into another. It is also the key with which states of the data are named (see
// [VersionID]), so it is the owner's secret. The amounts spent in a charge are those after it, and
// its limits contain what was granted. An answer record names the charge that paid for it and the
// SHA-256 of the answer, whose bytes are stored beside the chain. The bytes of a note are stored
// there too, with their salt. A signature is Ed25519, of everything that stands before it in its
// record, with sequence and previous-hash being those of the owner's last decision instead (of a
// release, of the last incident where that came later; see [Deferred]); the first owner's is empty,
// and that of a release where there is no owner. One that is of the record's own sequence and
// previous-hash counts too: owners signed so before.
package ledger

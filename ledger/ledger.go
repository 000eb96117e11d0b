package ledger

import (
	"context"
	"iter"
)

// Ledger is a durable, append-only record of privacy charges. The package
// comment lists what it promises. All methods are safe for concurrent use.
//
// A context that ends before a write has begun stops it and nothing is spent. From
// then on the context is not looked at, so that no charge is left half known.
type Ledger interface {
	// Charge spends the cost in every account of the charge, or in none. When it
	// returns no error the charge is on stable storage.
	//
	// It returns a [*BudgetError] when an account does not cover the cost, an [*InvalidError] when
	// the charge is not well formed, a [*RequestError] when the request identifier was used for
	// something else, a [*WindowError] when the dataset's window is another by now, a
	// [*VersionError] when its data is, [ErrBehind] when an answer was kept meanwhile that it was
	// not to be charged beside (see [Charge]), a [*LapsedError] when the request was charged in a
	// window that has ended, and has no answer, a [*LockoutError] where the dataset is closed to
	// the analyst, and a [*WriteError] when the ledger could not be written. In each
	// case nothing may be released.
	//
	// The same request again spends nothing and gets the first receipt, marked Again. Look for its
	// answer with Answer. When there is none, none was released, and the caller may produce it;
	// Keep then decides which of several callers produced the one that counts.
	//
	// Where the data version is another than at the dataset's last charge, a record of
	// kind version is written before the charge and with it.
	Charge(ctx context.Context, c Charge) (Receipt, error)

	// Keep stores the noisy answer that the charge with this sequence paid for. Call it
	// before the answer leaves: an answer that was not kept must not be released. The key
	// is what makes a question the same one: data set, data version, query. Where a
	// charge paid for several, it is all of their keys (see [JoinKeys]).
	//
	// A charge has one answer. To keep the same bytes under the same key again does nothing; others
	// are refused with [ErrKept], and the answer that was kept is the one to release. For a charge
	// from before a recovery none can be kept any more; see [ErrRecovered]. Neither can one for a
	// charge whose window has ended, which is a [*LapsedError]. Where the dataset was closed to the
	// analyst since the charge, none can be kept before a release, and the caller gets a
	// [*LockoutError].
	Keep(ctx context.Context, sequence uint64, key string, answer []byte) error

	// Recall returns the first answer that was kept under the key, with the sequence of
	// the charge that paid for it.
	Recall(ctx context.Context, key string) (answer []byte, sequence uint64, found bool, err error)

	// Answer returns the answer that was kept for a request identifier.
	Answer(ctx context.Context, request string) (answer []byte, found bool, err error)

	// Request returns the charge of a request identifier with its hash, and the answer that was
	// kept for it. Where it was not charged, or has no answer, these are nil.
	Request(ctx context.Context, request string) (charge *Record, hash string, answer []byte, err error)

	// Balances returns what was spent in each of the accounts, in their order. An
	// account that was never charged has spent nothing.
	Balances(ctx context.Context, accounts []Account) ([]Balance, error)

	// DataVersion returns what the ledger knows of a state of a dataset's data. The state is the
	// engine's name for it, which may be a hash of the contents, and leaves only through a keyed
	// hash; the label is the owner's name for it, or empty, and is recorded as it is.
	DataVersion(ctx context.Context, dataset, label, state string) (Version, error)

	// Window returns the number of the dataset's current window: 1, and one more for every renewal.
	Window(ctx context.Context, dataset string) (uint64, error)

	// Enter writes what the owner decided. It returns a [*SignatureError] where the
	// signature is missing or not the owner's, and the errors of Charge.
	Enter(ctx context.Context, e Entry) (Receipt, error)

	// Fail records an incident. It reports whether the analyst may be told: not where the dataset
	// was closed to them before, since then questions that fail and questions that do not get the
	// same [*LockoutError], and nothing is recorded of either: how many records there are is seen
	// in the numbers of receipts. When it returns true the incident is on stable storage. An
	// incident of a charge that has its answer, which is then that it failed, is recorded once.
	Fail(ctx context.Context, i Incident) (tell bool, err error)

	// Lockout returns whether a dataset is closed to an analyst now; where none is named, whether
	// it is closed to everybody.
	Lockout(ctx context.Context, dataset, analyst string) (Lockout, error)

	// Died returns the datasets that the process before may have been answering questions about
	// when it ended without closing the ledger: those with a charge that has no answer, and those
	// whose sessions have asked the engine something (see [Began]). Its last question may have
	// killed it, on this data and not on another, so each is one incident, which whoever opens the
	// ledger records.
	Died() []string

	// Note writes an entry at the end of the notes of a session, which has a public name. When it
	// returns no error the note is on stable storage. It returns the errors of Charge and [ErrEra],
	// and for a session that a charge has in its name those of Keep (see [ChargeNotes]). After any
	// of them the note may be there or not, except after an [*InvalidError], a [*LapsedError], a
	// [*LockoutError], ErrUnpaid or ErrEra: a session that got one reads its notes again before it
	// goes on.
	//
	// What is noted may be secret, such as noise that was not released. It never leaves by Records.
	Note(ctx context.Context, session string, entry []byte) error

	// NoteIf does the same where something holds, and returns the error that says what does not;
	// see [Provided]. It is decided with the note, so that nothing lies between the two.
	NoteIf(ctx context.Context, session string, entry []byte, p Provided) error

	// Notes returns the notes of a session in their order, all that were confirmed and perhaps one
	// more of each caller that was not answered.
	Notes(ctx context.Context, session string) ([][]byte, error)

	// NotesAfter returns those after so many.
	NotesAfter(ctx context.Context, session string, notes int) ([][]byte, error)

	// Era names the time since the last recovery: its hash, or nothing where there was none. A
	// session has the era in its name and in its requests, because in another era it must begin
	// anew, and pay anew: what it noted and charged before may be known in part only.
	Era(ctx context.Context) (string, error)

	// Records returns the records from a sequence on, in their order, as they were
	// written up to now, each checked against its hash. The records are the caller's.
	Records(ctx context.Context, from uint64) iter.Seq2[*Record, error]

	// Head returns the sequence and the hash of the last record. Kept elsewhere, they
	// are what tells a ledger from an older copy of itself.
	Head(ctx context.Context) (sequence uint64, hash string, err error)

	// Close waits for work under way and gives the ledger back to other
	// processes. Every later call returns [ErrClosed].
	Close() error
}

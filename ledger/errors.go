package ledger

import (
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/dp"
)

// Errors when a ledger is opened.

// ErrBusy is returned when another process, or this one, has the ledger open.
var ErrBusy = errors.New("the ledger is open already: in a running server, or in another command. A ledger has one writer at a time; " +
	"stop the server, or wait for the command")

// CorruptError is returned when a ledger does not check. Nothing was changed.
type CorruptError struct {
	Path  string // the file
	Where string // what does not check, and at which record if that is known
	Err   error  // what the database said, or nil
	// Newer is all that is said where the ledger has a format that only newer versions of this
	// program read, which is no damage: what it has, what is read here, and what to do.
	Newer string
}

func (e *CorruptError) Error() string {
	if e.Newer != "" {
		return e.Newer
	}
	s := fmt.Sprintf("the ledger %s is damaged: %s", e.Path, e.Where)
	if e.Err != nil {
		s += fmt.Sprintf(" (%v)", e.Err)
	}
	return s + ". Nothing was changed. Restore it from a backup that holds every charge. " +
		"Do not delete it: a new ledger would forget what was spent"
}

func (e *CorruptError) Unwrap() error { return e.Err }

// MissingError is returned when there is no ledger where there was one. Nothing was changed.
type MissingError struct {
	Path string
	Why  string // how that is known
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the ledger %s is missing: %s. No new one was begun, because that would forget what was spent. Put the file "+
		"back, or mount its volume; otherwise restore the latest backup. If all are lost and the policy has an anchor, 'discreet "+
		"ledger anchor --recover --reason ...' counts what the anchor knows as spent", e.Path, e.Why)
}

// Errors when a charge is asked for.

// InvalidError is returned when a charge or an answer is not well formed. Nothing was spent.
type InvalidError struct{ Field, Problem string }

func (e *InvalidError) Error() string { return fmt.Sprintf("the %s %s", e.Field, e.Problem) }

// BudgetError is returned when an account does not cover a cost. Nothing was
// spent in any account, and all stay open for smaller charges.
type BudgetError struct {
	Account    string
	Want, Left dp.Cost
}

func (e *BudgetError) Error() string {
	either := e.Left.Epsilon != dp.Unbounded && e.Left.Rho != dp.Unbounded
	if !either && e.Left.Epsilon != dp.Unbounded && e.Want.Epsilon == dp.Unbounded {
		return fmt.Sprintf("the account %q has a pure budget, and this question cannot be answered with pure differential privacy: ask "+
			"it with Laplace noise, or ask the owner of the data", e.Account)
	}
	if !either && e.Left.Rho != dp.Unbounded && e.Want.Rho == dp.Unbounded || e.Left.Delta != dp.Unbounded && e.Want.Delta == dp.Unbounded {
		return fmt.Sprintf("the account %q has a zero-concentrated budget, and this question has no cost in it: ask it with another "+
			"mechanism, or ask the owner of the data", e.Account)
	}
	return fmt.Sprintf("the budget of %q does not cover this: wanted %s, left %s. Nothing was spent",
		e.Account, e.only(e.Want), e.only(e.Left))
}

// only shows the claims that the account limits and that count here: a delta that was
// neither wanted nor left would be noise to the reader.
func (e *BudgetError) only(c dp.Cost) string {
	var parts []string
	for _, p := range []struct {
		name              string
		want, left, claim dp.Amount
	}{
		{"epsilon", e.Want.Epsilon, e.Left.Epsilon, c.Epsilon},
		{"rho", e.Want.Rho, e.Left.Rho, c.Rho},
		{"delta", e.Want.Delta, e.Left.Delta, c.Delta},
	} {
		if p.left != dp.Unbounded && p.want != dp.Unbounded && (p.left > 0 || p.want > 0) {
			parts = append(parts, fmt.Sprintf("%s %s", p.name, p.claim.Short()))
		}
	}
	return strings.Join(parts, ", ")
}

// RequestError is returned when a request identifier was charged before for
// something else. Nothing was spent.
type RequestError struct {
	Request string
	Differs string // what differs: analyst, data set, data version, question or price
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("the request %q was charged before with another %s: use a new identifier for a new question", e.Request, e.Differs)
}

// WindowError is returned when a charge or a renewal names a window that is not the current one.
// Nothing was spent.
type WindowError struct {
	Dataset      string
	Window, Want uint64
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("window %d of %q is not the current one, which is %d: it was renewed meanwhile. Nothing was spent; ask again",
		e.Window, e.Dataset, e.Want)
}

// VersionError is returned when a charge is about data that was seen to change since it was looked
// at. Nothing was spent.
type VersionError struct{ Dataset string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the data of %q changed while this was prepared. Nothing was spent; ask again", e.Dataset)
}

// LapsedError is returned when something is asked for, or would be written down, that a charge of a
// window which has ended was to pay for. That window's budget paid for it, and is over; the current
// one's has not.
type LapsedError struct {
	Request, Dataset string
	Window, Now      uint64 // the window of the charge, and the current one
	// Charged says that the window ended after the charge was made and before what it paid for was
	// written down, so that nothing of it may be released. Otherwise the charge is of another day,
	// and nothing was spent now.
	Charged bool
}

func (e *LapsedError) Error() string {
	if e.Charged && e.Request == "" { // of a session, whose requests nobody chooses
		return fmt.Sprintf("window %d of %q ended before the answer was ready, so it was not released, and what was charged for it "+
			"stays with that window. Ask again; that is charged in window %d", e.Window, e.Dataset, e.Now)
	}
	if e.Charged {
		return fmt.Sprintf("window %d of %q ended before the answer to the request %q was ready, so it was not released, and its "+
			"charge stays with that window. Ask with another request identifier; that is charged in window "+
			"%d", e.Window, e.Dataset, e.Request,
			e.Now)
	}
	return fmt.Sprintf("the request %q was charged in window %d of %q and got no answer before that window ended: what one window "+
		"paid for is not answered in another. Nothing was spent now; ask with another request identifier; that is charged in window "+
		"%d", e.Request,
		e.Window, e.Dataset, e.Now)
}

// Errors of the owner's entries.

// SignatureError is returned when an entry does not have the signature that counts. Nothing was
// changed.
type SignatureError struct{ Problem string }

func (e *SignatureError) Error() string {
	return fmt.Sprintf("%s. Nothing was changed", e.Problem)
}

// AnchorError is returned when a ledger is not the one that its anchor knows. Nothing was changed.
type AnchorError struct {
	Path, Anchorage string
	Problem         string
}

func (e *AnchorError) Error() string {
	return fmt.Sprintf("the ledger %s is not the one that the anchor in %s knows: %s. It was not opened, because it would forget "+
		"what was spent. "+
		"Restore the ledger that goes with the anchor. If that is lost for good, 'discreet ledger anchor --recover --reason ...' "+
		"counts the missing part as spent", e.Path, e.Anchorage, e.Problem)
}

// UnanchoredError is returned when a ledger has an anchor, by its own records, and there is none in
// its place, or no place is named: Anchorage is empty then. Was is where it was when the ledger got
// its anchor, where that is known. Nothing was changed.
type UnanchoredError struct{ Path, Anchorage, Was string }

func (e *UnanchoredError) Error() string {
	was := ""
	if e.Was != "" && e.Was != e.Anchorage {
		was = fmt.Sprintf(" (when the ledger got its anchor, that was %s)", e.Was)
	}
	if e.Anchorage == "" {
		return fmt.Sprintf("the ledger %s has an anchor, and the policy names none. It was not opened, because it cannot be told "+
			"from an older copy of itself. Write the key 'anchor' back into the policy%s. If the ledger is to have no anchor from "+
			"now on, record that in the ledger while the key is still there: 'discreet ledger anchor --give-up --reason ...'", e.Path, was)
	}
	return fmt.Sprintf("the ledger %s has an anchor, and there is none in %s. It was not opened, because it cannot be told from an "+
		"older copy of itself. Mount the volume of the anchor, or move there the anchor that it had elsewhere%s. If that is lost for "+
		"good, compare the ledger with the last receipts that were given out ('discreet ledger verify --receipt ...'), "+
		"and 'discreet ledger anchor --begin --reason ...' begins another anchor", e.Path, e.Anchorage, was)
}

// Errors when an answer is kept.

// ErrKept is returned when the charge has another answer already, which is the one to release.
var ErrKept = errors.New("this charge already has an answer, and pays for only one: release the answer that was kept")

// ErrUnpaid is returned when an answer is kept for something that is not a charge.
var ErrUnpaid = errors.New("there is no such charge, so nothing may be released for it")

// ErrRecovered is returned when an answer is kept for a charge from before the ledger was
// recovered. It may have had one, which is among what was lost.
var ErrRecovered = errors.New("this charge is from before the ledger was recovered, and its answer may be among what was lost, so a " +
	"second one is not allowed: ask with a new request identifier")

// Errors at any time.

// WriteError is returned when the ledger could not be written, because the disk
// is full or failed. Nothing may be released. What was charged before stays charged.
type WriteError struct {
	Path string
	// Broken says that the fate of the last write is not known, so this ledger
	// does no more work. Opened again it either has the record or has not.
	Broken bool
	// Charged says that the charge was made and stays, and that its answer could not be kept or its
	// anchor not stored.
	Charged bool
	// Remote says that it is in a database that could not be asked, and Unknown that it is not
	// known whether what was to be written is there. The same request asked again finds out.
	Remote, Unknown bool
	Err             error
}

func (e *WriteError) Error() string {
	after := "Check the disk"
	if e.Remote {
		after = "Check the database"
	}
	if e.Unknown {
		return fmt.Sprintf("it is not known whether this was written to the ledger %s: %v. Nothing may be released. %s, then ask again: "+
			"with the same request identifier it is not charged twice", e.Path, e.Err, after)
	}
	if e.Charged {
		return fmt.Sprintf("the ledger %s could not be written: %v. The charge was made and stays, but the answer could not be secured "+
			"and so was not released. %s, then ask again: with the same request identifier it is not charged twice",
			e.Path, e.Err, after)
	}
	if e.Broken {
		return fmt.Sprintf("the ledger %s could not be written and was stopped: %v. Nothing may be released. %s, "+
			"then start again", e.Path, e.Err, after)
	}
	if e.Remote {
		return fmt.Sprintf("the ledger %s could not be written: %v. Nothing was spent and nothing may be released. %s, then ask again",
			e.Path, e.Err, after)
	}
	return fmt.Sprintf("the ledger %s could not be written: %v. Nothing was spent and nothing may be released. Make room on the disk, "+
		"then ask again", e.Path, e.Err)
}

func (e *WriteError) Unwrap() error { return e.Err }

// MayCount reports whether something was charged, or may have been: who asks again needs the
// request identifier.
func (e *WriteError) MayCount() bool { return e.Charged || e.Unknown }

// NoRecordError is returned for a record that the ledger does not have.
type NoRecordError struct{ Sequence uint64 }

func (e *NoRecordError) Error() string {
	return fmt.Sprintf("the ledger has no record %d", e.Sequence)
}

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the ledger is closed")

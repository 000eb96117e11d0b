// Package session says what an interactive mechanism needs from whoever runs it: somebody who
// charges, and a journal in which it writes what it has to know after a restart. The mechanisms are
// in packages stream and holdout. A program of its own runs them on a [Memory]; the curator runs
// them on its ledger.
//
// # Rules for a mechanism
//
//  1. What costs is charged before private data is looked at. A charge has a name within the
//     session, and the same name is charged once however often it is sent.
//  2. What must not be forgotten is in the journal before anybody sees an answer that depends on
//     it: the noise of a threshold before it is compared with anything, a paid answer before it is
//     released.
//  3. The state is a function of the journal's entries, so a session that is opened again goes on
//     where it was.
//  4. Where the journal cannot be written, what was drawn is not released, and the session is as
//     good as killed: it answers nothing more until it is opened again. What it does then must not
//     depend on what was drawn, or it tells.
//
// So a process may be killed at any moment. What was charged and is not in the journal was seen by
// nobody, and is drawn again for the same charge.
package session

import (
	"context"

	"github.com/discreet-dp/discreet/dp"
)

// Host runs one session. It is safe for concurrent use.
type Host interface {
	// Charge returns nil only when the charge is on stable storage. Where it does not fit it
	// returns an error that is [ErrBudget], and where the name was charged before with something
	// else one that is [ErrName]; then nothing is spent.
	Charge(ctx context.Context, c Charge) (Receipt, error)
	// Append adds an entry to the journal of the session and returns when it is on stable storage.
	Append(ctx context.Context, entry []byte) error
	// Entries returns all entries, in their order.
	Entries(ctx context.Context) ([][]byte, error)
}

// Periodic is a Host whose budget is given anew from time to time. What was charged in one period
// must not answer in the next: there nobody has paid for it. So a mechanism ends what is open when
// the period is another one.
type Periodic interface {
	// Period is the current one, from 1 on, or 0 where there is only one for ever.
	Period(ctx context.Context) (uint64, error)
}

// PeriodOf is the current period of a host; 0 where it has none.
func PeriodOf(ctx context.Context, h Host) (uint64, error) {
	if p, ok := h.(Periodic); ok {
		return p.Period(ctx)
	}
	return 0, nil
}

// Charge is what part of a session costs.
type Charge struct {
	// Name is the charge's own within its session.
	Name string
	// Mechanisms spells the noise with its exact parameters, for the ledger.
	Mechanisms string
	Cost       dp.Cost
}

// Receipt says where a charge is recorded.
type Receipt struct {
	Sequence uint64
	Hash     string
	// Again says that the charge had been made before, and was not made a second time.
	Again bool
}

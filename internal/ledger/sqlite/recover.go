package sqlite

import (
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Recovered is what [Recover] did.
type Recovered struct {
	// Problem is why the ledger was not the one that its anchor knows. It is empty where it was,
	// and nothing was changed.
	Problem string `json:"problem"`
	// Spent are the accounts that count as having spent more than before, with what they count as
	// having spent now.
	Spent []ledger.Balance `json:"spent"`
	// Counted says that an earlier recovery had counted the loss already, and only the anchor was
	// missing.
	Counted bool `json:"counted"`
	// Sequence and Hash are the head of the ledger, which is the anchor now.
	Sequence uint64 `json:"sequence"`
	Hash     string `json:"hash"`
}

func (r Recovered) String() string {
	switch {
	case r.Problem == "":
		return "the ledger is the one that its anchor knows; nothing was changed"
	case r.Counted:
		return fmt.Sprintf("what was lost had been counted as spent before; the anchor is at record %d now", r.Sequence)
	}
	return fmt.Sprintf("%s. What was lost counts as spent, in %d accounts; the anchor is at record %d now", r.Problem,
		len(r.Spent), r.Sequence)
}

// Recover makes a ledger that OpenWith refuses with a [*ledger.AnchorError] usable again. It counts
// everything that can have been released and is not in this ledger as spent, writes that down with
// the owner's reason, and anchors the result. A ledger that is missing is created. Where OpenWith
// would not refuse, it changes nothing.
//
// It counts rather too much than too little: all that the anchor allowed, and where the ledger went
// on by itself, both. What was lost beside the budget stays lost: answers that were kept, renewals,
// and top-ups.
func Recover(path string, o Options, reason string) (Recovered, error) {
	if o.Anchorage == nil {
		return Recovered{}, &ledger.InvalidError{Field: "place of the anchor",
			Problem: "is missing: without an anchor nothing is known about what was lost"}
	}
	if err := (ledger.Recovery{Reason: reason}).Validate(); err != nil {
		return Recovered{}, err
	}
	keeper := o.anchorKeeper()
	// A ledger is created only where there is an anchor to recover it from.
	_, found, err := o.Anchorage.Load(background)
	if err != nil {
		return Recovered{}, fmt.Errorf("the anchor could not be read: %w", err)
	}
	resolved, exists, err := resolve(path)
	if err != nil {
		return Recovered{}, err
	}
	if !found {
		return Recovered{},
			fmt.Errorf("there is no anchor in %s, so nothing is known that the ledger %s might have lost. Nothing was changed",
				o.Anchorage, resolved)
	}
	if !exists {
		disuse(resolved) // the owner knows that there was a ledger
	}
	l, err := openAnchored(path, time.Now, nil, Options{Full: true})
	if err != nil {
		return Recovered{}, err
	}
	a, found, err := keeper.Check(background, l.Path, l.State, l.HashAt)
	var refused *ledger.AnchorError
	switch {
	case err == nil && found:
		sequence, hash := l.State.Head()
		return Recovered{Sequence: sequence, Hash: hash}, l.Close()
	case err == nil:
		return Recovered{}, l.abandon(fmt.Errorf("the anchor in %s was removed meanwhile", o.Anchorage))
	case !errors.As(err, &refused):
		return Recovered{}, l.abandon(err)
	}
	r, err := l.recover(keeper, a, reason)
	if err != nil {
		return Recovered{}, l.abandon(err)
	}
	r.Problem = refused.Problem
	if !exists {
		r.Problem = fmt.Sprintf("the ledger was missing, and had %d records", a.Sequence)
	}
	return r, l.Close()
}

// BeginAnchor stores a first anchor for a ledger that OpenWith refuses with a
// [*ledger.UnanchoredError]. The owner says with a reason that this is the ledger to go on with,
// which is written down as a recovery that counts nothing: nobody knows what was lost, if anything,
// so all sessions from before are over, and charges without an answer get none. Where there is an
// anchor it changes nothing.
func BeginAnchor(path string, o Options, reason string) (Recovered, error) {
	if o.Anchorage == nil {
		return Recovered{}, &ledger.InvalidError{Field: "place of the anchor", Problem: "is missing"}
	}
	if err := (ledger.Recovery{Reason: reason}).Validate(); err != nil {
		return Recovered{}, err
	}
	resolved, exists, err := resolve(path)
	if err != nil {
		return Recovered{}, err
	}
	if _, found, err := o.Anchorage.Load(background); err != nil {
		return Recovered{}, fmt.Errorf("the anchor could not be read: %w", err)
	} else if found {
		return Recovered{}, fmt.Errorf("there is an anchor in %s, and another one is not begun over it. Nothing was changed", o.Anchorage)
	}
	if !exists {
		return Recovered{}, fmt.Errorf("there is no ledger at %s, so there is nothing to anchor", resolved)
	}
	l, err := openAnchored(path, time.Now, nil, Options{Full: true})
	if err != nil {
		return Recovered{}, err
	}
	if _, err := l.Enter(background, ledger.Recovery{Reason: reason}); err != nil {
		return Recovered{}, l.abandon(err)
	}
	if err := o.anchorKeeper().Adopt(background, l.State, l.HashAt); err != nil {
		return Recovered{}, l.abandon(&ledger.WriteError{Path: l.Path, Err: err})
	}
	sequence, hash := l.State.Head()
	return Recovered{Sequence: sequence, Hash: hash}, l.Close()
}

// recover counts the loss and anchors the result. Killed in between, it leaves a ledger that is
// refused as before, and that knows what it counted.
func (l *Ledger) recover(keeper *chain.AnchorKeeper, a ledger.Anchor, reason string) (Recovered, error) {
	loss, err := chain.Missing(a, l.State, l.Records(background, 0))
	if err != nil {
		return Recovered{}, err
	}
	if !loss.Counted {
		if _, err := l.Enter(background, ledger.Recovery{Anchor: a, Spent: loss.Spent, Reason: reason}); err != nil {
			return Recovered{}, err
		}
	}
	if err := keeper.Adopt(background, l.State, l.HashAt); err != nil {
		return Recovered{}, &ledger.WriteError{Path: l.Path, Err: err}
	}
	sequence, hash := l.State.Head()
	return Recovered{Spent: loss.Spent, Counted: loss.Counted, Sequence: sequence, Hash: hash}, nil
}

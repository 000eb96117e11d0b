package sqlite

import (
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/groupcommit"
)

type Recovered = groupcommit.Recovered

// Recover makes a ledger that OpenWith refuses with a [*ledger.AnchorError] usable again. It counts
// everything that can have been released and is not in this ledger as spent, writes that down with
// the owner's reason, and anchors the result. A ledger that is missing is created. Where OpenWith
// would not refuse, it changes nothing.
//
// It counts rather too much than too little: all that the anchor allowed, and where the ledger went
// on by itself, both. What was lost beside the budget stays lost: answers that were kept, renewals,
// and top-ups.
func Recover(path string, o Options, reason string) (Recovered, error) {
	resolved, exists, err := resolve(path)
	if err != nil {
		return Recovered{}, err
	}
	// A ledger is created only where there is an anchor to recover it from.
	if err := groupcommit.CheckRecover(background, o.Anchorage, resolved, reason); err != nil {
		return Recovered{}, err
	}
	if !exists {
		unmarkUsed(resolved) // the owner knows that there was a ledger
	}
	return mend(path, o, reason, func(l *Ledger, r groupcommit.Recovery) (Recovered, error) {
		return r.Recover(background, !exists, l.Records(background, 0))
	})
}

// mend opens a ledger without its anchor, for a recovery.
func mend(path string, o Options, reason string, do func(*Ledger, groupcommit.Recovery) (Recovered, error)) (Recovered, error) {
	l, err := openAnchored(path, time.Now, nil, Options{Full: true, mending: true})
	if err != nil {
		return Recovered{}, err
	}
	r, err := do(l, groupcommit.Recovery{Committer: l.Committer, Keeper: o.anchorKeeper(), Reason: reason})
	if err != nil {
		return Recovered{}, l.abandon(err)
	}
	return r, l.Close()
}

// BeginAnchor stores a first anchor for a ledger that OpenWith refuses with a
// [*ledger.UnanchoredError]; see [groupcommit.Recovery.BeginAnchor]. Where there is an anchor it
// changes nothing.
func BeginAnchor(path string, o Options, reason string) (Recovered, error) {
	if err := groupcommit.CheckBeginAnchor(background, o.Anchorage, reason); err != nil {
		return Recovered{}, err
	}
	resolved, exists, err := resolve(path)
	if err != nil {
		return Recovered{}, err
	}
	if !exists {
		return Recovered{}, fmt.Errorf("there is no ledger at %s, so there is nothing to anchor", resolved)
	}
	return mend(path, o, reason, func(_ *Ledger, r groupcommit.Recovery) (Recovered, error) {
		return r.BeginAnchor(background)
	})
}

// GiveUpAnchor says in a ledger that it has no anchor from here on, for the owner's reason. The
// ledger is the one that its anchor knows: an older copy has nothing to give up. A process that
// opens it with an anchor later gives it one again.
func GiveUpAnchor(path string, o Options, reason string) error {
	if err := groupcommit.CheckGiveUpAnchor(o.Anchorage, reason); err != nil {
		return err
	}
	l, err := OpenWith(path, o)
	if err != nil {
		return err
	}
	return errors.Join(groupcommit.Recovery{Committer: l.Committer, Reason: reason}.GiveUpAnchor(background), l.Close())
}

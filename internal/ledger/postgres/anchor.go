package postgres

import (
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// anchorFirst compares a ledger with its anchor when it is opened, and anchors its head.
func (l *Ledger) anchorFirst(keeper *chain.AnchorKeeper, place ledger.Anchorage) error {
	if l.mending {
		return nil
	}
	if place == nil {
		return keeper.Open(background, l.Path, l.State, l.HashAt)
	}
	keeper.Reads(l.ProtectsAt)
	if err := keeper.Lay(l.State, l.HashAt); err != nil {
		return l.explain(err)
	}
	if err := keeper.Share(background, l.Path, l.State, l.again, l.HashAt); err != nil {
		return fmt.Errorf("the ledger %s was not opened, and nothing was charged: %w", l.Path, err)
	}
	l.Keeper = keeper
	return nil
}

// again reads what others have written by now.
func (l *Ledger) again() error { return writer{l}.Refresh(time.Now()) }

// noteAnchor makes the ledger know by itself that it has an anchor.
func (l *Ledger) noteAnchor(place ledger.Anchorage) error {
	if place == nil || l.State.Notes.Anchored() {
		return nil
	}
	return l.Note(background, ledger.AnchorNotesIn(l.State.Notes.Era()), []byte(place.String()))
}

// Anchor implements [desk.Store]. Other servers store anchors too: what one of them stored for a
// later head has ours in it. Where one of them has given the ledger an anchor that this one does
// not know, this one tells nothing more: the anchor would not have it.
func (w writer) Anchor(made []*chain.Link) error {
	if w.Keeper == nil {
		if w.State.Notes.Anchored() && !w.mending {
			return &ledger.UnanchoredError{Path: w.Path}
		}
		return nil
	}
	for _, k := range made {
		w.Keeper.Follow(k.Record)
	}
	if w.Keeper.Settled() {
		return nil
	}
	return w.Keeper.Share(background, w.Path, w.State, w.again, w.HashAt)
}

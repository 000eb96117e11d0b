package sqlite

import (
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Options are what an owner may choose for a ledger. The zero value is what Open uses.
type Options struct {
	// Anchorage is a second place, out of reach of what may replace the ledger, in which its anchor
	// is kept. A ledger that is older than its anchor is not opened. Nil keeps none.
	Anchorage ledger.Anchorage
	// Every is after how many records an anchor is stored; 0 stands for 1, which notices every
	// record that is missing. With more, an older copy of a ledger that was not closed passes where
	// it lacks fewer records than that.
	Every uint64
	// Full checks the ledger from its first record to its last before it is opened, whatever
	// checkpoints there are.
	Full bool
	// Tell, where it is not nil, is told now and then how many records were checked, of how many.
	Tell func(done, of uint64)
	// mending is for those who see to a ledger that is not the one that its anchor knows.
	mending bool
}

func (o Options) anchorKeeper() *chain.AnchorKeeper {
	if o.Anchorage == nil {
		return nil
	}
	return chain.NewAnchorKeeper(o.Anchorage, o.Every)
}

// OpenWith is Open with options. It returns a [*ledger.AnchorError] when the ledger is not the one
// that its anchor knows; see [Recover]. It returns a [*ledger.UnanchoredError] when the ledger had
// an anchor and there is none, or none is named; see [BeginAnchor] and [GiveUpAnchor].
func OpenWith(path string, o Options) (*Ledger, error) { return openWith(path, o, time.Now) }

func openWith(path string, o Options, now func() time.Time) (_ *Ledger, err error) {
	keeper := o.anchorKeeper()
	l, err := openAnchored(path, now, keeper, o)
	if err != nil {
		return nil, err
	}
	keeper.Vouch(l.checkpoints.sum)
	keeper.Reads(l.ProtectsAt)
	if err := keeper.Open(background, l.Path, l.State, l.HashAt); err != nil {
		return nil, l.abandon(fmt.Errorf("the ledger %s was not opened, and nothing was charged: %w", l.Path, err))
	}
	l.Keeper = keeper
	if err := l.noteAnchor(o.Anchorage); err != nil {
		return nil, l.abandon(err)
	}
	l.tend()
	return l, nil
}

// noteAnchor makes the ledger know by itself that it has an anchor. Where the disk is full it is
// tried again when the ledger is next opened: what was paid for can be had until then.
func (l *Ledger) noteAnchor(place ledger.Anchorage) error {
	if place == nil || l.State.Notes.Anchored() {
		return nil
	}
	if err := l.Note(background, ledger.AnchorNotesIn(l.State.Notes.Era()), []byte(place.String())); err != nil {
		return l.Stopped()
	}
	return nil
}

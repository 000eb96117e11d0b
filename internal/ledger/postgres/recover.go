package postgres

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/desk"
)

// Recover makes a ledger that OpenWith refuses with a [*ledger.AnchorError] usable again: one in a
// database that was restored, or whose standby was behind when it took over. It counts everything
// that can have been released and is not in this ledger as spent, writes that down with the owner's
// reason, and anchors the result. A ledger that is missing is created. Where OpenWith would not
// refuse, it changes nothing.
func Recover(address string, o Options, reason string) (desk.Recovered, error) {
	p, err := parse(address)
	if err != nil {
		return desk.Recovered{}, err
	}
	// A ledger is created only where there is an anchor to recover it from.
	if err := desk.Recoverable(background, o.Anchorage, p.name, reason); err != nil {
		return desk.Recovered{}, err
	}
	there, err := p.look()
	if err != nil {
		return desk.Recovered{}, err
	}
	return alone(address, mending(o), func(l *Ledger) (desk.Recovered, error) {
		return desk.Recovery{Desk: l.Desk, Keeper: chain.NewAnchorKeeper(o.Anchorage, 1), Reason: reason}.
			Recover(background, !there, l.Records(background, 0))
	})
}

// BeginAnchor stores a first anchor for a ledger that OpenWith refuses with a
// [*ledger.UnanchoredError]; see [desk.Desk.BeginAnchor]. Where there is an anchor it changes
// nothing.
func BeginAnchor(address string, o Options, reason string) (desk.Recovered, error) {
	if err := desk.Beginnable(background, o.Anchorage, reason); err != nil {
		return desk.Recovered{}, err
	}
	p, err := parse(address)
	if err != nil {
		return desk.Recovered{}, err
	}
	there, err := p.look()
	if err == nil && !there {
		err = fmt.Errorf("there is no ledger at %s, so there is nothing to anchor", p.name)
	}
	if err != nil {
		return desk.Recovered{}, err
	}
	return alone(address, mending(o), func(l *Ledger) (desk.Recovered, error) {
		return desk.Recovery{Desk: l.Desk, Keeper: chain.NewAnchorKeeper(o.Anchorage, 1), Reason: reason}.BeginAnchor(background)
	})
}

// GiveUpAnchor says in a ledger that it has no anchor from here on, for the owner's reason; see
// [desk.Desk.GiveUpAnchor]. The ledger is the one that its anchor knows.
func GiveUpAnchor(address string, o Options, reason string) error {
	if err := desk.CanGiveUp(o.Anchorage, reason); err != nil {
		return err
	}
	_, err := alone(address, o, func(l *Ledger) (desk.Recovered, error) {
		return desk.Recovered{}, desk.Recovery{Desk: l.Desk, Reason: reason}.GiveUpAnchor(background)
	})
	return err
}

// mending are the options of who opens a ledger without its anchor.
func mending(o Options) Options {
	return Options{Lease: o.Lease, Tell: o.Tell, Full: true, mending: true}
}

// look reports whether there is a ledger.
func (p *place) look() (bool, error) {
	c, err := p.dial(background)
	if err != nil {
		return false, fmt.Errorf("the ledger %s cannot be opened: %w", p.name, p.said(err))
	}
	defer hangUp(c)
	there, err := p.exists(background, c)
	if err != nil && !damaged(err) {
		err = fmt.Errorf("the ledger %s cannot be opened: %w", p.name, p.said(err))
	}
	return there, err
}

// alone opens a ledger, and does something with it while no server has it open. One that begins
// meanwhile is refused by the anchor.
func alone(address string, o Options, do func(*Ledger) (desk.Recovered, error)) (r desk.Recovered, err error) {
	l, err := OpenWith(address, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	var others int
	l.Take()
	err = writer{l}.persist(func() error {
		return l.conn.QueryRow(background,
			l.place.in("SELECT count(*) FROM ledger.servers WHERE state = 'serving' AND server <> $1"), l.servers.server).Scan(&others)
	})
	l.Leave()
	if err != nil {
		return r, l.explain(err)
	}
	if others > 0 {
		return r, fmt.Errorf("%w: %d have the ledger %s open, or were seen in the last %s and did not close it. Nothing was changed",
			errServing, others, l.Path, l.servers.lease)
	}
	return do(l)
}

var errServing = errors.New("this is done while no server runs: stop them, and wait for the lease of those that were killed")

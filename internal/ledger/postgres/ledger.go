package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/checkpoint"
	"github.com/discreet-dp/discreet/internal/ledger/desk"
	"github.com/discreet-dp/discreet/ledger"
)

// Ledger is a ledger in a PostgreSQL database, which others may have open too. All methods are safe
// for concurrent use. Calls that write and come at the same time are written together.
type Ledger struct {
	*desk.Desk // decides; the rest belongs to whoever has its turn

	place *place
	conn  *pgx.Conn       // nil until it is needed again after a failure
	fresh time.Time       // when the last look at the head began
	known ledger.Position // the last record that is in the database for sure
	// stale says that the state has records that may not be in the database: those of a commit that
	// failed, or whose fate is not known.
	stale   bool
	commits uint64 // transactions so far
	mending bool   // the ledger need not be the one that its anchor knows

	servers     membership
	checkpoints checkpointing
	prover      checkpoint.Prover

	helpers sync.WaitGroup
	stop    chan struct{}
	ending  sync.Once
}

// Options are what an owner may choose for a ledger. The zero value is what Open uses.
type Options struct {
	// Anchorage is a second place, out of reach of what may replace the database, in which the
	// ledger's anchor is kept. It is one that several servers can share. Nil keeps none.
	Anchorage ledger.Anchorage
	// Full checks the ledger from its first record to its last before it is opened, whatever
	// checkpoints there are.
	Full bool
	// Tell, where it is not nil, is told now and then how many records were checked, of how many.
	Tell func(done, of uint64)
	// mending is for those who see to a ledger that is not the one that its anchor knows.
	mending bool
	// Lease is for how long a server is believed to be there that was not seen; 0 stands for 15
	// seconds.
	Lease time.Duration
}

const defaultLease = 15 * time.Second

// background is the context of all work on the database. A caller's context is looked at before the
// work begins; to interrupt a commit would leave its fate unknown.
var background = context.Background()

// Open opens the ledger at an address and creates it where there is none. Others may have it open:
// they share it. It is checked before that: from its first record on, or, where the chain proves a
// checkpoint, from there. What is before a checkpoint is then checked in the background, and
// whatever of it is read.
func Open(address string) (*Ledger, error) { return OpenWith(address, Options{}) }

// OpenWith is Open with options. It returns a [*ledger.AnchorError] when the ledger is not the one
// that its anchor knows, and a [*ledger.UnanchoredError] when it had an anchor and there is none.
func OpenWith(address string, o Options) (*Ledger, error) { return openWith(address, o, time.Now) }

func openWith(address string, o Options, now func() time.Time) (_ *Ledger, err error) {
	p, err := parse(address)
	if err != nil {
		return nil, err
	}
	l := &Ledger{Desk: &desk.Desk{Path: p.name, Now: now, State: chain.New()}, place: p, mending: o.mending,
		stop: make(chan struct{})}
	l.servers, l.checkpoints.l = membership{l: l, lease: cmp.Or(o.Lease, defaultLease)}, l
	l.Desk.Open(writer{l})
	defer func() {
		if err != nil {
			hangUp(l.conn)
		}
	}()
	if l.conn, err = p.dial(background); err != nil {
		return nil, fmt.Errorf("the ledger %s cannot be opened: %w", p.name, p.said(err))
	}
	var keeper *chain.AnchorKeeper
	if o.Anchorage != nil {
		keeper = chain.NewAnchorKeeper(o.Anchorage, 1)
	}
	there, err := p.exists(background, l.conn)
	if err == nil && !there {
		// An anchor without a ledger is one whose ledger is lost.
		if err := keeper.Open(background, p.name, nil, nil); err != nil {
			return nil, err
		}
		err = p.create(background, l.conn, now())
	}
	if err != nil {
		return nil, l.explain(err)
	}
	believe, err := checkpoint.By(keeper, p.name, o.Full)
	if err != nil {
		return nil, err
	}
	if err := l.restore(believe, o.Tell); err != nil {
		return nil, l.explain(err)
	}
	if err := l.anchorFirst(keeper, o.Anchorage); err != nil {
		return nil, err
	}
	if err := l.servers.join(); err != nil {
		return nil, l.explain(err)
	}
	if err := l.noteAnchor(o.Anchorage); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := l.servers.giveUpFirst(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.helpers.Go(l.servers.keepRenewing)
	l.checkpoints.start()
	return l, nil
}

// explain is an error for the owner who opens a ledger.
func (l *Ledger) explain(err error) error {
	var corrupt *ledger.CorruptError
	if errors.As(err, &corrupt) {
		return err
	}
	return fmt.Errorf("the ledger %s cannot be opened: %w", l.Path, l.place.said(err))
}

// Close implements [ledger.Ledger]. To close twice does nothing. Where the database cannot be told,
// the others find out when the lease is over.
func (l *Ledger) Close() error {
	l.ending.Do(func() { close(l.stop) })
	l.helpers.Wait()
	l.Take()
	defer l.Leave()
	if l.Shut {
		return nil
	}
	l.Shut = true
	var err error
	if l.Broken == nil {
		if err = l.servers.leave(); err != nil {
			err = fmt.Errorf("the ledger %s could not be told that this server ends, which the others find out when its lease of %v is "+
				"over: %w", l.Path, l.servers.lease, l.place.said(err))
		}
	}
	hangUp(l.conn)
	l.conn = nil
	return err
}

var _ ledger.Ledger = (*Ledger)(nil)

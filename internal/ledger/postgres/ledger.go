package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/groupcommit"
	"github.com/discreet-dp/discreet/ledger"
)

// Ledger is a ledger in a PostgreSQL database, which others may have open too. All methods are safe
// for concurrent use. Calls that write and come at the same time are written together.
type Ledger struct {
	*groupcommit.Committer // decides; the rest belongs to whoever holds its lock

	database *database
	conn     *pgx.Conn       // nil until it is needed again after a failure
	fresh    time.Time       // when the last look at the head began
	known    ledger.Position // the last record that is in the database for sure
	// stale says that the state has records that may not be in the database: those of a commit that
	// failed, or whose fate is not known.
	stale   bool
	commits uint64 // transactions so far
	mending bool   // the ledger need not be the one that its anchor knows

	servers     membership
	checkpoints checkpointing
	prover      chain.Prover

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
	l := &Ledger{Committer: &groupcommit.Committer{Path: p.name, Now: now, State: chain.New()}, database: p, mending: o.mending,
		stop: make(chan struct{})}
	l.servers, l.checkpoints.l = membership{l: l, lease: cmp.Or(o.Lease, defaultLease)}, l
	l.Committer.Open(writer{l})
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
	believe, err := chain.Believed(keeper, p.name, o.Full)
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
	return fmt.Errorf("the ledger %s cannot be opened: %w", l.Path, l.database.said(err))
}

// Close implements [ledger.Ledger]. To close twice does nothing. Where the database cannot be told,
// the others find out when the lease is over.
func (l *Ledger) Close() error {
	l.ending.Do(func() { close(l.stop) })
	l.helpers.Wait()
	l.Lock()
	defer l.Unlock()
	if l.Shut {
		return nil
	}
	l.Shut = true
	var err error
	if l.Broken == nil {
		if err = l.servers.leave(); err != nil {
			err = fmt.Errorf("the ledger %s could not be told that this server stops; the other servers find out when its lease of "+
				"%v is over: %w", l.Path, l.servers.lease, l.database.said(err))
		}
	}
	hangUp(l.conn)
	l.conn = nil
	return err
}

var _ ledger.Ledger = (*Ledger)(nil)

// anchorFirst compares a ledger with its anchor when it is opened, and anchors its head.
func (l *Ledger) anchorFirst(keeper *chain.AnchorKeeper, place ledger.Anchorage) error {
	if l.mending {
		return nil
	}
	if place == nil {
		return keeper.Open(background, l.Path, l.State, l.HashAt)
	}
	keeper.SetNoteReader(l.ProtectsAt)
	if err := keeper.BeginTrail(l.State, l.HashAt); err != nil {
		return l.explain(err)
	}
	if err := keeper.Share(background, l.Path, l.State, l.refresh, l.HashAt); err != nil {
		return fmt.Errorf("the ledger %s was not opened, and nothing was charged: %w", l.Path, err)
	}
	l.Keeper = keeper
	return nil
}

// refresh reads what others have written by now.
func (l *Ledger) refresh() error { return writer{l}.Refresh(time.Now()) }

// noteAnchor makes the ledger know by itself that it has an anchor.
func (l *Ledger) noteAnchor(place ledger.Anchorage) error {
	if place == nil || l.State.Notes.Anchored() {
		return nil
	}
	return l.Note(background, ledger.AnchorNotesIn(l.State.Notes.Era()), []byte(place.String()))
}

// Anchor implements [groupcommit.Store]. Other servers store anchors too: what one of them stored
// for a later head has ours in it. Where one of them has given the ledger an anchor that this one
// does not know, this one tells nothing more: the anchor would not have it.
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
	return w.Keeper.Share(background, w.Path, w.State, w.refresh, w.HashAt)
}

// Recover makes a ledger that OpenWith refuses with a [*ledger.AnchorError] usable again: one in a
// database that was restored, or whose standby was behind when it took over. It counts everything
// that can have been released and is not in this ledger as spent, writes that down with the owner's
// reason, and anchors the result. A ledger that is missing is created. Where OpenWith would not
// refuse, it changes nothing.
func Recover(address string, o Options, reason string) (groupcommit.Recovered, error) {
	p, err := parse(address)
	if err != nil {
		return groupcommit.Recovered{}, err
	}
	// A ledger is created only where there is an anchor to recover it from.
	if err := groupcommit.CheckRecover(background, o.Anchorage, p.name, reason); err != nil {
		return groupcommit.Recovered{}, err
	}
	there, err := p.ledgerExists()
	if err != nil {
		return groupcommit.Recovered{}, err
	}
	return openAlone(address, withoutAnchor(o), func(l *Ledger) (groupcommit.Recovered, error) {
		return groupcommit.Recovery{Committer: l.Committer, Keeper: chain.NewAnchorKeeper(o.Anchorage, 1), Reason: reason}.
			Recover(background, !there, l.Records(background, 0))
	})
}

// BeginAnchor stores a first anchor for a ledger that OpenWith refuses with a
// [*ledger.UnanchoredError]; see [groupcommit.Recovery.BeginAnchor]. Where there is an anchor it
// changes nothing.
func BeginAnchor(address string, o Options, reason string) (groupcommit.Recovered, error) {
	if err := groupcommit.CheckBeginAnchor(background, o.Anchorage, reason); err != nil {
		return groupcommit.Recovered{}, err
	}
	p, err := parse(address)
	if err != nil {
		return groupcommit.Recovered{}, err
	}
	there, err := p.ledgerExists()
	if err == nil && !there {
		err = fmt.Errorf("there is no ledger at %s, so there is nothing to anchor", p.name)
	}
	if err != nil {
		return groupcommit.Recovered{}, err
	}
	return openAlone(address, withoutAnchor(o), func(l *Ledger) (groupcommit.Recovered, error) {
		return groupcommit.Recovery{Committer: l.Committer, Keeper: chain.NewAnchorKeeper(o.Anchorage, 1), Reason: reason}.
			BeginAnchor(background)
	})
}

// GiveUpAnchor says in a ledger that it has no anchor from here on, for the owner's reason; see
// [groupcommit.Recovery.GiveUpAnchor]. The ledger is the one that its anchor knows.
func GiveUpAnchor(address string, o Options, reason string) error {
	if err := groupcommit.CheckGiveUpAnchor(o.Anchorage, reason); err != nil {
		return err
	}
	_, err := openAlone(address, o, func(l *Ledger) (groupcommit.Recovered, error) {
		return groupcommit.Recovered{}, groupcommit.Recovery{Committer: l.Committer, Reason: reason}.GiveUpAnchor(background)
	})
	return err
}

// withoutAnchor are the options of who opens a ledger without its anchor.
func withoutAnchor(o Options) Options {
	return Options{Lease: o.Lease, Tell: o.Tell, Full: true, mending: true}
}

func (p *database) ledgerExists() (bool, error) {
	c, err := p.dial(background)
	if err != nil {
		return false, fmt.Errorf("the ledger %s cannot be opened: %w", p.name, p.said(err))
	}
	defer hangUp(c)
	there, err := p.exists(background, c)
	if err != nil && !isDamage(err) {
		err = fmt.Errorf("the ledger %s cannot be opened: %w", p.name, p.said(err))
	}
	return there, err
}

// openAlone opens a ledger, and does something with it while no server has it open. One that begins
// meanwhile is refused by the anchor.
func openAlone(address string, o Options, do func(*Ledger) (groupcommit.Recovered, error)) (r groupcommit.Recovered, err error) {
	l, err := OpenWith(address, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	var others int
	l.Lock()
	err = writer{l}.persist(func() error {
		return l.conn.QueryRow(background,
			l.database.in("SELECT count(*) FROM ledger.servers WHERE state = 'serving' AND server <> $1"), l.servers.server).Scan(&others)
	})
	l.Unlock()
	if err != nil {
		return r, l.explain(err)
	}
	if others > 0 {
		return r, fmt.Errorf("%w: %d have the ledger %s open, or were seen in the last %s and did not close it. Nothing was changed",
			errServing, others, l.Path, l.servers.lease)
	}
	return do(l)
}

var errServing = errors.New("this works only while no server runs: stop all servers, and wait until the lease is over of those that " +
	"were killed")

// Import makes a new ledger of the records of another one, where there is none. What it wrote is
// for the caller to verify.
func Import(address string, lines iter.Seq2[chain.Stored, error]) error {
	p, err := parse(address)
	if err != nil {
		return err
	}
	c, err := p.dial(background)
	if err != nil {
		return fmt.Errorf("the ledger %s cannot be written: %w", p.name, p.said(err))
	}
	defer hangUp(c)
	// Who is copied from may be slow.
	if _, err := c.Exec(background, "SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0"); err != nil {
		return p.said(err)
	}
	filled := false
	err = p.fill(background, c, func(tx pgx.Tx) error {
		filled = true
		return p.copyIn(tx, lines)
	})
	if err == nil && !filled {
		return fmt.Errorf("there is a ledger at %s already, and it is not replaced", p.name)
	}
	if err != nil && !isDamage(err) {
		err = fmt.Errorf("the ledger %s cannot be written: %w", p.name, p.said(err))
	}
	return err
}

func (p *database) copyIn(tx pgx.Tx, lines iter.Seq2[chain.Stored, error]) error {
	next, stop := iter.Pull2(lines)
	defer stop()
	var head ledger.Position
	n := 0
	_, err := tx.CopyFrom(background, pgx.Identifier{p.schema, "records"}, []string{"sequence", "body", "hash", "answer", "server"},
		pgx.CopyFromFunc(func() ([]any, error) {
			s, err, more := next()
			if !more || err != nil {
				return nil, err
			}
			n++
			head = ledger.Position{Sequence: s.Record.Sequence, Hash: s.Hash}
			return []any{int64(head.Sequence), []byte(s.Body), s.Hash, s.Answer, int64(0)}, nil
		}))
	if err == nil && n == 0 {
		err = errors.New("there are no records")
	}
	if err == nil {
		_, err = tx.Exec(background, p.in(insertHead), Format, int64(head.Sequence), head.Hash)
	}
	return err
}

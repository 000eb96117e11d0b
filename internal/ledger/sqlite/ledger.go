package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/groupcommit"
	"github.com/discreet-dp/discreet/ledger"
)

// Ledger is a ledger in a SQLite file. All methods are safe for concurrent use.
// Calls that write and come at the same time are written together.
type Ledger struct {
	*groupcommit.Committer // decides; the rest belongs to whoever holds its lock

	lock    *lock
	conn    *conn
	marked  bool   // the file says that it needs its log
	died    bool   // the process before did not close it
	log     int64  // how long the log was before the last group
	commits uint64 // transactions so far

	checkpoints checkpointing
	prover      chain.Prover
	helpers     sync.WaitGroup // what runs in the background
	stop        chan struct{}  // closed when that is to end

	begin, commit, insertRecord, updateHead, selectRecord *sql.Stmt
}

// Close implements [ledger.Ledger]. To close twice does nothing.
//
// A ledger that was closed without an error is a single file. One that was stopped keeps its log.
func (l *Ledger) Close() error {
	l.stopBackground()
	l.Lock()
	defer l.Unlock()
	if l.Shut {
		return nil
	}
	l.Shut = true
	var err error
	if l.Broken == nil {
		err = errors.Join(l.Keeper.Close(background, l.State), l.settle())
	}
	for _, s := range []*sql.Stmt{l.begin, l.commit, l.insertRecord, l.updateHead, l.selectRecord} {
		err = errors.Join(err, s.Close())
	}
	err = errors.Join(err, l.conn.Close())
	if l.Broken == nil && !l.marked {
		if size, e := logSize(l.Path); e == nil && size == 0 {
			if e := os.Remove(l.Path + "-wal"); !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}
	// The connection goes before the lock, which must cover what SQLite still writes.
	return errors.Join(err, l.lock.release())
}

// settle puts everything into the file, and only then says in it that it needs no log.
func (l *Ledger) settle() error {
	if !l.marked {
		return nil
	}
	for _, step := range []func() error{l.conn.empty, func() error { return l.conn.mark(closed) }} {
		if err := step(); err != nil {
			return &ledger.WriteError{Path: l.Path, Broken: true, Err: err}
		}
	}
	l.marked = false
	return nil
}

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
	keeper.SetNoteReader(l.ProtectsAt)
	if err := keeper.Open(background, l.Path, l.State, l.HashAt); err != nil {
		return nil, l.abandon(fmt.Errorf("the ledger %s was not opened, and nothing was charged: %w", l.Path, err))
	}
	l.Keeper = keeper
	if err := l.noteAnchor(o.Anchorage); err != nil {
		return nil, l.abandon(err)
	}
	l.startBackground()
	return l, nil
}

// noteAnchor makes the ledger know by itself that it has an anchor. Where the disk is full it is
// tried again when the ledger is next opened: what was paid for can be had until then.
func (l *Ledger) noteAnchor(place ledger.Anchorage) error {
	if place == nil || l.State.Notes.Anchored() {
		return nil
	}
	if err := l.Note(background, ledger.AnchorNotesIn(l.State.Notes.Era()), []byte(place.String())); err != nil {
		return l.StopCause()
	}
	return nil
}

// Open opens the ledger at the path for writing and creates it when there is none. It
// checks the ledger first: from its first record on, or, where the chain proves a checkpoint, from
// there. What is before a checkpoint is then checked in the background, and whatever of it is read.
//
// It returns a [*ledger.CorruptError] when the ledger does not check, and
// [ledger.ErrBusy] when it is open elsewhere and stays so for two seconds.
func Open(path string) (*Ledger, error) { return OpenWith(path, Options{}) }

func open(path string, now func() time.Time) (*Ledger, error) { return openWith(path, Options{}, now) }

// openAnchored opens a ledger after comparing it with its anchor, before anything is changed. To go
// on from there is the caller's to do: the anchor must not know of what a process that died left in
// the log before that is on stable storage.
func openAnchored(path string, now func() time.Time, keeper *chain.AnchorKeeper, o Options) (_ *Ledger, err error) {
	path, _, err = resolve(path)
	if err != nil {
		return nil, err
	}
	lock, err := acquire(path, true)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.release())
		}
	}()
	// Looked at again: another process may have created it while we waited.
	path, exists, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if !exists {
		// An anchor without a ledger is one whose ledger is lost.
		if err := keeper.Open(background, path, nil, nil); err != nil {
			return nil, err
		}
		if err := create(path, now()); err != nil {
			return nil, err
		}
	}
	markUsed(path)
	state, by, err := check(path, keeper, o)
	if err != nil {
		return nil, err
	}
	if err := secureLog(path); err != nil {
		return nil, err
	}
	c, marker, err := openForWriting(path, state)
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		Committer: &groupcommit.Committer{Path: path, Now: now, State: state}, lock: lock, conn: c,
		marked: marker == opened, died: marker == opened, stop: make(chan struct{}),
		checkpoints: checkpointing{last: state.Unread(), chosen: by, whole: state.Unread() == 0},
	}
	l.Open(writer{l})
	if err := l.prepare(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	nameWriter(path)
	return l, nil
}

// check reads the ledger through a view, which cannot change it.
func check(path string, keeper *chain.AnchorKeeper, o Options) (_ *chain.State, by chosen, err error) {
	believe, err := chain.Believed(keeper, path, o.Full)
	if err != nil {
		return nil, noneChosen, err
	}
	v, err := openView(path)
	if err != nil {
		return nil, noneChosen, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	c, state, err := v.replay(believe, o.Tell)
	if err != nil {
		return nil, noneChosen, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if o.mending {
		return state, v.by, nil
	}
	_, _, err = keeper.Check(background, path, state, func(sequence uint64) (string, error) {
		var hash string
		err := c.QueryRowContext(background, "SELECT hash FROM records WHERE sequence = ?", int64(sequence)).Scan(&hash)
		if err == nil {
			err = new(chain.Prover).Prove(state, sequence, hash, c.hashes)
		}
		return hash, err
	})
	return state, v.by, err
}

// openForWriting opens the database for this process alone. SQLite reads its log again, and must
// come to the same head as we did. What a process that died left in the log is put into the file,
// so that a new log begins empty.
func openForWriting(path string, state *chain.State) (_ *conn, marker uint32, err error) {
	c, err := dial(path)
	if err != nil {
		return nil, 0, corrupt(path, "it cannot be opened", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := errors.Join(c.set(writePragmas...), c.set(readPragmas...)); err != nil {
		return nil, 0, corrupt(path, "it cannot be opened", err)
	}
	if err := checkHead(c, path, state); err != nil {
		return nil, 0, err
	}
	if err := c.QueryRowContext(background, "PRAGMA user_version").Scan(&marker); err != nil {
		return nil, 0, corrupt(path, "it cannot be opened", err)
	}
	if size, err := logSize(path); err != nil {
		return nil, 0, err
	} else if size > 0 {
		// On a full disk the log stays, which has everything, so that what was paid for can still
		// be had.
		if err := c.empty(); err != nil && !isFull(err) {
			return nil, 0, &ledger.WriteError{Path: path, Broken: true, Err: err}
		}
	}
	// Both names must outlast a loss of power before anything is confirmed that is only in the log.
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return nil, 0, &ledger.WriteError{Path: path, Broken: true, Err: err}
	}
	return c, marker, nil
}

func (l *Ledger) prepare() error {
	for _, s := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&l.begin, "BEGIN IMMEDIATE"}, {&l.commit, "COMMIT"},
		{&l.insertRecord, insertRecord}, {&l.updateHead, updateHead}, {&l.selectRecord, selectRecord},
	} {
		stmt, err := l.conn.PrepareContext(background, s.sql)
		if err != nil {
			return fmt.Errorf("the ledger %s cannot be used: %w", l.Path, err)
		}
		*s.to = stmt
	}
	return nil
}

var _ ledger.Ledger = (*Ledger)(nil)

// Anchor stores the anchor where one is due, with the records that were just made, or one that
// could not be stored before. The fate of the ledger itself is known, so it goes on: the same
// request gets its receipt when the anchor could be stored.
func (l writer) Anchor(made []*chain.Link) error {
	if l.Keeper == nil {
		return nil
	}
	records := make([]*ledger.Record, len(made))
	for i, k := range made {
		records[i] = k.Record
	}
	return l.Keeper.Committed(background, l.State, records)
}

// abandon closes a ledger that is not handed out, without an anchor.
func (l *Ledger) abandon(cause error) error {
	l.Keeper = nil
	if err := l.Close(); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// Failed decides what a failed write means, and returns the error for everybody who took part in
// it. A full disk is noticed before a commit is complete, so after a rollback the ledger can go on
// if the file proves to be as it was. Any other failure, above all of fsync, stops this ledger for
// good: the kernel may have dropped what it could not write and report success the next time, so to
// try again would be to confirm what is not there (Rebello et al. 2020, "Can Applications Recover
// from fsync Failures?").
func (l writer) Failed(g *groupcommit.Group, cause error) *ledger.WriteError {
	l.Broken = &ledger.WriteError{Path: l.Path, Broken: true, Err: cause}
	if !isFull(cause) {
		return l.Broken
	}
	// SQLite may have rolled back by itself, so an error here says nothing.
	_, _ = l.conn.ExecContext(background, "ROLLBACK")
	// Frames of the transaction may be left in the log, and must not be found before those of
	// another one. Where there is no room in the file for what is in the log, they are cut off.
	err := l.conn.empty()
	if isFull(err) && l.marked { // the marker is a transaction of one page, and leaves nothing that could be mistaken
		err = cutLog(l.Path, l.log)
	} else if isFull(err) {
		err = nil
	}
	if err != nil {
		return l.Broken
	}
	// The state has records that the file has not. The one checkpoint that is believed is the one
	// that this ledger read or made.
	mine := l.checkpoints.sum
	state, _ := fromCheckpoint(l.conn, l.Path, func(sum string) bool { return sum == mine }, nil)
	if state == nil {
		state, err = checkRecords(l.conn, l.Path, int64(g.Sequence)*minRecordBytes, nil)
	}
	if err == nil {
		err = checkHead(l.conn, l.Path, state)
	}
	if err != nil {
		return l.Broken
	}
	if sequence, hash := state.Head(); sequence != g.Sequence || hash != g.Hash {
		return l.Broken
	}
	l.State, l.Broken = state, nil
	return &ledger.WriteError{Path: l.Path, Err: cause}
}

func isFull(err error) bool { return code(err)&0xff == sqlite3.SQLITE_FULL }

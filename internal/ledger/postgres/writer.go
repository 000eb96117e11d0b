package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/groupcommit"
	"github.com/discreet-dp/discreet/internal/version"
	"github.com/discreet-dp/discreet/ledger"
)

// writer is the ledger as its committer sees it.
type writer struct{ *Ledger }

var _ groupcommit.Store = writer{}

// reconnectTimeout is how long is tried to reach a database that restarts or fails over, before
// whoever waits is told that nothing was written, or that it is not known. Tests have less.
var reconnectTimeout = defaultReconnectTimeout

const defaultReconnectTimeout = 20 * time.Second

// errFenced is why a server ends that was given up by the others.
var errFenced = errors.New("this server was not seen for longer than its lease, and the other servers have gone on without it: start " +
	"it again")

// errUnknown is returned where nobody could be asked whether a commit was made.
var errUnknown = errors.New("the connection to the database was lost while this was written, and could not be restored")

// Begin implements [groupcommit.Store]. It locks the head, which nobody else gets before our
// transaction ends, and takes in what others have written.
func (w writer) Begin() *ledger.WriteError {
	err := w.persist(func() error { return w.begin() })
	if err == nil {
		return nil
	}
	return w.writeError(err)
}

// writeError says what it means that the database could not be asked before anything was written.
func (w writer) writeError(err error) *ledger.WriteError {
	if isDamage(err) || errors.Is(err, errFenced) {
		w.halt(err)
		return w.Broken
	}
	return &ledger.WriteError{Path: w.Path, Remote: true, Err: w.database.said(err)}
}

func (l *Ledger) halt(cause error) {
	l.Stop(cause)
	l.Broken.Remote = true
}

// persist does something until it is done, over a new connection where one was lost. It must be
// something that can be done twice.
func (w writer) persist(do func() error) error {
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := w.connect()
		if err == nil {
			if err = do(); err == nil {
				return nil
			}
			w.drop()
		}
		if isDamage(err) || errors.Is(err, errFenced) || time.Since(begun) > reconnectTimeout {
			return err
		}
		select {
		case <-w.stop:
			return err
		default:
		}
	}
}

// connect sees to it that there is a connection.
func (w writer) connect() (err error) {
	if w.conn == nil || w.conn.IsClosed() {
		w.conn = nil // what follows may fail
		w.conn, err = w.database.dial(background)
	}
	return err
}

func (w writer) drop() {
	hangUp(w.conn)
	w.conn = nil
}

// begin is one message to the database and its answer.
func (w writer) begin() error {
	if w.stale { // nothing can be added to what may not be there
		if err := w.rebuild(); err != nil {
			return err
		}
	}
	began := time.Now()
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	b.Queue(w.database.in(lockHead))
	b.Queue(w.database.in("SELECT state FROM ledger.servers WHERE server = $1"), w.servers.server)
	b.Queue(w.database.in(selectSince), w.next()-1, rowsPerQuery)
	r := w.conn.SendBatch(background, b)
	defer r.Close()
	if _, err := r.Exec(); err != nil {
		return err
	}
	var sequence int64
	var format int
	var hash, state string
	if err := r.QueryRow().Scan(&sequence, &hash, &format); err != nil {
		return err
	}
	if format != Format { // a newer version took it over while this one ran
		return &ledger.CorruptError{Path: w.Path, Newer: version.Newer("the ledger "+w.Path, fmt.Sprint(format), fmt.Sprint(Format), "")}
	}
	if err := r.QueryRow().Scan(&state); err != nil || state != "serving" {
		if err == nil || errors.Is(err, pgx.ErrNoRows) {
			err = errFenced
		}
		return err
	}
	rows, err := r.Query()
	if err != nil {
		return err
	}
	head, n, err := w.applyRows(rows)
	if err == nil {
		err = r.Close()
	}
	if err == nil && n == rowsPerQuery {
		err = w.catchUp(nil)
	} else if err == nil {
		err = w.checkHead(head)
	}
	if err == nil {
		w.fresh = began
	}
	return err
}

// Write implements [groupcommit.Store]. Records, head and COMMIT are one message.
func (w writer) Write(g *groupcommit.Group) error {
	if len(g.Links) == 0 {
		if _, err := w.conn.Exec(background, "ROLLBACK"); err != nil {
			w.drop() // nothing was written, and the transaction ends with its connection
		}
		return nil
	}
	last := g.Links[len(g.Links)-1]
	written := ledger.Position{Sequence: last.Record.Sequence, Hash: last.Hash}
	err := w.send(g)
	w.commits++
	if err != nil {
		cause := w.database.said(err)
		w.drop()
		there, err := w.findFate(written)
		if err != nil {
			return errors.Join(errUnknown, cause)
		}
		if !there {
			return cause
		}
	}
	w.known = written
	return nil
}

func (w writer) send(g *groupcommit.Group) error {
	sequences, hashes := make([]int64, len(g.Links)), make([]string, len(g.Links))
	bodies := make([][]byte, len(g.Links))
	for i, k := range g.Links {
		sequences[i], bodies[i], hashes[i] = int64(k.Record.Sequence), []byte(k.Body), k.Hash
	}
	n := len(g.Links) - 1
	b := &pgx.Batch{}
	b.Queue(w.database.in(insertRecords), sequences, bodies, hashes, g.Answers, w.servers.server)
	b.Queue(w.database.in(updateHead), sequences[n], hashes[n], int64(g.Sequence), g.Hash)
	b.Queue("COMMIT")
	r := w.conn.SendBatch(background, b)
	for range 2 {
		if _, err := r.Exec(); err != nil {
			return errors.Join(err, r.Close())
		}
	}
	tag, err := r.Exec()
	if err == nil && tag.String() != "COMMIT" { // what could not be done is rolled back
		err = errors.New("the transaction was rolled back")
	}
	return errors.Join(err, r.Close())
}

// findFate asks whether a commit was made whose connection was lost. To lock the head waits for the
// end of a transaction that is still under way on the other side; after that it is there or never
// will be.
func (w writer) findFate(of ledger.Position) (there bool, err error) {
	err = w.persist(func() error {
		return pgx.BeginFunc(background, w.conn, func(tx pgx.Tx) error {
			var sequence int64
			var format int
			var hash string
			if err := tx.QueryRow(background, w.database.in(lockHead)).Scan(&sequence, &hash, &format); err != nil {
				return err
			}
			err := tx.QueryRow(background, w.database.in(selectHash), int64(of.Sequence)).Scan(&hash)
			if errors.Is(err, pgx.ErrNoRows) {
				there = false
				return nil
			}
			there = hash == of.Hash
			return err
		})
	})
	return there, err
}

// Failed implements [groupcommit.Store]. The state has records that are not there, or may not be,
// so it is made anew before it is used again. Those whose fate is not known are told so: asked
// again under the same name, they get what was written, or write it.
func (w writer) Failed(g *groupcommit.Group, cause error) *ledger.WriteError {
	w.stale = w.stale || len(g.Links) > 0
	w.drop() // with its transaction, where that is open
	return &ledger.WriteError{Path: w.Path, Remote: true, Unknown: errors.Is(cause, errUnknown), Err: cause}
}

func (w writer) Served() { w.checkpoints.begin() }

// Refresh implements [groupcommit.Store]. Who asked before the last look began needs no other.
func (w writer) Refresh(asked time.Time) error {
	if !w.stale && w.fresh.After(asked) {
		return nil
	}
	err := w.persist(func() error {
		if w.stale {
			if err := w.begin(); err != nil {
				return err
			}
			_, err := w.conn.Exec(background, "ROLLBACK")
			return err
		}
		began := time.Now()
		if err := w.catchUp(nil); err != nil {
			return err
		}
		w.fresh = began
		return nil
	})
	if err == nil {
		return nil
	}
	return w.writeError(err)
}

func (w writer) Read(sequence uint64) (*ledger.Record, string, []byte, error) {
	var record *ledger.Record
	var hash string
	var answer []byte
	ask := func() (err error) {
		if record, hash, answer, err = w.readRecord(sequence); err == nil {
			err = w.prove(sequence, hash)
		}
		return err
	}
	// In a transaction there is one connection, and what was lost with it is not read over another.
	var err error
	if w.conn != nil && w.conn.PgConn().TxStatus() != 'I' {
		err = ask()
	} else {
		err = w.persist(ask)
	}
	switch {
	case isDamage(err):
		return nil, "", nil, err
	case err != nil:
		return nil, "", nil, w.writeError(err)
	}
	return record, hash, answer, nil
}

// readRecord reads a record and checks it against its hash.
func (w writer) readRecord(sequence uint64) (*ledger.Record, string, []byte, error) {
	var body, answer []byte
	var hash string
	err := w.conn.QueryRow(background, w.database.in(selectRecord), int64(sequence)).Scan(&body, &hash, &answer)
	if errors.Is(err, pgx.ErrNoRows) {
		err = w.corrupt(fmt.Sprintf("record %d is missing", sequence))
	}
	if err != nil {
		return nil, "", nil, err
	}
	record := new(ledger.Record)
	if err = record.Read(string(body), hash, chain.AnswerHash(answer)); err == nil && record.Sequence != sequence {
		err = fmt.Errorf("it is record %d", record.Sequence)
	}
	if err != nil {
		return nil, "", nil, &ledger.CorruptError{Path: w.Path, Where: fmt.Sprintf("record %d cannot be read", sequence), Err: err}
	}
	return record, hash, answer, nil
}

package postgres

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// checkpointLeast is how many records come between two checkpoints at least: to read so many takes
// a fraction of a second.
var checkpointLeast = uint64(1 << 15)

const (
	selectCheckpoints = `SELECT last, sum, sum(length(bytes))::bigint FROM ledger.checkpoints GROUP BY last, sum ORDER BY last DESC`
	selectParts       = `SELECT bytes FROM ledger.checkpoints WHERE last = $1 AND sum = $2 ORDER BY part`
	insertPart        = `INSERT INTO ledger.checkpoints (last, sum, part, bytes) VALUES ($1, $2, $3, $4)`
	// The one before stays, for who is about to read it.
	deleteParts  = `DELETE FROM ledger.checkpoints WHERE last < (SELECT max(last) FROM ledger.checkpoints WHERE last < $1)`
	selectHashes = `SELECT hash FROM ledger.records WHERE sequence BETWEEN $1 AND $2 ORDER BY sequence`
)

// candidate is what may be a checkpoint.
type candidate struct {
	Last int64
	Sum  string
	Size int64
}

// candidates returns the checkpoints of a ledger, the latest first.
func (p *database) candidates(c *pgx.Conn) ([]candidate, error) {
	rows, err := c.Query(background, p.in(selectCheckpoints))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[candidate])
}

// restore makes the state: by the latest checkpoint that the chain proves and that may be believed
// and by the records after it, or from the first record on.
func (l *Ledger) restore(believe chain.Believe, tell func(done, of uint64)) error {
	if l.fromCheckpoint(believe, tell) {
		return nil
	}
	l.State, l.checkpoints.sum = chain.New(), ""
	return l.catchUp(tell)
}

// fromCheckpoint reports whether the state could be made by a checkpoint. Why one was of no use
// does not matter: the records say what is wrong with them, if anything.
func (l *Ledger) fromCheckpoint(believe chain.Believe, tell func(done, of uint64)) bool {
	var head int64
	if l.conn.QueryRow(background, l.database.in("SELECT sequence FROM ledger.head")).Scan(&head) != nil {
		return false
	}
	all, err := l.database.candidates(l.conn)
	if err != nil { // a ledger from before there were any, or a role that may not read them
		return false
	}
	for _, k := range all {
		if k.Last < 0 || chain.CheckpointTooFar(uint64(k.Last), uint64(head), checkpointLeast) || !believe(k.Sum) {
			continue
		}
		state, sum, err := l.database.readCheckpoint(l.conn, k)
		if err != nil || sum != k.Sum {
			continue
		}
		if last, _ := state.Head(); last != uint64(k.Last) {
			continue
		}
		l.State = state
		if err = l.catchUp(tell); err == nil {
			err = chain.ProveCheckpoint(state, uint64(k.Last), sum, l.readProven)
		}
		if err == nil {
			l.checkpoints.sum = sum
			return true
		}
	}
	return false
}

// readCheckpoint reads the state that a checkpoint claims, and the hash of its bytes.
func (p *database) readCheckpoint(c *pgx.Conn, k candidate) (*chain.State, string, error) {
	// As bytes, which pgx asks for only where it has asked for the types before.
	rows := c.PgConn().ExecParams(background, p.in(selectParts), [][]byte{strconv.AppendInt(nil, k.Last, 10), []byte(k.Sum)}, nil, nil,
		[]int16{pgx.BinaryFormatCode})
	state, sum, err := chain.ReadCheckpoint(&parts{rows: rows}, k.Size)
	_, closed := rows.Close()
	return state, sum, errors.Join(err, closed)
}

// parts are the bytes of a checkpoint.
type parts struct {
	rows *pgconn.ResultReader
	rest []byte // until the next row
}

func (p *parts) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if !p.rows.NextRow() {
			return 0, io.EOF // what went wrong is said when it is closed
		}
		p.rest = p.rows.Values()[0]
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// keepCheckpoint writes a checkpoint, as a whole or not at all.
func (p *database) keepCheckpoint(c *pgx.Conn, state *chain.State) (string, error) {
	last, _ := state.Head()
	// The hash stands beside each part, so it is made first.
	sum, err := chain.CheckpointSum(state)
	if err != nil {
		return "", err
	}
	err = pgx.BeginFunc(background, c, func(tx pgx.Tx) error {
		w := &partWriter{database: p, tx: tx, last: int64(last), sum: sum}
		again, err := chain.WriteCheckpoint(w, state)
		if err == nil && again != sum {
			err = errors.New("a checkpoint was made twice, and differs")
		}
		return err
	})
	return sum, err
}

type partWriter struct {
	database *database
	tx       pgx.Tx
	last     int64
	sum      string
	part     int64
}

func (w *partWriter) Write(b []byte) (int, error) {
	w.part++
	if _, err := w.tx.Exec(background, w.database.in(insertPart), w.last, w.sum, w.part, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// readProven reads a record, and what is stored with it, and checks both against the chain.
func (l *Ledger) readProven(sequence uint64) (*ledger.Record, []byte, error) {
	record, hash, answer, err := writer{l}.readRecord(sequence)
	if err == nil {
		err = l.prove(sequence, hash)
	}
	return record, answer, err
}

// prove proves a record that was not read when the ledger was opened.
func (l *Ledger) prove(sequence uint64, hash string) error {
	if sequence > l.State.Unread() {
		return nil
	}
	var failed error // of the database, and not of the proof
	err := l.prover.Prove(l.State, sequence, hash, func(first, last uint64) ([]string, error) {
		var all []string
		rows, err := l.conn.Query(background, l.database.in(selectHashes), int64(first), int64(last))
		if err == nil {
			all, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		failed = err
		return all, err
	})
	if err == nil || failed != nil {
		return failed
	}
	return &ledger.CorruptError{Path: l.Path, Where: fmt.Sprintf("record %d cannot be read", sequence), Err: err}
}

// checkpointing is what a server does about the checkpoints of the ledger. All of it belongs to
// whoever holds the lock.
type checkpointing struct {
	l      *Ledger
	last   uint64 // the record of the last one, or of its note
	sum    string // the one by which we read the ledger, or that we made since
	whole  bool   // all records were read and checked by this process
	making bool
}

// begin begins to make a checkpoint where one is due. It is made of a copy, in the background.
// None is made of another that was not checked yet: what is wrong with one would be in all that
// follow. None is made of records that may not be in the database. The caller holds the lock.
func (k *checkpointing) begin() {
	last, _ := k.l.State.Head()
	if k.making || !k.whole || k.l.stale || k.l.StopCause() != nil || last > chain.MaxCheckpoint ||
		last-min(k.last, last) < chain.CheckpointDue(last, checkpointLeast) {
		return
	}
	select {
	case <-k.l.stop:
		return
	default:
	}
	k.making = true
	of, clone := k.l.State, k.l.State.Clone()
	k.l.helpers.Go(func() { k.make(of, clone) })
}

// start begins what a ledger does about its checkpoints when it is opened.
func (k *checkpointing) start() {
	k.l.Lock()
	defer k.l.Unlock()
	k.last = k.l.State.Unread()
	k.whole = k.last == 0
	if last, sum := k.last, k.sum; last > 0 {
		k.l.helpers.Go(func() { k.scrub(last, sum) })
	}
	k.begin()
}

// make writes a checkpoint, and then its note into the chain. A checkpoint that cannot be
// written is left out, and so is one that another server is at: the ledger needs none, and only
// opens more slowly.
func (k *checkpointing) make(of, clone *chain.State) {
	last, _ := clone.Head()
	clone.Sort()
	sum, failed := k.store(clone)
	k.l.Lock()
	defer k.l.Unlock()
	k.making, k.last = false, max(k.last, last) // where it failed, the next one is as far away
	if failed == nil {
		k.sum = sum
		k.l.Keeper.Vouch(sum)
	}
	if k.l.StopCause() == nil && k.l.State == of {
		k.l.State.Settle(clone)
	}
}

var errElsewhere = errors.New("another server makes a checkpoint, or has made one")

// store stores a checkpoint over a connection of its own, while no other server does.
func (k *checkpointing) store(clone *chain.State) (sum string, err error) {
	last, _ := clone.Head()
	c, err := k.l.database.dial(background)
	if err != nil {
		return "", err
	}
	defer hangUp(c)
	var ours bool
	// Whose connection ends gives the lock back.
	if err := c.QueryRow(background, "SELECT pg_try_advisory_lock(hashtextextended($1, 0))", "discreet checkpoint "+k.l.database.schema).
		Scan(&ours); err != nil || !ours {
		return "", errors.Join(err, errElsewhere)
	}
	all, err := k.l.database.candidates(c)
	if err != nil {
		return "", err
	}
	if len(all) > 0 && uint64(all[0].Last)+chain.CheckpointDue(last, checkpointLeast)/2 > last && k.vouchedFor(all[0]) {
		return "", errElsewhere
	}
	if sum, err = k.l.database.keepCheckpoint(c, clone); err != nil {
		return "", err
	}
	if err := k.l.Note(background, ledger.CheckpointNotes(clone.Notes.Era()), []byte(chain.CheckpointNote(last, sum))); err != nil {
		return "", err
	}
	_, _ = c.Exec(background, k.l.database.in(deleteParts), int64(last)) // what is left is deleted after the next one
	return sum, nil
}

// vouchedFor reports whether a checkpoint is one by which the ledger can be opened: the chain knows
// it, and the anchor, where there is one.
func (k *checkpointing) vouchedFor(c candidate) bool {
	k.l.Lock()
	defer k.l.Unlock()
	return k.l.StopCause() == nil && writer{k.l}.Refresh(time.Now()) == nil && (k.l.Keeper == nil || k.l.Keeper.Vouched() == c.Sum) &&
		chain.CheckNoted(k.l.State, uint64(c.Last), c.Sum, k.l.readProven) == nil
}

// scrub checks in the background what was left out when the ledger was opened by a checkpoint, over
// a connection of its own. It stops the server where it finds something.
func (k *checkpointing) scrub(last uint64, sum string) {
	var c *pgx.Conn
	defer func() { hangUp(c) }()
	done, at, err := chain.Scrub(last, sum, k.l.stop, func(from, n uint64) (rows []chain.Row, err error) {
		for {
			if rows, err = k.scrubSome(&c, from, n); err == nil {
				return rows, nil
			}
			hangUp(c)
			c = nil
			select { // a database that restarts is no damage
			case <-k.l.stop:
				return nil, nil
			case <-time.After(time.Second):
			}
		}
	})
	k.l.Lock()
	defer k.l.Unlock()
	switch {
	case err != nil:
		k.l.halt(k.l.corrupt(fmt.Sprintf("record %d: %v", at, err)))
	case done:
		k.whole = true
		k.begin()
	}
}

func (k *checkpointing) scrubSome(c **pgx.Conn, from, n uint64) (_ []chain.Row, err error) {
	if *c == nil {
		if *c, err = k.l.database.dial(background); err != nil {
			return nil, err
		}
	}
	rows, err := (*c).Query(background, k.l.database.in(selectSome), int64(from), int64(n))
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows(make([]chain.Row, 0, n), rows, func(from pgx.CollectableRow) (r chain.Row, err error) {
		var body []byte
		err = from.Scan(&r.Sequence, &body, &r.Hash, &r.Answer)
		r.Body = string(body)
		return r, err
	})
}

const selectSome = `SELECT sequence, body, hash, coalesce(encode(sha256(answer), 'hex'), '') FROM ledger.records
WHERE sequence >= $1 ORDER BY sequence LIMIT $2`

package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/ledger"
)

// atOnce is how many records are read by one statement.
const atOnce = 4096

// catchUp takes in all records that are not in the state, up to the head, in as many statements as
// that takes.
func (l *Ledger) catchUp(tell func(done, of uint64)) error {
	how := pgx.QueryExecModeExec
	for {
		rows, err := l.conn.Query(background, l.place.in(selectSince), how, l.next()-1, atOnce)
		if err != nil {
			return err
		}
		head, n, err := l.takeIn(rows)
		if err != nil {
			return err
		}
		if n < atOnce {
			return l.atHead(head)
		}
		how = pgx.QueryExecModeDescribeExec // one message more, and half of the bytes
		if tell != nil {
			tell(uint64(l.next()), head.Sequence)
		}
	}
}

// next is the record that comes after the state.
func (l *Ledger) next() int64 {
	sequence, hash := l.State.Head()
	if hash == "" {
		return 0
	}
	return int64(sequence) + 1
}

// takeIn reads the rows of selectSince into the state.
func (l *Ledger) takeIn(rows pgx.Rows) (head ledger.Position, n int, err error) {
	defer rows.Close()
	found := false
	for rows.Next() {
		var last int64
		var sequence *int64
		var body []byte
		var hash *string
		var answer string
		if err := rows.Scan(&last, &head.Hash, &sequence, &body, &hash, &answer); err != nil {
			return head, n, err
		}
		found, head.Sequence = true, uint64(last)
		if sequence == nil {
			break // nothing new
		}
		if err := l.apply(*sequence, string(body), *hash, answer); err != nil {
			return head, n, err
		}
		n++
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return head, n, err
	}
	if !found {
		return head, n, l.corrupt("its head is missing")
	}
	return head, n, nil
}

// apply checks the next record as an auditor does, whoever wrote it, and adds it to the state.
func (l *Ledger) apply(sequence int64, body, hash, answerHash string) error {
	want := l.next()
	if sequence != want {
		return l.corrupt(fmt.Sprintf("record %d: it is missing", want))
	}
	var r ledger.Record
	err := r.Read(body, hash, answerHash)
	if err == nil && r.Sequence != uint64(want) {
		err = fmt.Errorf("it says that it is number %d", r.Sequence)
	}
	if err == nil {
		err = l.State.Check(&r)
	}
	if err != nil {
		return l.corrupt(fmt.Sprintf("record %d: %v", want, err))
	}
	l.State.Apply(&r, hash)
	if r.Kind == ledger.KindNote && r.Session == ledger.CheckpointNotes(l.State.Notes.Era()) {
		l.checkpoints.last = r.Sequence
	}
	if l.Keeper != nil {
		l.Keeper.Follow(&r)
	}
	return nil
}

// atHead returns an error unless the state ends where the head says. A database that has less than
// we have read has lost something: it was restored, or a standby took over that was behind.
func (l *Ledger) atHead(head ledger.Position) error {
	sequence, hash := l.State.Head()
	if head.Sequence == sequence && head.Hash == hash {
		l.known = head
		return nil
	}
	return l.corrupt(fmt.Sprintf("this server has read it up to record %d, and the database ends at record %d, or has another one there",
		sequence, head.Sequence))
}

func (l *Ledger) corrupt(where string) error { return &ledger.CorruptError{Path: l.Path, Where: where} }

// rebuild makes the state anew from the records that are in the database by now. A transaction of
// ours whose connection was lost may be under way still: its records come later, as if others had
// written them. The one checkpoint that is believed is the one that this server read or made.
func (l *Ledger) rebuild() error {
	old, known, mine := l.State, l.known, l.checkpoints.sum
	err := l.restore(func(sum string) bool { return sum == mine }, nil)
	if err == nil && known.Hash != "" {
		var hash string
		err = l.conn.QueryRow(background, l.place.in(selectHash), int64(known.Sequence)).Scan(&hash)
		if err == nil && hash != known.Hash || errors.Is(err, pgx.ErrNoRows) {
			err = l.corrupt(fmt.Sprintf("record %d, which this server has read, is not there any more", known.Sequence))
		}
	}
	if err != nil {
		l.State, l.known, l.checkpoints.sum = old, known, mine
		return err
	}
	l.stale = false
	return nil
}

// damaged reports whether an error says that the ledger is not what it has to be.
func damaged(err error) bool { return errors.As(err, new(*ledger.CorruptError)) }

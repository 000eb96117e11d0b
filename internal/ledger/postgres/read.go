package postgres

import (
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/checkpoint"
	"github.com/discreet-dp/discreet/internal/ledger/desk"
	"github.com/discreet-dp/discreet/ledger"
)

// Reader reads a ledger as it was at one moment, without changing it. Servers that have it open go
// on meanwhile.
type Reader struct {
	place *place
	conn  *pgx.Conn
	head  ledger.Position
}

// Read opens the ledger at an address for reading.
func Read(address string) (_ *Reader, err error) {
	p, err := parse(address)
	if err != nil {
		return nil, err
	}
	r := &Reader{place: p}
	if r.conn, err = p.dial(background); err != nil {
		return nil, fmt.Errorf("the ledger %s cannot be read: %w", p.name, p.said(err))
	}
	defer func() {
		if err != nil {
			hangUp(r.conn)
		}
	}()
	there, err := p.exists(background, r.conn)
	if err == nil && !there {
		return nil, fmt.Errorf("there is no ledger at %s: %w", p.name, os.ErrNotExist)
	}
	if err != nil {
		return nil, (&Ledger{place: p}).reading(err)
	}
	// One snapshot for all that is read. Who reads is slow, and that is no reason to hang up.
	for _, sql := range []string{
		"SET idle_in_transaction_session_timeout = 0", "SET statement_timeout = 0",
		"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
	} {
		if _, err := r.conn.Exec(background, sql); err != nil {
			return nil, (&Ledger{place: p}).reading(err)
		}
	}
	var sequence int64
	if err := r.conn.QueryRow(background, p.in("SELECT sequence, hash FROM ledger.head")).Scan(&sequence, &r.head.Hash); err != nil {
		return nil, (&Ledger{place: p}).reading(err)
	}
	r.head.Sequence = uint64(sequence)
	return r, nil
}

// reading is an error for who reads a ledger.
func (l *Ledger) reading(err error) error {
	if damaged(err) {
		return err
	}
	return fmt.Errorf("the ledger %s cannot be read: %w", l.place.name, l.place.said(err))
}

// Path returns the address of the ledger, without its password.
func (r *Reader) Path() string { return r.place.name }

// Head returns the sequence and the hash of the last record.
func (r *Reader) Head() (uint64, string) { return r.head.Sequence, r.head.Hash }

// Lines returns all records in their order with the bytes of their answers, each checked against
// its hash and against the one before, and the last one against the head.
func (r *Reader) Lines() iter.Seq2[chain.Stored, error] {
	return func(yield func(chain.Stored, error) bool) {
		next, previous := uint64(0), ""
		corrupt := func(err error) {
			yield(chain.Stored{}, &ledger.CorruptError{Path: r.place.name, Where: fmt.Sprintf("record %d: %v", next, err)})
		}
		for next <= r.head.Sequence {
			rows, err := r.conn.Query(background,
				r.place.in("SELECT sequence, body, hash, answer FROM ledger.records WHERE sequence >= $1 ORDER BY sequence LIMIT $2"),
				int64(next), many)
			if err != nil {
				yield(chain.Stored{}, (&Ledger{place: r.place}).reading(err))
				return
			}
			some, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stored])
			if err != nil {
				yield(chain.Stored{}, (&Ledger{place: r.place}).reading(err))
				return
			}
			if len(some) == 0 {
				corrupt(errors.New("it is missing"))
				return
			}
			for _, s := range some {
				var record ledger.Record
				err := record.Read(string(s.Body), s.Hash, hashOf(s.Answer))
				switch {
				case s.Sequence != int64(next):
					err = errors.New("it is missing")
				case err == nil && (record.Sequence != next || record.Previous != previous):
					err = errors.New("the record does not continue the one before")
				}
				if err != nil {
					corrupt(err)
					return
				}
				if !yield(chain.Stored{Line: chain.Line{Record: &record, Body: string(s.Body), Hash: s.Hash}, Answer: s.Answer}, nil) {
					return
				}
				next, previous = next+1, s.Hash
			}
		}
		if next != r.head.Sequence+1 || previous != r.head.Hash {
			corrupt(fmt.Errorf("there are %d records, and the head says that the last is number %d", next, r.head.Sequence))
		}
	}
}

// stored is a row of the table of records.
type stored struct {
	Sequence int64
	Body     []byte
	Hash     string
	Answer   []byte
}

// Records returns all records in their order, checked as Lines does.
func (r *Reader) Records() iter.Seq2[chain.Line, error] {
	return func(yield func(chain.Line, error) bool) {
		for s, err := range r.Lines() {
			if !yield(s.Line, err) {
				return
			}
		}
	}
}

// Verify checks the ledger from its first record to its last and adds it up. It makes its
// checkpoints again: one that the chain vouches for and that does not follow from the records is a
// fault.
func (r *Reader) Verify(tell func(done, of uint64)) (chain.Summary, error) {
	all, err := r.candidates()
	if err != nil {
		return chain.Summary{}, err
	}
	made := make([]checkpoint.Remade, len(all))
	for i, k := range all {
		made[i].Last = uint64(k.Last)
	}
	s, state, err := chain.Verify(r.place.name, r.Records(), func(state *chain.State) error {
		for i := range made {
			if err := made[i].Make(state); err != nil {
				return err
			}
		}
		return nil
	}, func(done uint64) {
		if tell != nil {
			tell(done, r.head.Sequence)
		}
	})
	if err != nil {
		return s, err
	}
	l := &Ledger{Desk: &desk.Desk{Path: r.place.name, State: state}, place: r.place, conn: r.conn}
	for i, k := range all {
		_, sum, err := r.place.readCheckpoint(r.conn, k)
		if err != nil || sum == made[i].Sum || checkpoint.Noted(state, made[i].Last, sum, l.readProven) != nil {
			continue // it is good, or is not used
		}
		return chain.Summary{}, l.corrupt(fmt.Sprintf("its checkpoint at record %d does not follow from its records", k.Last))
	}
	return s, nil
}

// candidates returns the checkpoints of the ledger, none where it has no table of them or where
// they may not be read.
func (r *Reader) candidates() ([]candidate, error) {
	var readable bool
	err := r.conn.QueryRow(background, "SELECT coalesce(has_table_privilege(to_regclass($1), 'SELECT'), false)",
		pgx.Identifier{r.place.schema, "checkpoints"}.Sanitize()).Scan(&readable)
	if err == nil && readable {
		var all []candidate
		if all, err = r.place.candidates(r.conn); err == nil {
			return all, nil
		}
	}
	if err != nil {
		err = (&Ledger{place: r.place}).reading(err)
	}
	return nil, err
}

// Close lets go of the database.
func (r *Reader) Close() error {
	hangUp(r.conn)
	return nil
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/groupcommit"
	"github.com/discreet-dp/discreet/ledger"
)

// Reader reads a ledger as it was at one moment, without changing it. Servers that have it open go
// on meanwhile.
type Reader struct {
	database *database
	conn     *pgx.Conn
	head     ledger.Position
}

// Read opens the ledger at an address for reading.
func Read(address string) (_ *Reader, err error) {
	p, err := parse(address)
	if err != nil {
		return nil, err
	}
	r := &Reader{database: p}
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
		return nil, p.readError(err)
	}
	// One snapshot for all that is read. Who reads is slow, and that is no reason to hang up.
	for _, sql := range []string{
		"SET idle_in_transaction_session_timeout = 0", "SET statement_timeout = 0",
		"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
	} {
		if _, err := r.conn.Exec(background, sql); err != nil {
			return nil, p.readError(err)
		}
	}
	var sequence int64
	if err := r.conn.QueryRow(background, p.in("SELECT sequence, hash FROM ledger.head")).Scan(&sequence, &r.head.Hash); err != nil {
		return nil, p.readError(err)
	}
	r.head.Sequence = uint64(sequence)
	return r, nil
}

// readError is an error for who reads a ledger.
func (p *database) readError(err error) error {
	if isDamage(err) {
		return err
	}
	return fmt.Errorf("the ledger %s cannot be read: %w", p.name, p.said(err))
}

// Path returns the address of the ledger, without its password.
func (r *Reader) Path() string { return r.database.name }

// Head returns the sequence and the hash of the last record.
func (r *Reader) Head() (uint64, string) { return r.head.Sequence, r.head.Hash }

// Lines returns all records in their order with the bytes of their answers, each checked against
// its hash and against the one before, and the last one against the head.
func (r *Reader) Lines() iter.Seq2[chain.Stored, error] {
	return func(yield func(chain.Stored, error) bool) {
		next, previous := uint64(0), ""
		corrupt := func(err error) {
			yield(chain.Stored{}, &ledger.CorruptError{Path: r.database.name, Where: fmt.Sprintf("record %d: %v", next, err)})
		}
		for next <= r.head.Sequence {
			rows, err := r.conn.Query(background,
				r.database.in("SELECT sequence, body, hash, answer FROM ledger.records WHERE sequence >= $1 ORDER BY sequence LIMIT $2"),
				int64(next), nextRecords)
			if err != nil {
				yield(chain.Stored{}, r.database.readError(err))
				return
			}
			some, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stored])
			if err != nil {
				yield(chain.Stored{}, r.database.readError(err))
				return
			}
			if len(some) == 0 {
				corrupt(errors.New("it is missing"))
				return
			}
			for _, s := range some {
				var record ledger.Record
				err := record.Read(string(s.Body), s.Hash, chain.AnswerHash(s.Answer))
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
func (r *Reader) Records() iter.Seq2[chain.Line, error] { return chain.WithoutAnswers(r.Lines()) }

// Verify checks the ledger from its first record to its last and adds it up. It makes its
// checkpoints again: one that the chain vouches for and that does not follow from the records is a
// fault.
func (r *Reader) Verify(tell func(done, of uint64)) (chain.Summary, error) {
	all, err := r.candidates()
	if err != nil {
		return chain.Summary{}, err
	}
	made := make([]chain.RemadeCheckpoint, len(all))
	for i, k := range all {
		made[i].Last = uint64(k.Last)
	}
	s, state, err := chain.Verify(r.database.name, r.Records(), func(state *chain.State) error {
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
	l := &Ledger{Committer: &groupcommit.Committer{Path: r.database.name, State: state}, database: r.database, conn: r.conn}
	for i, k := range all {
		_, sum, err := r.database.readCheckpoint(r.conn, k)
		if err != nil || sum == made[i].Sum || chain.CheckNoted(state, made[i].Last, sum, l.readProven) != nil {
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
		pgx.Identifier{r.database.schema, "checkpoints"}.Sanitize()).Scan(&readable)
	if err == nil && readable {
		var all []candidate
		if all, err = r.database.candidates(r.conn); err == nil {
			return all, nil
		}
	}
	if err != nil {
		err = r.database.readError(err)
	}
	return nil, err
}

func (r *Reader) Close() error {
	hangUp(r.conn)
	return nil
}

const selectNotes = `SELECT sequence, body, hash, answer FROM ledger.records WHERE sequence = ANY ($1::bigint[]) ORDER BY sequence`

// notesPerQuery is how many notes one statement asks for.
const notesPerQuery = 256

func (l *Ledger) Notes(ctx context.Context, session string) ([][]byte, error) {
	return l.NotesAfter(ctx, session, 0)
}

// NotesAfter implements [ledger.Ledger]. It reads some at a time, so that charges do not wait for
// all of them.
func (l *Ledger) NotesAfter(ctx context.Context, session string, after int) ([][]byte, error) {
	sequences, err := l.NotesOf(ctx, session, after)
	if err != nil {
		return nil, err
	}
	notes := make([][]byte, 0, len(sequences))
	for these := range slices.Chunk(sequences, notesPerQuery) {
		some, err := l.rows(ctx, selectNotes, these)
		if err != nil {
			return nil, err
		}
		for i, r := range some {
			if r.record.Sequence != these[i] || r.record.Kind != ledger.KindNote || r.record.Session != session ||
				len(r.answer) <= ledger.NoteSalt {
				return nil, l.corrupt(fmt.Sprintf("record %d is not a note of this session", these[i]))
			}
			notes = append(notes, r.answer[ledger.NoteSalt:])
		}
	}
	return notes, nil
}

// row is a record with its answer, both checked.
type row struct {
	record *ledger.Record
	hash   string
	answer []byte
}

func (l *Ledger) rows(ctx context.Context, query string, sequences []uint64) (all []row, err error) {
	if err := l.LockForRead(ctx); err != nil {
		return nil, err
	}
	defer l.Unlock()
	wanted := make([]int64, len(sequences))
	for i, n := range sequences {
		wanted[i] = int64(n)
	}
	w := writer{l}
	err = w.persist(func() error {
		rows, err := l.conn.Query(background, l.database.in(query), wanted)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, l.read)
		if err == nil && len(all) != len(sequences) {
			err = l.corrupt(fmt.Sprintf("of %d records from %d on, there are %d", len(sequences), sequences[0], len(all)))
		}
		for i := 0; i < len(all) && err == nil; i++ {
			err = l.prove(all[i].record.Sequence, all[i].hash)
		}
		return err
	})
	switch {
	case isDamage(err):
		return nil, err
	case err != nil:
		return nil, w.writeError(err)
	}
	return all, nil
}

func (l *Ledger) read(from pgx.CollectableRow) (row, error) {
	var sequence int64
	var body, answer []byte
	var hash string
	if err := from.Scan(&sequence, &body, &hash, &answer); err != nil {
		return row{}, err
	}
	r := new(ledger.Record)
	err := r.Read(string(body), hash, chain.AnswerHash(answer))
	if err == nil && int64(r.Sequence) != sequence {
		err = errors.New("it is a different one")
	}
	if err != nil {
		return row{}, &ledger.CorruptError{Path: l.Path, Where: fmt.Sprintf("record %d cannot be read", sequence), Err: err}
	}
	return row{r, hash, answer}, nil
}

// How many records are read at a time: few first, for a caller that wants only one.
const firstRecords, nextRecords = 4, 256

// Records implements [ledger.Ledger]. It reads some at a time, so that charges do not wait for a
// caller that takes its time.
func (l *Ledger) Records(ctx context.Context, from uint64) iter.Seq2[*ledger.Record, error] {
	return func(yield func(*ledger.Record, error) bool) {
		for n := uint64(firstRecords); ; n = nextRecords {
			last, _, err := l.Head(ctx)
			if err == nil && from > last {
				return
			}
			var wanted []uint64
			for i := from; err == nil && i <= last && i < from+n; i++ {
				wanted = append(wanted, i)
			}
			var some []row
			if err == nil {
				some, err = l.rows(ctx, selectNotes, wanted)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range some {
				if !yield(r.record, nil) {
					return
				}
			}
			from += uint64(len(some))
		}
	}
}

// rowsPerQuery is how many records are read by one statement.
const rowsPerQuery = 4096

// catchUp takes in all records that are not in the state, up to the head, in as many statements as
// that takes.
func (l *Ledger) catchUp(tell func(done, of uint64)) error {
	how := pgx.QueryExecModeExec
	for {
		rows, err := l.conn.Query(background, l.database.in(selectSince), how, l.next()-1, rowsPerQuery)
		if err != nil {
			return err
		}
		head, n, err := l.applyRows(rows)
		if err != nil {
			return err
		}
		if n < rowsPerQuery {
			return l.checkHead(head)
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

// applyRows reads the rows of selectSince into the state.
func (l *Ledger) applyRows(rows pgx.Rows) (head ledger.Position, n int, err error) {
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

// checkHead returns an error unless the state ends where the head says. A database that has less
// than we have read has lost something: it was restored, or a standby took over that was behind.
func (l *Ledger) checkHead(head ledger.Position) error {
	sequence, hash := l.State.Head()
	if head.Sequence == sequence && head.Hash == hash {
		l.known = head
		return nil
	}
	return l.corrupt(fmt.Sprintf("this server has read it up to record %d, but the database ends at record %d, or has a different "+
		"one there",
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
		err = l.conn.QueryRow(background, l.database.in(selectHash), int64(known.Sequence)).Scan(&hash)
		if err == nil && hash != known.Hash || errors.Is(err, pgx.ErrNoRows) {
			err = l.corrupt(fmt.Sprintf("record %d, which this server has read, is no longer there", known.Sequence))
		}
	}
	if err != nil {
		l.State, l.known, l.checkpoints.sum = old, known, mine
		return err
	}
	l.stale = false
	return nil
}

// isDamage reports whether an error says that the ledger is not what it has to be.
func isDamage(err error) bool { return errors.As(err, new(*ledger.CorruptError)) }

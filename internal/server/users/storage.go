package users

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/source/pgdial"
)

// storage is what has the users, with words for what goes wrong in it.
type storage struct {
	db       *backend
	now      func() time.Time
	reportTo func(error)
	reported lastReport
}

// explain puts an error of the file or of the database into words.
func (t *storage) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return t.report(err)
}

// report puts an error into words and tells the owner, but not again and again.
func (t *storage) report(err error) error {
	err = t.db.explain(err)
	if t.reportTo != nil && t.reported.due(t.now(), time.Minute) {
		t.reportTo(err)
	}
	return err
}

type lastReport struct {
	mu sync.Mutex
	at time.Time
}

// due reports whether it is to be done again.
func (r *lastReport) due(now time.Time, every time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && now.Sub(r.at).Abs() < every {
		return false
	}
	r.at = now
	return true
}

// change runs a transaction that is done as a whole or not at all.
func (t *storage) change(ctx context.Context, f func(tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := t.db.BeginTx(uninterrupted, nil)
	if err != nil {
		return t.explain(ctx, err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		for _, verdict := range []error{ErrExists, ErrUnknown, ErrRevoked, ErrNoToken, ErrDenied, ErrNoSaved} {
			if errors.Is(err, verdict) {
				return err
			}
		}
		return t.explain(ctx, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%w; it is not certain whether the change was made: check with 'discreet user list'", t.explain(ctx, err))
	}
	return nil
}

// selectAll returns what scan makes of each row of a query.
func selectAll[T any](ctx context.Context, t *storage, scan func(*sql.Rows) (T, error), query string, args ...any) (out []T, err error) {
	rows, err := t.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, t.explain(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, t.explain(ctx, err)
		}
		out = append(out, one)
	}
	if err := rows.Err(); err != nil {
		return nil, t.explain(ctx, err)
	}
	return out, nil
}

// backend is what has the users: a file of this machine, or a database that several servers share.
// Both take the same statements, in SQLite's words: tables are those of main, and parameters are
// written as question marks. A transaction is alone: of several that begin, one goes on.
type backend struct {
	*sql.DB
	explain func(error) error // puts an error into words for the owner
	insert  func(text string, args ...any) (id int64, err error)
	prepare func(text string) (preparedQuery, error) // a query that is sent often
	remote  bool
}

// Close lets go of it. That a server which restarted cannot be told so is no trouble: whatever was
// confirmed is there.
func (b *backend) Close() error {
	if err := b.DB.Close(); !b.remote {
		return err
	}
	return nil
}

type preparedQuery func(ctx context.Context, args ...any) *sql.Row

// ErrNone: users were looked for where there are none yet.
var ErrNone = errors.New("there are no users yet")

// Open opens the users at a path or at the address of a database, and makes them where there are
// none.
func Open(where string) (*Store, error) { return openAt(where, true, time.Now) }

// Find opens users that are there; where there are none, the error is [ErrNone].
func Find(where string) (*Store, error) { return openAt(where, false, time.Now) }

// InDatabase reports whether users are in a database and not in a file, by how their place is
// written.
func InDatabase(where string) bool { return pgdial.Is(where) }

// openBackend opens what has the users, and makes it where it may.
func openBackend(where string, create bool) (*backend, error) {
	if InDatabase(where) {
		return openDatabase(where, create)
	}
	return openFile(where, create)
}

// Beside returns where the users of a ledger are, unless somebody says otherwise: hospital.users
// beside hospital.ledger, and for a ledger in a database the same schema of it.
func Beside(ledger string) string {
	if InDatabase(ledger) {
		return ledger
	}
	return besideFile(ledger)
}

// ErrOccupied: users are copied to where there are none.
var ErrOccupied = errors.New("there are already users or a record of logins, and nothing is replaced")

type Copied struct {
	Users  int `json:"users"`
	Tokens int `json:"tokens"`
	Logins int `json:"logins"`
	Saved  int `json:"saved"`
}

// copiedTables are the tables, in an order in which each refers to those before, and what is copied
// of them. Visits are not: who is in with a browser logs in again.
var copiedTables = []struct{ table, columns, order string }{
	{"users", "name, role, created, revoked, epoch, argon2, scram", "name"},
	{"tokens", `id, "user", label, hash, created, expires, revoked, used`, "id"},
	{"logins", "at, until, count, name, address, door, outcome, token, good", "id"},
	{"saved", `id, kind, "user", dataset, shared, title, body, created, changed`, "id"},
}

// Copy copies users with their passwords, tokens, trail and what they saved to where there are
// none, between files and databases, and compares the two. All of it is there afterwards, or
// nothing is.
func Copy(ctx context.Context, from, to string) (n Copied, err error) {
	source, err := Find(from)
	if err != nil {
		return n, err
	}
	defer source.Close()
	all, err := source.contents(ctx)
	if err != nil {
		return n, err
	}
	target, err := Open(to)
	if err != nil {
		return n, err
	}
	defer target.Close()
	if err := target.fill(ctx, source.keys.secret, all); err != nil {
		return n, err
	}
	there, err := target.contents(ctx)
	if err != nil {
		return n, err
	}
	if !reflect.DeepEqual(all, there) {
		return n, fmt.Errorf("the copy in %s differs from the original: remove it, and copy again", to)
	}
	return Copied{len(all[0]), len(all[1]), len(all[2]), len(all[3])}, nil
}

// contents are the rows of all tables, as they are at one moment: a transaction is alone.
func (s *Store) contents(ctx context.Context) (out [][][]any, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		for _, c := range copiedTables {
			rows, err := tx.Query("SELECT " + c.columns + " FROM main." + c.table + " ORDER BY " + c.order)
			if err != nil {
				return err
			}
			all, err := scanRows(rows, strings.Count(c.columns, ",")+1)
			if err != nil {
				return err
			}
			out = append(out, all)
		}
		return nil
	})
	return out, err
}

func scanRows(rows *sql.Rows, columns int) (out [][]any, err error) {
	defer rows.Close()
	for rows.Next() {
		row, cells := make([]any, columns), make([]any, columns)
		for i := range row {
			cells[i] = &row[i]
		}
		if err := rows.Scan(cells...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// rowsAtOnce is how many rows are written by one statement.
const rowsAtOnce = 20

// fill writes the rows of all tables where there is nobody yet, and the secret that the passwords'
// salts are made with.
func (s *Store) fill(ctx context.Context, secret []byte, all [][][]any) error {
	occupied := false
	err := s.change(ctx, func(tx *sql.Tx) error {
		const ask = "SELECT EXISTS (SELECT 1 FROM main.users) OR EXISTS (SELECT 1 FROM main.logins)"
		if err := tx.QueryRow(ask).Scan(&occupied); err != nil || occupied {
			return errors.Join(err, ErrExists)
		}
		if _, err := tx.Exec("UPDATE main.secret SET secret = ?", secret); err != nil {
			return err
		}
		for i, c := range copiedTables {
			for rows := all[i]; len(rows) > 0; rows = rows[min(rowsAtOnce, len(rows)):] {
				if err := insert(tx, c.table, c.columns, rows[:min(rowsAtOnce, len(rows))]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if occupied {
		return ErrOccupied
	}
	return err
}

func insert(tx *sql.Tx, table, columns string, rows [][]any) error {
	one := "(?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
	var args []any
	for _, row := range rows {
		args = append(args, row...)
	}
	_, err := tx.Exec("INSERT INTO main."+table+" ("+columns+") VALUES "+one+strings.Repeat(", "+one, len(rows)-1), args...)
	return err
}

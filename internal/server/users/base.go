package users

import (
	"context"
	"database/sql"
	"errors"

	"github.com/discreet-dp/discreet/internal/pgplace"
)

// base is what has the users: a file of this machine, or a database that several servers share.
// Both take the same statements, in SQLite's words: tables are those of main, and parameters are
// written as question marks. A transaction is alone: of several that begin, one goes on.
type base struct {
	*sql.DB
	words  func(error) error // puts an error into words for the owner
	insert func(text string, args ...any) (id int64, err error)
	asks   func(text string) (question, error) // a question that is question often
	remote bool
}

// Close lets go of it. That a server which restarted cannot be told so is no trouble: whatever was
// confirmed is there.
func (b *base) Close() error {
	if err := b.DB.Close(); !b.remote {
		return err
	}
	return nil
}

type question func(ctx context.Context, args ...any) *sql.Row

// ErrNone: users were looked for where there are none yet.
var ErrNone = errors.New("there are no users yet")

// Open opens the users at a path or at the address of a database, and makes them where there are
// none.
func Open(where string) (*Store, error) { return openNow(where, true) }

// Find opens users that are there; where there are none, the error is [ErrNone].
func Find(where string) (*Store, error) { return openNow(where, false) }

// InDatabase reports whether users are in a database and not in a file, by how their place is
// written.
func InDatabase(where string) bool { return pgplace.Is(where) }

// openBase opens what has the users, and makes it where it may.
func openBase(where string, create bool) (*base, error) {
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

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/discreet-dp/discreet/ledger"
)

// patience is how long Open waits for another process to let go.
const patience = 2 * time.Second

// background is the context of all work on the database. A caller's context is looked
// at before the work begins; to interrupt a commit would leave its fate unknown.
var background = context.Background()

// vfs names the layer between SQLite and the operating system. Tests put one there that fails.
var vfs string

// conn is the one connection to a database. A pool would open another connection
// after an error, and with it forget that the disk had failed.
type conn struct {
	db *sql.DB
	*sql.Conn
}

// dial opens a ledger file that exists, for writing.
func dial(path string) (*conn, error) {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/...
	}
	// Escaped as a URL, a path may contain ?, # and %.
	query := "mode=rw"
	if vfs != "" {
		query += "&vfs=" + url.QueryEscape(vfs)
	}
	c, err := connect(url.URL{Scheme: "file", Path: slashed, RawQuery: query + safe})
	if err != nil {
		return nil, err
	}
	// Without these SQLite puts the log into the file and removes it when the connection is closed,
	// also that of a ledger that was stopped and whose file says that it needs it.
	err = c.Raw(func(driver any) error {
		_, err := driver.(sqlite.FileControl).FileControlPersistWAL("main", 1)
		return errors.Join(err, leaveLog(driver))
	})
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// dial opens the view for reading.
func (v *view) dial() (*conn, error) {
	return connect(url.URL{Scheme: "file", Opaque: ledgerName, RawQuery: "mode=ro&immutable=1&vfs=" + v.name + safe})
}

const safe = "&_error_rc=1&_defensive=1"

func connect(name url.URL) (*conn, error) {
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(background)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &conn{db, c}, nil
}

func (c *conn) Close() error { return errors.Join(c.Conn.Close(), c.db.Close()) }

// set runs pragmas and checks that those that answer did what they were told,
// because SQLite says nothing when it does not know one.
func (c *conn) set(pragmas ...[2]string) error {
	for _, p := range pragmas {
		if _, err := c.ExecContext(background, fmt.Sprintf("PRAGMA %s = %s", p[0], p[1])); err != nil {
			return err
		}
		var got string
		if err := c.QueryRowContext(background, "PRAGMA "+p[0]).Scan(&got); err != nil {
			return err
		}
		if got != p[1] {
			return fmt.Errorf("PRAGMA %s is %s and not %s", p[0], got, p[1])
		}
	}
	return nil
}

// reading is set on every connection.
var reading = [][2]string{
	{"trusted_schema", "0"},
	{"cell_size_check", "1"},
}

// writing makes a commit one write and one fsync, and leaves it to us when the log is put into the
// file. The exclusive lock comes first: with it SQLite needs no memory that is shared with other
// processes, and has none.
var writing = [][2]string{
	{"locking_mode", "exclusive"},
	{"busy_timeout", fmt.Sprint(patience.Milliseconds())},
	{"mmap_size", "0"}, // A truncated file is then an error and not a fault.
	{"journal_mode", "wal"},
	{"synchronous", "2"}, // FULL: the log is synced with every commit
	{"fullfsync", "1"},   // F_FULLFSYNC where the system has it
	{"checkpoint_fullfsync", "1"},
	{"wal_autocheckpoint", "0"},
	{"cache_spill", "0"}, // A transaction reaches the log as a whole, when it is committed.
}

// empty puts the log into the file, both on stable storage, and empties it.
func (c *conn) empty() error {
	var busy, frames, done int
	if err := c.QueryRowContext(background, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &done); err != nil {
		return err
	}
	if busy != 0 || frames != 0 || done != 0 {
		return fmt.Errorf("the log could not be put into the file: busy %d, %d of %d frames", busy, done, frames)
	}
	return nil
}

// mark says in the file whether it needs its log.
func (c *conn) mark(marker uint32) error {
	if _, err := c.ExecContext(background, fmt.Sprintf("PRAGMA user_version = %d", marker)); err != nil {
		return err
	}
	return c.empty()
}

// corrupt turns an error of SQLite while reading into the error of the ledger.
func corrupt(path, where string, err error) error {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%s: %w", path, ledger.ErrBusy)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR,
		sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_INTERNAL:
		return &ledger.CorruptError{Path: path, Where: where, Err: err}
	}
	if c := code(err); c&0xff == sqlite3.SQLITE_READONLY || c&0xff == sqlite3.SQLITE_PERM || c&0xff == sqlite3.SQLITE_CANTOPEN ||
		c == sqlite3.SQLITE_IOERR_LOCK {
		return fmt.Errorf("the ledger %s could not be opened for writing: this user must be allowed to write the file and "+
			"its folder (%w)", path, err)
	}
	return fmt.Errorf("the ledger %s could not be read: %w", path, err)
}

// code returns SQLite's code of an error, 0 where it is not one of SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/discreet-dp/discreet/internal/ledger/groupcommit"
	"github.com/discreet-dp/discreet/ledger"
)

// openTimeout is how long Open waits for another process to let go.
const openTimeout = 2 * time.Second

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
	c, err := connect(url.URL{Scheme: "file", Path: slashed, RawQuery: query + safeOptions})
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

func (v *view) dial() (*conn, error) {
	return connect(url.URL{Scheme: "file", Opaque: ledgerName, RawQuery: "mode=ro&immutable=1&vfs=" + v.name + safeOptions})
}

const safeOptions = "&_error_rc=1&_defensive=1"

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

// readPragmas are set on every connection.
var readPragmas = [][2]string{
	{"trusted_schema", "0"},
	{"cell_size_check", "1"},
}

// writePragmas make a commit one write and one fsync, and leave it to us when the log is put into
// the file. The exclusive lock comes first: with it SQLite needs no memory that is shared with
// other processes, and has none.
var writePragmas = [][2]string{
	{"locking_mode", "exclusive"},
	{"busy_timeout", fmt.Sprint(openTimeout.Milliseconds())},
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

// leaveLog tells SQLite not to touch the log when the connection is closed. It would put the log
// into the file, which is right as long as all of the log is on the disk. After an fsync that
// failed nobody knows what of it is: with a later loss of power the file could have newer pages
// than its log, and the two together make no database. So the log is put into the file by
// [conn.empty] alone, and that of a ledger that was stopped is written once more by the next Open.
//
// The driver (modernc.org/sqlite 1.60.1) has no call and no option for it and keeps SQLite's handle
// to itself, so the handle is read from the unexported field db of the driver's connection. Where a
// later version has another field no ledger opens, and TestDriverLeavesTheLog fails; where it
// offers sqlite3_db_config, use that.
func leaveLog(driver any) error {
	handle := reflect.Indirect(reflect.ValueOf(driver))
	if handle.Kind() == reflect.Struct {
		handle = handle.FieldByName("db")
	}
	if handle.Kind() != reflect.Uintptr || handle.Uint() == 0 {
		return errors.New("the SQLite driver is not the version that this program was made for")
	}
	tls := libc.NewTLS()
	defer tls.Close()
	const slots = 2 * 8 // of an int and a pointer
	args := libc.Xmalloc(tls, slots)
	if args == 0 {
		return errors.New("there is not enough memory")
	}
	defer libc.Xfree(tls, args)
	if rc := sqlite3.Xsqlite3_db_config(tls, uintptr(handle.Uint()), sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
		libc.VaList(args, int32(1), uintptr(0))); rc != sqlite3.SQLITE_OK {
		return errors.New("SQLite cannot be told to leave its log")
	}
	return nil
}

// writer is the ledger as its committer sees it.
type writer struct{ *Ledger }

var _ groupcommit.Store = writer{}

// Begin implements [groupcommit.Store]. Nobody else writes this file.
func (writer) Begin() *ledger.WriteError { return nil }

func (writer) Refresh(time.Time) error { return nil }

// CountCrash implements [groupcommit.Store]: whoever opens a ledger counts what it finds.
func (writer) CountCrash(string) (bool, error) { return true, nil }

func (w writer) Served() {
	w.shorten()
	w.checkpoint()
}

// Write implements [groupcommit.Store]. It is one transaction: the records and the head, or
// neither.
func (w writer) Write(g *groupcommit.Group) error {
	if len(g.Links) == 0 {
		return nil
	}
	if !w.marked {
		// From here on the file needs its log, and must say so before the first charge is only
		// there.
		if err := w.conn.mark(opened); err != nil {
			return err
		}
		w.marked = true
	}
	var err error
	if w.log, err = logSize(w.Path); err != nil {
		return err
	}
	if _, err := w.begin.ExecContext(background); err != nil {
		return err
	}
	for i, k := range g.Links {
		if _, err := w.insertRecord.ExecContext(background, int64(k.Record.Sequence), k.Body, k.Hash, g.Answers[i]); err != nil {
			return err
		}
	}
	last := g.Links[len(g.Links)-1]
	result, err := w.updateHead.ExecContext(background, int64(last.Record.Sequence), last.Hash, int64(g.Sequence), g.Hash)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errors.New("the head in the file is not the head of this ledger"), err)
	}
	_, err = w.commit.ExecContext(background)
	w.commits++
	return err
}

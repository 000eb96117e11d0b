package users

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/version"
)

// applicationID stands in the header of the file, and says whose file it is.
const applicationID = 0x4450_5553 // "DPUS"

// Format is the version of the tables that is written here, in a file and in a database. Those of
// OldestFormat and later are brought to it when they are opened.
const (
	Format       = 2
	OldestFormat = 1
)

const formatsRead = "2, and brings 1 to it" // by this program, in words

// fileSchema makes the tables. Times are microseconds since 1970, and 0 is never.
const fileSchema = `
CREATE TABLE secret (one INTEGER PRIMARY KEY CHECK (one = 1), secret BLOB NOT NULL) STRICT;
CREATE TABLE users (
  name TEXT PRIMARY KEY, role TEXT NOT NULL, created INTEGER NOT NULL, revoked INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER NOT NULL DEFAULT 1, argon2 TEXT NOT NULL, scram TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE tokens (
  id TEXT PRIMARY KEY, user TEXT NOT NULL REFERENCES users (name), label TEXT NOT NULL, hash BLOB NOT NULL, created INTEGER NOT NULL,
  expires INTEGER NOT NULL, revoked INTEGER NOT NULL DEFAULT 0, used INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_of ON tokens (user);
CREATE TABLE logins (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, until INTEGER NOT NULL, count INTEGER NOT NULL, name TEXT NOT NULL,
  address TEXT NOT NULL, door TEXT NOT NULL, outcome TEXT NOT NULL, token TEXT NOT NULL, good INTEGER NOT NULL
) STRICT;
CREATE INDEX logins_kept ON logins (good, id);
CREATE INDEX logins_of ON logins (name, id);
` + schemaVersion2

// schemaVersion2 makes what version 2 has beside the tables of version 1.
const schemaVersion2 = `
CREATE TABLE visits (
  hash BLOB PRIMARY KEY, user TEXT NOT NULL REFERENCES users (name), epoch INTEGER NOT NULL, created INTEGER NOT NULL,
  used INTEGER NOT NULL, ended INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX visits_of ON visits (user, created);
CREATE TABLE saved (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, user TEXT NOT NULL REFERENCES users (name), dataset TEXT NOT NULL, shared INTEGER NOT NULL,
  title TEXT NOT NULL, body TEXT NOT NULL, created INTEGER NOT NULL, changed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX saved_of ON saved (user, kind);
CREATE INDEX saved_about ON saved (dataset, kind);
`

// uninterrupted is the context of what must not be interrupted half-way. A caller's context is
// looked at before.
var uninterrupted = context.Background()

// busyTimeout is how long one process waits for another to finish writing.
const busyTimeout = 5 * time.Second

// prepare finds the file or makes an empty one that nobody else can read.
func prepare(path string) (string, error) {
	if path == "" {
		return "", &InvalidError{"the path of the user file", "is missing"}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		return path, f.Close()
	}
	info, statErr := os.Stat(path)
	switch {
	case statErr != nil && errors.Is(err, fs.ErrExist):
		return "", fmt.Errorf("the users cannot be read: %w", statErr)
	case statErr != nil:
		return "", fmt.Errorf("the users cannot be created: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("the users cannot be read: %s is not a regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("%s has mode %04o: others on this machine can read or change who may log in. Run chmod 600 on it; if "+
			"somebody could have read it, give everybody a new password", path, info.Mode().Perm())
	}
	if ours, err := hasOurHeader(path); err != nil {
		return "", fmt.Errorf("the users cannot be read: %w", err)
	} else if !ours {
		return "", foreign(path)
	}
	return path, nil
}

// hasOurHeader reads the header before SQLite does: to open another program's database, and close
// it, can already change it. A ledger that was left by a process that died would lose its log. Our
// number is in the file from its first transaction on. See "The Database Header" in
// sqlite.org/fileformat2.html for the offsets.
func hasOurHeader(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var h [100]byte
	n, err := io.ReadFull(f, h[:])
	switch {
	case err == io.EOF:
		return true, nil // empty: it was made just now, or by a process that died at once
	case err != nil && err != io.ErrUnexpectedEOF:
		return false, err
	}
	return n == len(h) && string(h[:16]) == "SQLite format 3\x00" && binary.BigEndian.Uint32(h[68:]) == applicationID, nil
}

func foreign(path string) error {
	return fmt.Errorf("%s is not a user file; it was not changed; name another file", path)
}

// openFile opens the file, and makes its tables where it is empty.
func openFile(path string, create bool) (*backend, error) {
	if _, err := os.Stat(path); !create && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s does not exist", ErrNone, path)
	}
	path, err := prepare(path)
	if err != nil {
		return nil, err
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/...
	}
	name := url.URL{Scheme: "file", Path: slashed, RawQuery: "mode=rw&_txlock=immediate&_error_rc=1&_defensive=1" +
		fmt.Sprintf("&_pragma=busy_timeout(%d)", busyTimeout.Milliseconds()) +
		// FULL: a revocation that was confirmed outlasts a loss of power.
		"&_pragma=synchronous(2)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=foreign_keys(1)&_pragma=mmap_size(0)"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	if err := claim(db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &backend{
		DB: db, explain: func(err error) error { return unreadable(path, err) },
		insert: func(text string, args ...any) (int64, error) {
			done, err := db.Exec(text, args...)
			if err != nil {
				return 0, err
			}
			return done.LastInsertId()
		},
		prepare: func(text string) (preparedQuery, error) {
			s, err := db.Prepare(text)
			if err != nil {
				return nil, err
			}
			return s.QueryRowContext, nil
		},
	}, nil
}

// claim checks that the file is ours, or makes it so. A file that is not is not changed.
func claim(db *sql.DB, path string) error {
	tx, err := db.BeginTx(uninterrupted, nil)
	if err != nil {
		return unreadable(path, err)
	}
	defer tx.Rollback()
	var id, made, tables int
	for pragma, to := range map[string]*int{"PRAGMA application_id": &id, "PRAGMA user_version": &made,
		"SELECT COUNT(*) FROM sqlite_schema": &tables} {
		if err := tx.QueryRow(pragma).Scan(to); err != nil {
			return unreadable(path, err)
		}
	}
	switch {
	case id == applicationID && made == Format:
		tx.Rollback()
	case id == applicationID && made == 1:
		if err := upgrade(tx); err != nil {
			return unreadable(path, err)
		}
	case id == applicationID:
		var by string
		if err := tx.QueryRow("SELECT version FROM program").Scan(&by); err != nil {
			by = "" // no version so far has such a table; one that raises the format makes it
		}
		return errors.New(version.Newer("the file of users "+path, fmt.Sprint(made), formatsRead, by))
	case id != 0 || made != 0 || tables != 0:
		return foreign(path)
	default:
		if err := create(tx); err != nil {
			return fmt.Errorf("the users cannot be created in %s: %w", path, err)
		}
	}
	// The log lets a server read while the command line writes. To switch it on needs the file
	// alone for a moment.
	for i := 0; ; i++ {
		var mode string
		err := db.QueryRow("PRAGMA journal_mode = wal").Scan(&mode)
		switch {
		case err == nil && mode == "wal":
			return nil
		case i == 50 && err == nil:
			return fmt.Errorf("the users in %s cannot be shared between processes: this folder does not support a write-ahead log "+
				"(journal_mode is %s)", path, mode)
		case i == 50 || err != nil && !busy(err):
			return unreadable(path, err)
		}
		time.Sleep(busyTimeout / 50)
	}
}

func create(tx *sql.Tx) error {
	secret := random(32)
	if _, err := tx.Exec(fileSchema); err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO secret (one, secret) VALUES (1, ?)", secret); err != nil {
		return err
	}
	for _, p := range []string{fmt.Sprintf("PRAGMA application_id = %d", applicationID), fmt.Sprintf("PRAGMA user_version = %d", Format)} {
		if _, err := tx.Exec(p); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// upgrade adds what version 2 has: a file of version 1 is one without it.
func upgrade(tx *sql.Tx) error {
	if _, err := tx.Exec(schemaVersion2); err != nil {
		return err
	}
	if _, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", Format)); err != nil {
		return err
	}
	return tx.Commit()
}

func unreadable(path string, err error) error {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_NOTADB:
		return foreign(path)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("the users in %s are damaged: restore the file from a copy (%w)", path, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("the users in %s could not be opened: this user must be allowed to write the file and its folder (%w)", path, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("the users in %s are being changed by another process that does not finish; try again (%w)", path, err)
	}
	return fmt.Errorf("the users in %s could not be read: %w", path, err)
}

func busy(err error) bool {
	c := code(err) & 0xff
	return c == sqlite3.SQLITE_BUSY || c == sqlite3.SQLITE_LOCKED
}

// code returns SQLite's code of an error, 0 where it is not one of SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

func random(n int) []byte {
	source, out := entropy.New(), make([]byte, n)
	for i := range out {
		out[i] = byte(source.Bits(8))
	}
	return out
}

// stamp is a time as the file has it.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func unstamp(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// besideFile returns hospital.users for hospital.ledger.
func besideFile(ledger string) string {
	return strings.TrimSuffix(ledger, filepath.Ext(ledger)) + ".users"
}

package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/version"
	"github.com/discreet-dp/discreet/ledger"
)

// resolve returns the one absolute name of a path, so that two names of a ledger
// have one lock and one log, and whether there is something under it.
func resolve(path string) (string, bool, error) {
	if path == "" {
		return "", false, &ledger.InvalidError{Field: "path of the ledger", Problem: "is missing"}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", false, err
	}
	info, err := os.Stat(abs)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return "", false, &ledger.CorruptError{Path: abs, Where: "it is not a regular file"}
	case err == nil:
		abs, err = filepath.EvalSymlinks(abs)
		return abs, true, err
	case !errors.Is(err, fs.ErrNotExist):
		return "", false, fmt.Errorf("the ledger cannot be found: %w", err)
	}
	if _, err := os.Lstat(abs); err == nil {
		return "", false, &ledger.MissingError{Path: abs, Why: "it is a link to a file that does not exist"}
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", false, fmt.Errorf("the folder of the ledger cannot be found: %w", err)
	}
	return filepath.Join(dir, filepath.Base(abs)), false, nil
}

// checkHeader reads what must be in the first bytes of a ledger, before SQLite does:
// SQLite believes its header, and one that was changed can make it write.
// See "The Database Header" in sqlite.org/fileformat2.html for the offsets. All of
// this holds at any moment, whatever is in the log. It returns the marker.
func checkHeader(path string) (uint32, error) {
	bad := func(where string, args ...any) (uint32, error) {
		return 0, &ledger.CorruptError{Path: path, Where: fmt.Sprintf(where, args...)}
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("the ledger cannot be read: %w", err)
	}
	defer f.Close()
	var h [100]byte
	switch _, err := io.ReadFull(f, h[:]); {
	case err == io.EOF:
		return bad("the file is empty")
	case err == io.ErrUnexpectedEOF:
		return bad("the file ends in its header")
	case err != nil:
		return 0, fmt.Errorf("the ledger %s cannot be read: %w", path, err)
	}
	number := binary.BigEndian.Uint32
	marker := number(h[60:])
	switch {
	case string(h[:16]) != "SQLite format 3\x00":
		return bad("the file is not a database")
	case number(h[68:]) != applicationID:
		return bad("the file is a database, but not a ledger")
	case marker&^logged > Format && marker&^logged <= newestFormat:
		return 0, newer(path, marker&^logged)
	case marker != closed && marker != opened:
		return bad("its schema has version %d, and this program knows version %d", marker, closed)
	case h[18] == 1 || h[19] == 1:
		return bad("another program has switched off its write-ahead log")
	case binary.BigEndian.Uint16(h[16:]) != pageSize || h[18] != 2 || h[19] != 2 || h[20] != 0 || number(h[56:]) != 1 ||
		number(h[24:]) != number(h[92:]): // the change counter, and its copy
		return bad("its header was changed")
	}
	// SQLite would play it back.
	if info, err := os.Stat(path + "-journal"); err == nil && info.Size() > 0 {
		return bad("there is a rollback journal next to it, which no ledger has")
	}
	return marker, nil
}

// syncFile puts a file on stable storage. It is opened for writing, because Windows asks for that.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncFolder makes the creation of a file durable. Windows has no such call and needs none.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// create makes a new ledger with its first record. It is made under another name and gets its own
// when it is complete and on stable storage, so that a ledger is there as a whole or not at all,
// and an empty file is always damage. The caller holds the lock.
func create(path string, now time.Time) (err error) {
	first := chain.First(entropy.New().Name(), now)
	return createOf(path, func(yield func(chain.Stored, error) bool) {
		yield(chain.Stored{Line: chain.Line{Record: first.Record, Body: first.Body, Hash: first.Hash}}, nil)
	})
}

// Import makes a new ledger of the records of another one, where there is none. What it wrote is
// for the caller to verify.
func Import(path string, lines iter.Seq2[chain.Stored, error]) error {
	path, exists, err := resolve(path)
	if err != nil {
		return err
	}
	lock, err := acquire(path, true)
	if err != nil {
		return err
	}
	if exists {
		err = fmt.Errorf("there is a ledger at %s already, and it is not replaced", path)
	} else if err = createOf(path, lines); err == nil {
		markUsed(path)
	}
	return errors.Join(err, lock.release())
}

func createOf(path string, lines iter.Seq2[chain.Stored, error]) (err error) {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return &ledger.MissingError{Path: path, Why: "its log, " + path + "-wal, exists without it"}
	}
	if wasUsed(path) {
		return &ledger.MissingError{Path: path, Why: path + ".lock says that there was one"}
	}
	name := path + "-new"
	for _, leftover := range []string{name, name + "-journal", name + "-wal", path + "-wal"} {
		if err := os.Remove(leftover); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("the ledger cannot be created: %w", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(name)
			os.Remove(name + "-wal")
			err = &ledger.WriteError{Path: path, Broken: true, Err: err}
		}
	}()
	c, err := dial(name)
	if err != nil {
		return err
	}
	if err := errors.Join(begin(c, lines), c.Close()); err != nil {
		return err
	}
	if err := os.Remove(name + "-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := syncFile(name); err != nil {
		return err
	}
	if err := os.Rename(name, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func begin(c *conn, lines iter.Seq2[chain.Stored, error]) error {
	type statement struct {
		sql  string
		args []any
	}
	statements := []statement{
		{fmt.Sprintf("PRAGMA page_size = %d", pageSize), nil},
		{fmt.Sprintf("PRAGMA application_id = %d", applicationID), nil},
		{fmt.Sprintf("PRAGMA user_version = %d", closed), nil},
		{"BEGIN EXCLUSIVE", nil},
	}
	for _, s := range schema {
		statements = append(statements, statement{s.sql, nil})
	}
	run := func(statements ...statement) error {
		for _, s := range statements {
			if _, err := c.ExecContext(background, s.sql, s.args...); err != nil {
				return err
			}
		}
		return nil
	}
	if err := run(statements...); err != nil {
		return err
	}
	var last chain.Line
	for s, err := range lines {
		var answer any
		if s.Answer != nil {
			answer = s.Answer
		}
		if err == nil {
			err = run(statement{insertRecord, []any{int64(s.Record.Sequence), s.Body, s.Hash, answer}})
		}
		if err != nil {
			return err
		}
		last = chain.Line{Record: s.Record.Clone(), Hash: s.Hash}
	}
	if last.Record == nil {
		return errors.New("there are no records")
	}
	if err := run(
		statement{insertHead, []any{int64(last.Record.Sequence), last.Hash}},
		statement{"COMMIT", nil},
		statement{"PRAGMA locking_mode = exclusive", nil},
		statement{"PRAGMA journal_mode = wal", nil}); err != nil {
		return err
	}
	return c.empty()
}

// secureLog writes the log that a process left behind once more, byte for byte, up to its last
// commit, and cuts off what follows. This comes before anybody is told what is in it, and before
// any of it goes into the file. That a commit can be read does not mean that it is on the disk: the
// process may have died before its fsync, or been stopped because that failed, after which the
// kernel calls what it could not write written. What is written again is written again by the next
// fsync. It takes no room, and to be interrupted does no harm, because the bytes are the same.
func secureLog(path string) (err error) {
	g, err := readLog(path)
	if err != nil || g.file == nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if g.size == 0 {
		return nil
	}
	if err := g.rewrite(path); err != nil {
		return &ledger.WriteError{Path: path, Broken: true, Err: err}
	}
	if logSecured != nil {
		logSecured(path + "-wal")
	}
	return nil
}

// logSecured is told of a log that was written once more, past SQLite. Tests look at it.
var logSecured func(log string)

func (g *log) rewrite(path string) (err error) {
	to, err := os.OpenFile(path+"-wal", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	buffer := make([]byte, min(1<<20, g.end))
	for at := int64(0); at < g.end; {
		some := buffer[:min(int64(len(buffer)), g.end-at)]
		if _, err := g.file.ReadAt(some, at); err != nil {
			return err
		}
		if _, err := to.WriteAt(some, at); err != nil {
			return err
		}
		at += int64(len(some))
	}
	if err := to.Truncate(g.end); err != nil {
		return err
	}
	return to.Sync()
}

// Numbers in the header of the file that say whose file it is.
const (
	applicationID = 0x4450_4C47 // "DPLG"
	pageSize      = 4096
)

// Format is the version of the schema and of what the records may hold: the one that is read and
// written here. A version that raises it raises it in the file before it writes anything else.
const Format = 3

// The format is also the marker: it is the one number that SQLite writes for us at a fixed place of
// the first page, so that it can be read from the file alone, whatever is in the log beside it.
const (
	logged = 1 << 16         // the file needs its log
	closed = Format          // everything is in the file
	opened = logged | Format // the file needs its log

	newestFormat = 999 // what is above was never a format, and is damage
)

// newer says that a newer version wrote the ledger, and which, where its lock file tells.
func newer(path string, has uint32) error {
	return &ledger.CorruptError{Path: path, Newer: version.Newer("the ledger "+path, fmt.Sprint(has), fmt.Sprint(Format), lastWriter(path))}
}

// schema creates the tables, in the order and spelling in which SQLite gives them back.
// The triggers are a guard against accidents: what a determined person changes is
// found by the hash chain.
var schema = []struct{ name, sql string }{
	{"head", `CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  sequence INTEGER NOT NULL,
  hash TEXT NOT NULL
) STRICT`},
	{"head_stays", `CREATE TRIGGER head_stays BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its head'); END`},
	{"records", `CREATE TABLE records (
  sequence INTEGER PRIMARY KEY,
  body TEXT NOT NULL,
  hash TEXT NOT NULL,
  answer BLOB
) STRICT`},
	{"records_not_deleted", `CREATE TRIGGER records_not_deleted BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are never deleted: what was spent stays spent'); END`},
	{"records_not_replaced", `CREATE TRIGGER records_not_replaced BEFORE INSERT ON records
WHEN EXISTS (SELECT 1 FROM records WHERE sequence = NEW.sequence)
BEGIN SELECT RAISE(ABORT, 'records are never replaced'); END`},
	{"records_not_updated", `CREATE TRIGGER records_not_updated BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'records are never changed'); END`},
}

const (
	selectSchema  = `SELECT name, sql FROM sqlite_schema ORDER BY name`
	insertHead    = `INSERT INTO head (one, sequence, hash) VALUES (1, ?, ?)`
	updateHead    = `UPDATE head SET sequence = ?, hash = ? WHERE one = 1 AND sequence = ? AND hash = ?`
	selectHead    = `SELECT sequence, hash FROM head`
	insertRecord  = `INSERT INTO records (sequence, body, hash, answer) VALUES (?, ?, ?, ?)`
	selectRecord  = `SELECT body, hash, answer FROM records WHERE sequence = ?`
	selectRecords = `SELECT sequence, body, hash, answer FROM records WHERE sequence >= ? ORDER BY sequence`
)

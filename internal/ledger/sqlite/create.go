package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// create makes a new ledger with its first record. It is made under another name
// and gets its own when it is complete and on stable storage, so that a ledger is
// there as a whole or not at all, and an empty file is always damage. The caller holds
// the lock.
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
		use(path)
	}
	return errors.Join(err, lock.release())
}

// createOf makes a ledger of records.
func createOf(path string, lines iter.Seq2[chain.Stored, error]) (err error) {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return &ledger.MissingError{Path: path, Why: "its log, " + path + "-wal, is there without it"}
	}
	if used(path) {
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

// begin writes the tables and the records.
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

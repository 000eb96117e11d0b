package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/ledger/internal/chain"
)

// replay reads the whole ledger, checks everything that can be checked, and returns
// what follows from it. It writes nothing.
//
// The file is where the database is; the path is what it is called in errors.
func replay(c *conn, file, path string) (*chain.State, error) {
	if err := checkSchema(c, path); err != nil {
		return nil, err
	}
	if err := checkSize(c, file, path); err != nil {
		return nil, err
	}
	if err := checkPages(c, path); err != nil {
		return nil, err
	}
	state, err := checkRecords(c, path)
	if err != nil {
		return nil, err
	}
	return state, checkHead(c, path, state)
}

// checkSchema compares the tables and triggers with those of a new ledger, word for
// word, so that no view or trigger of somebody else's stands between us and the rows.
func checkSchema(c *conn, path string) error {
	rows, err := c.QueryContext(background, selectSchema)
	if err != nil {
		return corrupt(path, "its schema cannot be read", err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var name string
		var text sql.NullString
		if err := rows.Scan(&name, &text); err != nil {
			return &ledger.CorruptError{Path: path, Where: "its schema cannot be read", Err: err}
		}
		if n >= len(schema) || name != schema[n].name || text.String != schema[n].sql {
			return &ledger.CorruptError{Path: path, Where: fmt.Sprintf("its schema was changed at %q", name)}
		}
	}
	if err := rows.Err(); err != nil {
		return corrupt(path, "its schema cannot be read", err)
	}
	if n != len(schema) {
		return &ledger.CorruptError{Path: path, Where: "its schema is not complete"}
	}
	return nil
}

// checkSize notices an end that is missing, which SQLite reads as zeros.
func checkSize(c *conn, file, path string) error {
	var pages int64
	if err := c.QueryRowContext(background, "PRAGMA page_count").Scan(&pages); err != nil {
		return corrupt(path, "its size cannot be read", err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("the ledger cannot be read: %w", err)
	}
	if size := info.Size(); size < pages*pageSize {
		return &ledger.CorruptError{Path: path, Where: fmt.Sprintf("it was cut off: %d bytes of %d", size, pages*pageSize)}
	}
	return nil
}

// checkPages looks for damage in the pages of the file that reading the rows
// would not meet, but the next write might.
func checkPages(c *conn, path string) error {
	var result string
	if err := c.QueryRowContext(background, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return corrupt(path, "its pages cannot be read", err)
	}
	if result != "ok" {
		return &ledger.CorruptError{Path: path, Where: result}
	}
	return nil
}

// checkRecords follows the chain from its first record to its last.
func checkRecords(c *conn, path string) (*chain.State, error) {
	bad := func(n uint64, err error) error {
		return &ledger.CorruptError{Path: path, Where: fmt.Sprintf("record %d: %v", n, err)}
	}
	state := chain.New()
	var record ledger.Record
	next := uint64(0)
	for batch := range readRecords(c) {
		for _, row := range batch.rows {
			if row.sequence != int64(next) {
				return nil, bad(next, errors.New("it is missing"))
			}
			err := record.Read(row.body, row.hash, row.answer)
			if err == nil && record.Sequence != next {
				err = fmt.Errorf("it says that it is number %d", record.Sequence)
			}
			if err == nil {
				err = state.Check(&record)
			}
			if err != nil {
				return nil, bad(next, err)
			}
			state.Apply(&record, row.hash)
			next++
		}
		if batch.err != nil && code(batch.err) == 0 {
			return nil, bad(next, batch.err)
		} else if batch.err != nil {
			return nil, corrupt(path, fmt.Sprintf("record %d cannot be read", next), batch.err)
		}
	}
	if next == 0 {
		return nil, bad(0, errors.New("it is missing"))
	}
	return state, nil
}

// checkHead compares the last record with the head beside it. This is what notices that
// the last record was removed.
func checkHead(c *conn, path string, state *chain.State) error {
	var n int64
	var h string
	if err := c.QueryRowContext(background, selectHead).Scan(&n, &h); err != nil {
		if code(err) == 0 {
			return &ledger.CorruptError{Path: path, Where: "its head is missing", Err: err}
		}
		return corrupt(path, "its head cannot be read", err)
	}
	sequence, hash := state.Head()
	if uint64(n) != sequence || h != hash {
		return &ledger.CorruptError{Path: path, Where: fmt.Sprintf("the last record is number %d, but the head says that there are %d", sequence, n)}
	}
	return nil
}

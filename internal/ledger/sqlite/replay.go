package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	readonly "modernc.org/sqlite/vfs"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// replay returns what follows from a ledger, and a connection to the view for further questions. It
// reads the whole ledger and checks everything that can be checked, unless a checkpoint that the
// chain proves, and that may be believed, says what follows from its beginning.
func (v *view) replay(believe chain.Believe, tell func(done, of uint64)) (_ *conn, _ *chain.State, err error) {
	c, err := v.reader()
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if err := checkSchema(c, v.path); err != nil {
		return nil, nil, err
	}
	if err := v.checkSize(c); err != nil {
		return nil, nil, err
	}
	if state, by := fromCheckpoint(c, v.path, believe, tell); state != nil {
		if err := checkHead(c, v.path, state); err != nil {
			return nil, nil, err
		}
		v.by = by
		return c, state, nil
	}
	// The pages are checked at the same time, over a connection of their own.
	pages := make(chan error, 1)
	go func() { pages <- v.checkPages() }()
	state, err := checkRecords(c, v.path, v.size, tell)
	if err == nil {
		err = checkHead(c, v.path, state)
	}
	// What is wrong with the pages is the cause of what is wrong with the records.
	if broken := <-pages; broken != nil {
		err = broken
	}
	if err != nil {
		return nil, nil, err
	}
	return c, state, nil
}

func (v *view) reader() (*conn, error) {
	c, err := v.dial()
	if err != nil {
		return nil, corrupt(v.path, "it cannot be opened", err)
	}
	if err := c.set(readPragmas...); err != nil {
		return nil, errors.Join(corrupt(v.path, "it cannot be opened", err), c.Close())
	}
	return c, nil
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
func (v *view) checkSize(c *conn) error {
	var pages int64
	if err := c.QueryRowContext(background, "PRAGMA page_count").Scan(&pages); err != nil {
		return corrupt(v.path, "its size cannot be read", err)
	}
	if v.size < pages*pageSize {
		return &ledger.CorruptError{Path: v.path, Where: fmt.Sprintf("it was cut off: %d bytes of %d", v.size, pages*pageSize)}
	}
	return nil
}

// checkPages looks for damage in the pages of the file that reading the rows
// would not meet, but the next write might.
func (v *view) checkPages() error {
	c, err := v.reader()
	if err != nil {
		return err
	}
	defer c.Close()
	var result string
	if err := c.QueryRowContext(background, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return corrupt(v.path, "its pages cannot be read", err)
	}
	if result != "ok" {
		return &ledger.CorruptError{Path: v.path, Where: result}
	}
	return nil
}

// checkRecords follows the chain from its first record to its last. The size of the file bounds how
// many there can be.
func checkRecords(c *conn, path string, size int64, tell func(done, of uint64)) (*chain.State, error) {
	state := chain.NewFor(min(expectedRecords(c), size/minRecordBytes))
	if err := follow(c, path, state, tell); err != nil {
		return nil, err
	}
	return state, nil
}

// follow follows the chain from where a state is to its last record, and tells now and then how far
// it is, where somebody wants to know.
func follow(c *conn, path string, state *chain.State, tell func(done, of uint64)) error {
	bad := func(n uint64, err error) error {
		return &ledger.CorruptError{Path: path, Where: fmt.Sprintf("record %d: %v", n, err)}
	}
	next := uint64(0)
	if last, hash := state.Head(); hash != "" {
		next = last + 1
	}
	of := uint64(expectedRecords(c))
	for batch := range readRecords(c, next) {
		if tell != nil {
			tell(next, of)
		}
		for i := range batch.rows {
			row := &batch.rows[i]
			err := row.err
			if row.sequence != int64(next) {
				return bad(next, errors.New("it is missing"))
			}
			if err == nil && row.record.Sequence != next {
				err = fmt.Errorf("it says that it is number %d", row.record.Sequence)
			}
			if err == nil {
				err = state.Check(&row.record)
			}
			if err != nil {
				return bad(next, err)
			}
			state.Apply(&row.record, row.hash)
			next++
		}
		if batch.err != nil && code(batch.err) == 0 {
			return bad(next, batch.err)
		} else if batch.err != nil {
			return corrupt(path, fmt.Sprintf("record %d cannot be read", next), batch.err)
		}
		batch.release()
	}
	if next == 0 {
		return bad(0, errors.New("it is missing"))
	}
	return nil
}

// minRecordBytes is less than a record takes on the disk.
const minRecordBytes = 128

// expectedRecords returns about how many records there are, so that memory is asked for once. It
// may be wrong.
func expectedRecords(c *conn) int64 {
	var n int64
	var hash string
	_ = c.QueryRowContext(background, selectHead).Scan(&n, &hash)
	return max(n, 0)
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
		return &ledger.CorruptError{Path: path,
			Where: fmt.Sprintf("the last record is number %d, but the head says that there are %d", sequence, n)}
	}
	return nil
}

// view is a ledger as it is on the disk, the commits of its log laid over its file, for reading.
// Nothing can be changed through it, so it is what a ledger is checked by before anybody writes to
// it: SQLite opens a log only for writing.
type view struct {
	path   string
	file   *os.File
	log    *log
	marker uint32 // the one of the file alone
	vfs    *readonly.FS
	name   string // under which SQLite knows the view
	size   int64
	by     chosen // the checkpoint by which the ledger was read
}

// openView opens the view of the ledger at the path, after checking what can be checked without
// SQLite.
func openView(path string) (_ *view, err error) {
	marker, err := checkHeader(path)
	if err != nil {
		return nil, err
	}
	v := &view{path: path, marker: marker, by: noneChosen}
	defer func() {
		if err != nil {
			v.Close()
		}
	}()
	if v.log, err = readLog(path); err != nil {
		return nil, err
	}
	if marker == opened && v.log.file == nil {
		return nil, &ledger.CorruptError{Path: path,
			Where: "it was copied or restored without its log, " + path + "-wal, which holds its last charges"}
	}
	if v.file, err = os.Open(path); err != nil {
		return nil, fmt.Errorf("the ledger cannot be read: %w", err)
	}
	info, err := v.file.Stat()
	if err != nil {
		return nil, fmt.Errorf("the ledger cannot be read: %w", err)
	}
	v.size = info.Size()
	if v.log.count != 0 {
		pages := uint32(v.size / pageSize)
		v.size = int64(v.log.count) * pageSize
		for n := pages + 1; n <= v.log.count; n++ {
			if _, ok := v.log.pages[n]; !ok {
				return nil, &ledger.CorruptError{Path: path,
					Where: fmt.Sprintf("it was cut off: page %d of %d is neither in the file nor in its log", n, v.log.count)}
			}
		}
	}
	if v.name, v.vfs, err = readonly.New(v); err != nil {
		return nil, fmt.Errorf("the ledger cannot be read: %w", err)
	}
	return v, nil
}

// Close comes after the connections to the view were closed.
func (v *view) Close() error {
	var err error
	if v.vfs != nil {
		err = v.vfs.Close()
	}
	if v.file != nil {
		err = errors.Join(err, v.file.Close())
	}
	if v.log != nil {
		err = errors.Join(err, v.log.Close())
	}
	return err
}

// ledgerName is the one file in the view.
const ledgerName = "ledger"

// Open implements [fs.FS] for SQLite.
func (v *view) Open(name string) (fs.File, error) {
	if name != ledgerName {
		return nil, fs.ErrNotExist
	}
	return &viewFile{view: v}, nil
}

// viewFile is a reader of the view. A ledger is mostly read from its begin to its end, so it reads
// ahead.
type viewFile struct {
	*view
	at    int64
	ahead []byte // of the file
	from  int64  // where that begins
}

const readAheadBytes = 64 * pageSize

// readFile reads from the file as [io.ReaderAt] does.
func (f *viewFile) readFile(b []byte, at int64) (int, error) {
	if at < f.from || at+int64(len(b)) > f.from+int64(len(f.ahead)) {
		if cap(f.ahead) == 0 {
			f.ahead = make([]byte, min(readAheadBytes, f.size))
		}
		f.from = at / readAheadBytes * readAheadBytes
		n, err := f.file.ReadAt(f.ahead[:cap(f.ahead)], f.from)
		f.ahead = f.ahead[:n]
		if err != nil && err != io.EOF {
			return 0, err
		}
		if at >= f.from+int64(n) {
			return 0, io.EOF
		}
	}
	return copy(b, f.ahead[at-f.from:]), nil
}

func (f *viewFile) Close() error               { return nil }
func (f *viewFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *viewFile) Name() string               { return ledgerName }
func (f *viewFile) Size() int64                { return f.size }
func (f *viewFile) Mode() fs.FileMode          { return 0o400 }
func (f *viewFile) ModTime() time.Time         { return time.Time{} }
func (f *viewFile) IsDir() bool                { return false }
func (f *viewFile) Sys() any                   { return nil }
func (f *viewFile) Seek(to int64, _ int) (int64, error) {
	f.at = to
	return to, nil
}

// Read reads up to the end of a page.
func (f *viewFile) Read(b []byte) (int, error) {
	if f.at >= f.size {
		return 0, io.EOF
	}
	in := f.at % pageSize
	b = b[:min(int64(len(b)), pageSize-in, f.size-f.at)]
	var n int
	var err error
	if offset, ok := f.log.pages[uint32(f.at/pageSize)+1]; ok {
		n, err = f.log.file.ReadAt(b, offset+in)
	} else {
		n, err = f.readFile(b, f.at)
	}
	// The view has no log any more, so it says that there is none: versions 1 instead of 2.
	for i := int64(18); i <= 19; i++ {
		if at := i - f.at; at >= 0 && at < int64(n) && b[at] == 2 {
			b[at] = 1
		}
	}
	f.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// Report is what follows from a ledger that checks.
type Report = chain.Report

// Verify checks the ledger at the path from its first record to its last and
// adds up what was spent. It changes nothing.
//
// It needs the ledger to be closed: where it is open it waits for two seconds and
// returns [ledger.ErrBusy], because a reader would hold up the charges of the one that
// has it open. It returns a [*ledger.CorruptError] when the ledger does not check.
//
// After a crash the file alone is not the ledger: the log beside it has the last charges. Verify
// reads both, and leaves the log for the next Open.
func Verify(path string) (Report, error) {
	r, err := Read(path)
	if err != nil {
		return Report{}, err
	}
	summary, err := r.Verify(nil)
	return summary.Report, errors.Join(err, r.Close())
}

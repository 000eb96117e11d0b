package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

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
		return "", false, &ledger.MissingError{Path: abs, Why: "it is a link to a file that is not there"}
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
		return bad("there is a rollback journal beside it, which no ledger has")
	}
	return marker, nil
}

// syncFile puts a file, or the names in a folder, on stable storage.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncFolder makes the creation of a file durable. Windows has no such call and
// needs none.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return syncFile(path)
}

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/discreet-dp/discreet/ledger"
)

// maxLog is how long the log may become before it is put into the file.
const maxLog = 16 << 20

// shorten puts a long log into the file. On a full disk the log stays, which has everything; any
// other failure stops the ledger.
func (l *Ledger) shorten() {
	if l.Stopped() != nil {
		return
	}
	size, err := logSize(l.Path)
	if err == nil && size > maxLog {
		err = l.conn.empty()
	}
	if err != nil && !full(err) {
		l.Broken = &ledger.WriteError{Path: l.Path, Broken: true, Err: err}
	}
}

// logSize returns how long the log is.
func logSize(path string) (int64, error) {
	info, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("the log of the ledger cannot be found: %w", err)
	}
	return info.Size(), nil
}

// cutLog removes what is in the log after the last commit.
func cutLog(path string, size int64) error {
	f, err := os.OpenFile(path+"-wal", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > size {
		err = errors.Join(f.Truncate(size), f.Sync())
	}
	return errors.Join(err, f.Close())
}

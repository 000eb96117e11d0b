//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

// lock is an flock on a file beside the ledger. It also keeps out a second Open in
// the same process, and the kernel drops it when the process dies, however it dies.
//
// SQLite's own lock is held as well, but cannot be all there is: it belongs to the
// process, so any code here that opened and closed the file would drop it.
type lock struct{ file *os.File }

// acquire waits for the lock. Without create, a lock file that does not exist
// is not created and nothing is locked: nobody has the ledger open.
func acquire(path string, create bool) (*lock, error) {
	name, flags := path+".lock", os.O_RDONLY
	if create {
		flags |= os.O_CREATE
	}
	for deadline := time.Now().Add(openTimeout); ; time.Sleep(20 * time.Millisecond) {
		f, err := os.OpenFile(name, flags, 0o600)
		if err != nil {
			if !create && errors.Is(err, fs.ErrNotExist) {
				return &lock{}, nil
			}
			return nil, fmt.Errorf("the ledger cannot be locked: %w", err)
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && current(f, name) {
			return &lock{f}, nil
		}
		f.Close()
		if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, fmt.Errorf("the ledger %s cannot be locked: %w", path, err)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%s: %w", path, ledger.ErrBusy)
		}
	}
}

// current reports whether the name is still that of the file. A lock on a file that
// somebody removed locks nothing.
func current(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(name)
	return err == nil && os.SameFile(a, b)
}

func (l *lock) release() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// wasUsed reports whether the lock file says that there was a ledger. A ledger that is closed is a
// single file, and without this to remove it would be to begin anew.
func wasUsed(path string) bool {
	info, err := os.Stat(path + ".lock")
	return err == nil && info.Size() > 0
}

// markUsed says in the lock file that there is a ledger. It is a guard against accidents, so it may
// fail.
func markUsed(path string) {
	if !wasUsed(path) {
		_ = os.WriteFile(path+".lock", []byte("There is a ledger beside this file. Do not remove either.\n"), 0o600)
	}
}

// unmarkUsed takes that back.
func unmarkUsed(path string) { _ = os.Truncate(path+".lock", 0) }

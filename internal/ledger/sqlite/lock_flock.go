//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/discreet-dp/discreet/internal/version"
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
		_ = os.WriteFile(path+".lock", []byte(lockText), 0o600)
	}
}

const (
	lockText   = "There is a ledger beside this file. Do not remove either.\n"
	lockWriter = "Last opened by Discreet "
)

// nameWriter says in the lock file which version has the ledger now, so that an older one, which
// cannot read what this one wrote, can name it. It may fail, and at no moment is the file empty.
func nameWriter(path string) {
	text := []byte(lockText + lockWriter + version.Version + "\n")
	if was, err := os.ReadFile(path + ".lock"); err == nil && bytes.Equal(was, text) {
		return
	}
	f, err := os.OpenFile(path+".lock", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if _, err := f.WriteAt(text, 0); err == nil {
		_ = f.Truncate(int64(len(text)))
	}
}

// lastWriter is the version that the lock file names, or nothing.
func lastWriter(path string) string {
	f, err := os.Open(path + ".lock")
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, 1000))
	_, rest, _ := strings.Cut(string(text), lockWriter)
	named, _, _ := strings.Cut(rest, "\n")
	return named
}

// unmarkUsed takes that back.
func unmarkUsed(path string) { _ = os.Truncate(path+".lock", 0) }

//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

func init() {
	// small charges until the kernel refuses to let a file grow.
	children["small"] = func(path string) error {
		signal.Ignore(syscall.SIGXFSZ)
		l, err := Open(path)
		if err != nil {
			return err
		}
		const size = 1_000_000
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
			return err
		}
		n, err := fill(l, "small")
		var write *ledger.WriteError
		if !errors.As(err, &write) {
			return fmt.Errorf("got %v; want a WriteError", err)
		}
		if write.Broken {
			if _, err := l.Charge(ctx, ask("more", hospital(1_000_000))); !errors.As(err, &write) {
				return fmt.Errorf("after a failed write: got %v; want a WriteError", err)
			}
		}
		fmt.Println(n)
		return nil // without Close, as if it had died
	}
}

// The kernel refuses writes beyond a size, with EFBIG and not ENOSPC, so that
// SQLite sees an input/output error.
func TestPromise9FileSizeLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	var n int
	noError(t, ledgertest.ErrOf(fmt.Sscan(output(t, "small", path), &n)))
	if n < 10 {
		t.Fatalf("only %d charges before the limit", n)
	}
	checkFilled(t, path, "small", n)
}

// fullDisk tests a file system that is really full. Room is made by removing a file.
func fullDisk(t *testing.T, dir string) {
	path, filler := filepath.Join(dir, "ledger.db"), filepath.Join(dir, "filler")
	noError(t, os.WriteFile(filler, make([]byte, 100_000), 0o600))
	l := reopen(t, path)
	n, err := fill(l, "full")
	var write *ledger.WriteError
	if !errors.As(err, &write) {
		t.Fatalf("got %v; want a WriteError", err)
	}
	t.Logf("full after %d charges: %v", n, err)
	noError(t, os.Remove(filler))
	if write.Broken {
		t.Error("a full disk is known to have changed nothing")
	} else {
		mustCharge(t, l, ask("with room again", hospital(1_000_000)))
		n++
	}
	mustClose(t, l)
	checkFilled(t, path, "full", n-1)

	// On a disk that is full from the start there is no ledger, and no half of one.
	if err := os.WriteFile(filler, make([]byte, 10_000_000), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	second := filepath.Join(dir, "second.db")
	if _, err := Open(second); err == nil {
		t.Error("a ledger was created on a full disk")
	} else if !strings.Contains(err.Error(), "second.db") {
		t.Errorf("the error does not say which ledger: %v", err)
	}
	if _, err := os.Stat(second); !os.IsNotExist(err) {
		t.Error("half a ledger was left")
	}
}

//go:build linux && (amd64 || arm64)

package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/discreet-dp/discreet/ledger"
)

func init() {
	children["failing fsync"] = func(path string) error { return failingFsync(path, false) }
	children["failing fsync, not asked"] = func(path string) error { return failingFsync(path, true) }
}

// failingFsync charges, then has the kernel fail every fsync of this process with
// EIO, then charges again and writes what came of it. Careless, it tells SQLite not to
// ask for fsync, which is the bug that the test must be able to see.
func failingFsync(path string, careless bool) error {
	l, err := Open(path)
	if err != nil {
		return err
	}
	for i := range 3 {
		r, err := l.Charge(ctx, ask(fmt.Sprint(i), hospital(100)))
		if err != nil {
			return err
		}
		if err := l.Keep(ctx, r.Sequence, fmt.Sprint(i), []byte("answer")); err != nil {
			return err
		}
	}
	unanswered, err := l.Charge(ctx, ask("unanswered", hospital(100)))
	if err != nil {
		return err
	}
	if careless {
		if _, err := l.conn.ExecContext(ctx, "PRAGMA synchronous = OFF"); err != nil {
			return err
		}
	}
	if err := breakFsync(); err != nil {
		fmt.Println("skip", err)
		return nil
	}
	err = l.Keep(ctx, unanswered.Sequence, "unanswered", []byte("answer"))
	var write *ledger.WriteError
	fmt.Println("keep", errors.As(err, &write) && write.Broken)
	_, err = l.Charge(ctx, ask("after", hospital(100)))
	fmt.Println("charge", errors.As(err, &write) && write.Broken)
	return nil
}

// breakFsync installs a seccomp filter in all threads: fsync and fdatasync return
// EIO without being made, everything else is as it was. See seccomp(2).
func breakFsync() error {
	const (
		loadNumber  = 0x20 // BPF_LD|BPF_W|BPF_ABS; the number is at offset 0 of seccomp_data
		jumpIfEqual = 0x15 // BPF_JMP|BPF_JEQ|BPF_K
		returns     = 0x06 // BPF_RET|BPF_K
		allow       = 0x7fff0000
		fail        = 0x00050000 | uint32(syscall.EIO)
		noNewPrivs  = 38
		setFilter   = 1
		allThreads  = 1
	)
	seccomp := map[string]uintptr{"amd64": 317, "arm64": 277}[runtime.GOARCH]
	filter := []syscall.SockFilter{
		{Code: loadNumber, K: 0},
		{Code: jumpIfEqual, Jt: 1, K: syscall.SYS_FSYNC},
		{Code: jumpIfEqual, Jf: 1, K: syscall.SYS_FDATASYNC},
		{Code: returns, K: fail},
		{Code: returns, K: allow},
	}
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivs, 1, 0, 0, 0, 0); e != 0 {
		return e
	}
	if _, _, e := syscall.RawSyscall(seccomp, setFilter, allThreads, uintptr(unsafe.Pointer(&program))); e != 0 {
		return e
	}
	return nil
}

// When fsync fails Charge and Keep must fail, which also proves that they ask for it
// and wait for it.
func TestPromise1And9FailedFsync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	got := output(t, "failing fsync", path)
	if strings.HasPrefix(got, "skip") {
		t.Skip("the kernel does not let a process filter its system calls: " + got)
	}
	if got != "keep true\ncharge true\n" {
		t.Errorf("got %q", got)
	}
	l := reopen(t, path)
	if n := spent(t, l, "hospital"); n != 4 {
		t.Errorf("spent %d; want the 4 charges that were confirmed", n)
	}
	for i := range 3 {
		if _, found, err := l.Answer(ctx, fmt.Sprint(i)); !found || err != nil {
			t.Errorf("answer %d: %v, %v", i, found, err)
		}
	}
	if got := output(t, "failing fsync, not asked", filepath.Join(t.TempDir(), "ledger.db")); got != "keep false\ncharge false\n" {
		t.Errorf("without fsync: got %q; this test cannot see whether it is asked for", got)
	}
}

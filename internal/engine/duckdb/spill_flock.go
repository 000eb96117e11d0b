//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package duckdb

import (
	"os"
	"syscall"
)

// wasLeft reports whether the process that held a lock has ended. The kernel drops the lock when a
// process ends, however it ends.
func wasLeft(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return tryLock(f)
}

// makeLock makes a file that is locked. It is locked under another name first: a lock that is not
// held yet would be taken for one that was left behind.
func makeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	tryLock(f)
	if err := os.Rename(path+".new", path); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

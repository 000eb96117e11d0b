//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package duckdb

import (
	"os"
	"syscall"
)

// tryLock locks a file, unless another process has. The kernel drops the lock when the
// process ends, however it ends.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package duckdb

import "os"

// wasLeft reports whether the process that held a lock has ended: Windows removes no file that is
// open.
func wasLeft(path string) bool { return os.Remove(path) == nil }

// makeLock makes a file that stays as long as it is open.
func makeLock(path string) (*os.File, error) { return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) }

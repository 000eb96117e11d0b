package duckdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Private rows may be spilled to disk while a large question runs: into a folder
// that only this user can read, and that goes with the snapshot. A process that is
// killed leaves its folder behind. It is locked while it is in use, and the next one that
// starts removes what nobody has locked.

const spillPattern = "discreet-spill-*"

type spill struct {
	folder string
	lock   *os.File
}

func newSpill() (spill, error) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), spillPattern))
	for _, folder := range left {
		if wasLeft(filepath.Join(folder, "lock")) {
			os.RemoveAll(folder)
		}
	}
	folder, err := os.MkdirTemp("", spillPattern)
	if err != nil {
		return spill{}, fmt.Errorf("make a folder for large questions: %w", err)
	}
	lock, err := makeLock(filepath.Join(folder, "lock"))
	if err != nil {
		os.RemoveAll(folder)
		return spill{}, fmt.Errorf("make a folder for large questions: %w", err)
	}
	return spill{folder, lock}, nil
}

func (s spill) remove() error {
	if s.folder == "" {
		return nil
	}
	if runtime.GOOS == "windows" { // where a file that is open cannot be removed
		return errors.Join(s.lock.Close(), os.RemoveAll(s.folder))
	}
	return errors.Join(os.RemoveAll(s.folder), s.lock.Close())
}

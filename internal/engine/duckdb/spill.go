package duckdb

import (
	"fmt"
	"os"
	"path/filepath"
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
		if f, err := os.Open(filepath.Join(folder, "lock")); err == nil {
			if tryLock(f) {
				os.RemoveAll(folder)
			}
			f.Close()
		}
	}
	folder, err := os.MkdirTemp("", spillPattern)
	if err != nil {
		return spill{}, fmt.Errorf("make a folder for large questions: %w", err)
	}
	// Locked under another name first: a lock that is not held yet would be taken
	// for one that was left behind.
	lock, err := os.OpenFile(filepath.Join(folder, "new"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		tryLock(lock)
		err = os.Rename(filepath.Join(folder, "new"), filepath.Join(folder, "lock"))
	}
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
	err := os.RemoveAll(s.folder)
	s.lock.Close()
	return err
}

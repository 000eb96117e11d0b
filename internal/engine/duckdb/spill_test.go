package duckdb

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// What a process that was killed has left behind goes when the next one starts, and what is in use
// stays.
func TestSpillIsSwept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no flock")
	}
	t.Setenv("TMPDIR", t.TempDir())
	used, err := newSpill()
	if err != nil {
		t.Fatal(err)
	}
	left, err := newSpill()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left.folder, "rows"), []byte("private"), 0o600); err != nil {
		t.Fatal(err)
	}
	left.lock.Close() // as the kernel does when a process dies
	next, err := newSpill()
	if err != nil {
		t.Fatal(err)
	}
	if exists(left.folder) || !exists(used.folder) || !exists(next.folder) {
		t.Errorf("left %v, used %v, next %v", exists(left.folder), exists(used.folder), exists(next.folder))
	}
	if info, err := os.Stat(used.folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, s := range []spill{used, next} {
		if err := s.remove(); err != nil || exists(s.folder) {
			t.Errorf("%v", err)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

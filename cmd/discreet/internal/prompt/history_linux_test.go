package prompt

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// People link the file to a device that keeps nothing. Its mode is not ours to change.
func TestHistoryIsNoFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	file := filepath.Join(dir, "discreet", "history")
	os.Mkdir(filepath.Dir(file), 0o700)
	if err := syscall.Mkfifo(file, 0o644); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() { // it would wait forever if it read
		h, _, err := OpenHistory()
		if err == nil {
			err = h.Add("x")
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it is read")
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o644 {
		t.Errorf("it has mode %v now", info.Mode())
	}
}

package anchor

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// On a disk that is full the anchor before stays, and with room again the next is stored.
func TestFileFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("a file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	place, filler := File(filepath.Join(dir, "anchor")), filepath.Join(dir, "filler")
	mustStore(t, place, 1)
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	if err := place.Store(ctx, at(2)); err == nil {
		t.Fatal("stored on a full disk")
	}
	mustHold(t, place, 1)
	noError(t, os.Remove(filler))
	mustStore(t, place, 3)
	mustHold(t, place, 3)
}

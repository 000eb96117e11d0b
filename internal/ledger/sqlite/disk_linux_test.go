package sqlite

import (
	"syscall"
	"testing"
)

// A small file system of its own needs the right to mount it. Where that is missing the
// other tests of promise 9 still run.
func TestPromise9FullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=400k"); err != nil {
		t.Skipf("a file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	t.Run("tmpfs", func(t *testing.T) { fullDisk(t, dir) })
}

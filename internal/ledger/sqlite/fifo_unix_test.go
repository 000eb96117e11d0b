//go:build unix

package sqlite

import (
	"os"
	"syscall"
	"testing"
)

// What stands in the place of a checkpoint and is none holds nothing up.
func TestCheckpointIsNoFile(t *testing.T) {
	path := varied(t)
	for _, name := range checkpoints(path) {
		os.Remove(name)
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Skip(err)
		}
	}
	mustVerify(t, path)
	l := reopen(t, path)
	mustCharge(t, l, askIn("more", 2))
	mustClose(t, l)
	if last, _ := unread(t, path); last == 0 {
		t.Error("no checkpoint took its place")
	}
}

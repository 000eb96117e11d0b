package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A disk that is really full, where one can be made.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	policy := deploy(t, large)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=160k"); err != nil {
		t.Skipf("a small disk cannot be made: %v; TestFileSizeLimit ran instead", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	change(t, policy, func(s string) string { return "ledger: " + filepath.Join(dir, "policy.ledger") + "\n" + s })
	must(t, os.Symlink(filepath.Join(dir, "policy.ledger"), beside(policy, "policy.ledger")))
	filler := write(t, filepath.Join(dir, "filler"), strings.Repeat("x", 40_000))
	asks(policy, people).wants(t, 0)
	fill(t, policy, "age, sex", func(text string) result { return asks(policy, text) })
	asks(policy, people).wants(t, 0, "free")
	must(t, os.Remove(filler))
	asks(policy, "SELECT COUNT(*) FROM visits").wants(t, 0, "price: epsilon 0.1")

	// On a disk that is full from the start there is no ledger, and no half of one.
	if err := os.WriteFile(filler, make([]byte, 1_000_000), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	replace(t, policy, "policy.ledger", "second.ledger")
	asks(policy, people).wants(t, 1, "second.ledger")
	if _, err := os.Stat(filepath.Join(dir, "second.ledger")); err == nil {
		t.Error("half a ledger was left")
	}
}

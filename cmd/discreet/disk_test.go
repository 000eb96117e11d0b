package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fill asks until the disk is full, and checks what is left then.
func fill(t *testing.T, policy string, ask func(text string) result) {
	t.Helper()
	question := func(i int) string {
		return fmt.Sprintf("SELECT age, COUNT(*) FROM patients WHERE age <> %d GROUP BY age", i)
	}
	for i := range 200 {
		before := spent(t, policy)
		r := ask(question(i))
		if r.code == 0 {
			continue
		}
		r.wants(t, 1, "could not be written")
		// A charge may have been written when its answer could not be, never the other way round.
		after := spent(t, policy)
		if after.Answers != before.Answers || after.Records > before.Records+1 {
			t.Errorf("the ledger went from %+v to %+v", before, after)
		}
		if i == 0 {
			t.Error("the disk was full from the start")
		}
		return
	}
	t.Error("the disk was never full")
}

const large = "{epsilon: 100, per_query: {default: 0.1, max: 1}}"

// No file may grow beyond what the ledger is now, and a little.
func TestFileSizeLimit(t *testing.T) {
	policy := deploy(t, large)
	asks(policy, people).wants(t, 0)
	info, err := os.Stat(beside(policy, "policy.ledger"))
	if err != nil {
		t.Fatal(err)
	}
	limit := fmt.Sprintf("DISCREET_TEST_FSIZE=%d", info.Size()+20_000)
	ask := func(text string) result { return processed(t, limit, "query", "-p", policy, "--as", "ana", text) }
	fill(t, policy, ask)
	ask(people).wants(t, 0, "free")
	asks(policy, "SELECT COUNT(*) FROM visits").wants(t, 0, "price: epsilon 0.1")
}

// A disk that is really full, where one can be made.
func TestFullDisk(t *testing.T) {
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
	if err := os.Symlink(filepath.Join(dir, "policy.ledger"), beside(policy, "policy.ledger")); err != nil {
		t.Fatal(err)
	}
	filler := write(t, filepath.Join(dir, "filler"), strings.Repeat("x", 40_000))
	asks(policy, people).wants(t, 0)
	fill(t, policy, func(text string) result { return asks(policy, text) })
	asks(policy, people).wants(t, 0, "free")
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	asks(policy, "SELECT COUNT(*) FROM visits").wants(t, 0, "price: epsilon 0.1")

	// On a disk that is full from the start there is no ledger, and no half of one.
	if err := os.WriteFile(filler, make([]byte, 1_000_000), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	change(t, policy, func(s string) string { return strings.Replace(s, "policy.ledger", "second.ledger", 1) })
	asks(policy, people).wants(t, 1, "second.ledger")
	if _, err := os.Stat(filepath.Join(dir, "second.ledger")); err == nil {
		t.Error("half a ledger was left")
	}
}

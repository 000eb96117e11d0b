//go:build unix

package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
)

// limitFiles limits how large files may become, where a test asks for it: what a full disk is like.
func limitFiles() {
	limit, err := strconv.ParseUint(os.Getenv("DISCREET_TEST_FSIZE"), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		panic(err)
	}
}

// fill asks about so many groups until the disk is full, and checks what is left then.
func fill(t *testing.T, policy, groups string, ask func(text string) result) {
	t.Helper()
	question := func(i int) string {
		return fmt.Sprintf("SELECT "+groups+", COUNT(*) FROM patients WHERE age <> %d GROUP BY "+groups, i)
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
		if after.Answers != before.Answers || after.Charges > before.Charges+1 {
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
	t.Parallel()
	policy := deploy(t, large)
	asks(policy, people).wants(t, 0)
	info, err := os.Stat(beside(policy, "policy.ledger"))
	must(t, err)
	limit := fmt.Sprintf("DISCREET_TEST_FSIZE=%d", info.Size()+20_000)
	ask := func(text string) result { return processed(t, limit, "query", "-p", policy, "--as", "ana", text) }
	fill(t, policy, "age", ask)
	asks(policy, people).wants(t, 0, "free")
	asks(policy, "SELECT COUNT(*) FROM visits").wants(t, 0, "price: epsilon 0.1")
}

//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
)

// charged waits until a ledger that another process has open holds a charge.
func charged(t *testing.T, file string) bool {
	t.Helper()
	for range 2000 {
		time.Sleep(5 * time.Millisecond)
		text, err := os.ReadFile(file)
		log, err2 := os.ReadFile(file + "-wal")
		if err != nil || err2 != nil {
			continue
		}
		copied := write(t, filepath.Join(t.TempDir(), "copy"), string(text))
		write(t, copied+"-wal", string(log))
		// A copy may be of a moment in the middle of a write, and then does not check.
		if r, err := sqlite.Verify(copied); err == nil && r.Charges > 0 {
			return true
		}
	}
	return false
}

// eventsMost is how many events take longer to count on any machine than it takes to interrupt.
const eventsMost = 50_000_000

// events is data that takes a while to count: so many rows.
func events(t *testing.T, rows int) string {
	t.Helper()
	dir := t.TempDir()
	policy := write(t, filepath.Join(dir, "policy.yaml"), `
datasets:
  events:
    engine: duckdb
    source: events.duckdb
    unit: events.pid
    budget: {epsilon: 1, per_query: {default: 0.1}}
    analysts: {ana: {}}
    tables:
      events:
        max_rows: 5
        max_groups: 2
        columns:
          v: {type: integer, bounds: [0, 999]}
`)
	duck(t, filepath.Join(dir, "events.duckdb"), fmt.Sprintf("CREATE TABLE events AS SELECT (i * 7919) %% 1000003 AS pid, i %% 1000 AS v "+
		"FROM range(%d) r(i)", rows))
	return policy
}

const countEvents = "SELECT v, COUNT(*), SUM(v) FROM events GROUP BY v"

// interrupted asks a question in a process of its own, and interrupts it as soon as it is charged.
func interrupted(t *testing.T, policy string) result {
	t.Helper()
	var out, errs bytes.Buffer
	c := process(&out, &errs, "query", "-p", policy, "--as", "ana", "--request", "mine", countEvents)
	must(t, c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	if !charged(t, beside(policy, "policy.ledger")) {
		c.Process.Kill()
		<-ended
		t.Fatalf("nothing was charged: %s%s", out.String(), errs.String())
	}
	c.Process.Signal(syscall.SIGINT) // it may have ended
	select {
	case <-ended:
	case <-time.After(time.Minute):
		c.Process.Kill()
		t.Fatal("it does not end")
	}
	return result{[]string{"query"}, c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// Ctrl-C while the engine runs: the charge is there, and stays.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	rows := 500_000
	policy := events(t, rows)
	r := interrupted(t, policy)
	for ; r.code == 0 && rows < eventsMost; r = interrupted(t, policy) { // it was faster
		rows *= 5
		policy = events(t, rows)
	}
	r.wants(t, 1, "error: interrupted. What was charged stays charged")
	if r := spent(t, policy); r.Charges != 1 || r.Answers != 0 || r.Balances[0].Spent.Epsilon.String() != "0.1" {
		t.Errorf("the ledger says %+v; want the charge alone", r)
	}
	command("budget", "-p", policy).wants(t, 0, "events/ana    0.1")
	// In another window of a budget that is renewed nobody has paid for it.
	before := map[string]string{policy: "", beside(policy, "policy.ledger"): ""}
	for name := range before {
		before[name] = contents(t, name)
	}
	replace(t, policy, "{epsilon: 1,", "{epsilon: 1, renewal: {every: month, windows: 3},")
	command("ledger", "renew", "-p", policy, "--reason", "a new month").wants(t, 0, "window 2 of 3 has begun")
	asks(policy, "--request", "mine", countEvents).wants(t, 2,
		`the request "mine" was charged in window 1 of "events"`, "ask with another request identifier")
	command("ledger", "replay", "-p", policy).wants(t, 0, "0 differ")
	for name, text := range before {
		write(t, name, string(text))
	}
	asks(policy, "--request", "mine", countEvents).wants(t, 0, "price: free", "left: epsilon 0.9")
}

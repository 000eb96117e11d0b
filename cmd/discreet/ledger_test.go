package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
)

func TestLedgerVerify(t *testing.T) {
	policy := deploy(t, tenQuestions)
	books := beside(policy, "policy.ledger")
	command("ledger", "verify", "-p", policy).wants(t, 1, "there is no ledger at")
	asks(policy, people).wants(t, 0)
	command("ledger", "verify", books).wants(t, 0, "is whole: 4 records, 1 answer kept", "1 charge, 1 answer, 1 version", "owner: none",
		"hospital/ana            0.1")
	r := command("ledger", "verify", "-p", policy, "--json").wants(t, 0).decode(t)
	if r["records"] != 4.0 || r["charges"] != 1.0 || r["answers"] != 1.0 || len(r["balances"].([]any)) != 2 ||
		r["kinds"].(map[string]any)["version"] != 1.0 {
		t.Errorf("got %v", r)
	}
	command("ledger", "verify").wants(t, 2, "name a ledger file, or a policy")
	command("ledger", "verify", "-p", policy, books).wants(t, 2, "name a ledger file, or a policy")
	command("ledger", "verify", policy).wants(t, 2, "policy.yaml is no ledger", "did you mean --policy")
	command("ledger", "verify", write(t, beside(policy, "none.ledger"), "no ledger, but no policy either")).wants(t, 1, "damaged")
	command("ledger", "verify", filepath.Dir(policy)).wants(t, 1)
}

// A ledger that is not whole stops everything that would need it, and stays as it is.
func TestDamagedLedger(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(text []byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"half", func(b []byte) []byte { return b[:len(b)/2] }},
		{"short", func(b []byte) []byte { return b[:100] }},
		{"not a ledger", func([]byte) []byte { return []byte(strings.Repeat("not a ledger ", 1000)) }},
		{"one letter", func(b []byte) []byte {
			i := strings.Index(string(b), "hospital/ana")
			b[i] = 'H'
			return b
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			policy := deploy(t, tenQuestions)
			asks(policy, people).wants(t, 0)
			books := beside(policy, "policy.ledger")
			good, err := os.ReadFile(books)
			if err != nil {
				t.Fatal(err)
			}
			bad := string(c.damage(append([]byte(nil), good...)))
			write(t, books, bad)
			for _, args := range [][]string{{"query", "-p", policy, "--as", "ana", people}, {"explain", "-p", policy, "--as", "ana",
				people}, {"budget", "-p", policy}, {"ledger", "verify", books},
				{"ledger", "show", books}, {"ledger", "export", books}, {"ledger", "replay", books}, {"ledger", "replay", "-q", "-p",
					policy}, {"ledger", "export", "-p", policy, "--format", "jsonl", "-o", beside(policy, "out")}} {
				command(args...).wants(t, 1, "damaged", "Do not delete it")
			}
			asks(policy, "--json", people).fails(t, 1, "failed")
			if _, err := os.Stat(beside(policy, "out")); err == nil {
				t.Error("a damaged ledger was exported")
			}
			if now, _ := os.ReadFile(books); string(now) != bad {
				t.Error("a damaged ledger was changed")
			}
			write(t, books, string(good))
			asks(policy, people).wants(t, 0, "free")
		})
	}
}

func TestLedgerThatCannotBe(t *testing.T) {
	policy := deploy(t, tenQuestions)
	if err := os.Mkdir(beside(policy, "policy.ledger"), 0o755); err != nil {
		t.Fatal(err)
	}
	asks(policy, people).wants(t, 1, "policy.ledger")
	command("ledger", "verify", "-p", policy).wants(t, 1, "policy.ledger")

	// Folders where nobody can create a file, root neither.
	for _, ledger := range []string{"/proc/policy.ledger", "/proc/no/such/policy.ledger", "/dev/null/policy.ledger"} {
		policy := deploy(t, tenQuestions)
		change(t, policy, func(s string) string { return "ledger: " + ledger + "\n" + s })
		asks(policy, people).wants(t, 1, "the ledger")
	}
	if os.Geteuid() != 0 {
		policy := deploy(t, tenQuestions)
		os.Chmod(filepath.Dir(policy), 0o555)
		defer os.Chmod(filepath.Dir(policy), 0o755)
		asks(policy, people).wants(t, 1, "permission denied")
	}
}

// A ledger has one process at a time; the next one waits a little, and says why it stops.
func TestTwoProcesses(t *testing.T) {
	policy := deploy(t, tenQuestions)
	asks(policy, people).wants(t, 0)
	l, err := sqlite.Open(beside(policy, "policy.ledger"))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	processed(t, "", "query", "-p", policy, "--as", "ana", people).wants(t, 1, "the ledger is open already",
		"stop the server, or wait for the command")
	if took := time.Since(start); took < time.Second || took > 20*time.Second {
		t.Errorf("it waited for %v", took)
	}
	// Whoever waits long enough gets it.
	time.AfterFunc(700*time.Millisecond, func() { l.Close() })
	processed(t, "", "query", "-p", policy, "--as", "ana", people).wants(t, 0, "free")
}

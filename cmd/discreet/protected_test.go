package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/books"
)

// turnNeighbours makes a policy say substitute in the place of add-remove, or the other way round.
func turnNeighbours(t *testing.T, policy string) {
	t.Helper()
	change(t, policy, func(s string) string {
		if strings.Contains(s, "neighbours: substitute") {
			return strings.Replace(s, "neighbours: substitute", "neighbours: add-remove", 1)
		}
		s = strings.Replace(s, "    neighbours: add-remove\n", "", 1)
		return strings.Replace(s, "    unit:", "    neighbours: substitute\n    unit:", 1)
	})
}

// Whom a policy protects does not change once something was charged: no command goes on with a
// policy that says otherwise, and each says what to do.
func TestPolicyProtectsOthers(t *testing.T) {
	policy := deploy(t, tenQuestions)
	turn := func() { turnNeighbours(t, policy) }
	turn()
	command("budget", "-p", policy).wants(t, 0, "somebody else's")
	turn()
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0)
	turn()
	for _, c := range []result{
		asks(policy, "SELECT COUNT(*) FROM patients"), asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50"),
		command("budget", "-p", policy), command("check", policy), command("check", policy, "--no-data"),
	} {
		c.wants(t, 1, `says neighbours: substitute, and said neighbours: add-remove`, "Put it back")
	}
	// A server does this before it lets anybody in.
	db, err := discreet.Open(t.Context(), policy)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Warm(t.Context()); !errors.As(err, new(*books.ChangedError)) {
		t.Errorf("a server would begin: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	turn()
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0, "free")
	command("check", policy).wants(t, 0)
	command("ledger", "replay", beside(policy, "policy.ledger")).wants(t, 0, "0 differ")
}

// A ledger that was lost and is counted as spent still knows whom its charges protected.
func TestRecoveredLedgerProtects(t *testing.T) {
	policy, _ := anchored(t)
	books := beside(policy, "policy.ledger")
	lose := func() {
		t.Helper()
		for _, suffix := range []string{"", ".lock"} {
			if err := os.Remove(books + suffix); err != nil {
				t.Fatal(err)
			}
		}
	}
	asks(policy, people).wants(t, 0)
	for range 2 { // also where what was recovered is lost again
		lose()
		command("ledger", "anchor", "-p", policy, "--recover", "--reason", "fire").wants(t, 0, "the ledger was missing")
		turnNeighbours(t, policy)
		for _, c := range []result{asks(policy, people), command("budget", "-p", policy), command("check", policy)} {
			c.wants(t, 1, `says neighbours: substitute, and said neighbours: add-remove`, "Put it back")
		}
		turnNeighbours(t, policy)
		command("check", policy).wants(t, 0)
	}
	asks(policy, people).wants(t, 0)
	command("ledger", "replay", books).wants(t, 0, "0 differ")
}

// Where a copy from before the first charge went on by itself with another policy, its charges and
// those that were lost protect different people: no policy goes on with both.
func TestRecoveredLedgerProtectsTwo(t *testing.T) {
	policy, place := anchored(t)
	books := beside(policy, "policy.ledger")
	command("budget", "-p", policy).wants(t, 0)
	fresh, err := os.ReadFile(books)
	if err != nil {
		t.Fatal(err)
	}
	early, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	asks(policy, people).wants(t, 0)
	late, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	write(t, books, string(fresh))
	write(t, place, string(early))
	turnNeighbours(t, policy)
	asks(policy, people+" WHERE age > 50").wants(t, 0)
	write(t, place, string(late))
	command("ledger", "anchor", "-p", policy, "--recover", "--reason", "two copies").wants(t, 0, "counts as spent")
	asks(policy, people).wants(t, 1, "said neighbours: add-remove")
	turnNeighbours(t, policy)
	asks(policy, people).wants(t, 1, "said neighbours: substitute")
}

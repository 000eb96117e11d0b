package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/books"
)

// Whom a policy protects does not change once something was charged: no command goes on with a
// policy that says otherwise, and each says what to do.
func TestPolicyProtectsOthers(t *testing.T) {
	policy := deploy(t, tenQuestions)
	turn := func() {
		change(t, policy, func(s string) string {
			if strings.Contains(s, "neighbours: substitute") {
				return strings.Replace(s, "neighbours: substitute", "neighbours: add-remove", 1)
			}
			s = strings.Replace(s, "    neighbours: add-remove\n", "", 1)
			return strings.Replace(s, "    unit:", "    neighbours: substitute\n    unit:", 1)
		})
	}
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

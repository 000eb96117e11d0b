package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// What the curator wrote is what follows; a policy that was changed since is noted, and is no
// fault.
func TestLedgerReplay(t *testing.T) {
	policy := deploy(t, tenQuestions)
	command("ledger", "replay", "-p", policy).wants(t, 1, "there is no ledger at")
	asks(policy, people).wants(t, 0)
	asks(policy, "--epsilon", "0.3", "SELECT COUNT(*) FROM visits").wants(t, 0)
	command("ledger", "replay", "-p", policy).wants(t, 0,
		"ana admitted; hospital 0 + 0.1 of epsilon 1; hospital/ana 0 + 0.1 of epsilon 1\n", "hospital 0.1 + 0.3 of",
		"2 decisions re-derived, 0 differ").lacks(t, "note:", "DIFFERS")
	command("ledger", "replay", "-q", beside(policy, "policy.ledger")).wants(t, 0, "2 decisions re-derived, 0 differ").lacks(t, "admitted")
	r := command("ledger", "replay", "-p", policy, "--json").wants(t, 0).decode(t)
	if r["decisions"] != 2.0 || r["differ"] != 0.0 || len(r["charges"].([]any)) != 2 || len(r["differences"].([]any)) != 0 ||
		len(r["policy_changes"].([]any)) != 0 {
		t.Errorf("got %v", r)
	}
	change(t, policy, func(s string) string {
		return strings.Replace(strings.Replace(s, "{epsilon: 1,", "{epsilon: 2,", 1), "ana: {share: 1}, ", "", 1)
	})
	command("ledger", "replay", "-p", policy).wants(t, 0,
		"note: the policy gives hospital epsilon 2; at its last charge it was epsilon 1",
		"note: the policy does not name hospital/ana any more", "0 differ")
	command("ledger", "replay").wants(t, 2, "name a ledger file, or a policy")
	command("ledger", "replay", policy).wants(t, 2, "did you mean --policy")
	command("ledger", "replay", write(t, beside(policy, "none.ledger"), "no ledger, but no policy either")).wants(t, 1, "damaged")
}

// Records that somebody planted with the right hashes.
func TestLedgerReplayPlanted(t *testing.T) {
	for _, c := range []struct {
		name, says string
		plant      func(s *scribe)
	}{
		{"good", "", func(s *scribe) { s.charge("second", day(8), dp.One/2, 0) }},
		{"overspent", `DIFFERS (charge): "hospital" does not admit this`, func(s *scribe) { s.charge("second", day(8), dp.One, 0) }},
		{"twice", `the request "first" was charged before, by record 1`, func(s *scribe) { s.charge("first", day(8), 1, 0) }},
		{"not granted", `"hospital" was granted`, func(s *scribe) { s.charge("second", day(8), dp.One, dp.One) }},
		{"granted", "", func(s *scribe) { s.owner(); s.topUp(day(8), dp.One); s.charge("second", day(8), dp.One, dp.One) }},
		{"no owner", "there is no owner who could have signed this", func(s *scribe) { s.topUp(day(8), dp.One) }},
		{"forgotten", `"hospital" has spent`, func(s *scribe) {
			s.spent["hospital"] = dp.Cost{Rho: dp.Unbounded}
			s.charge("second",
				day(8), 1, 0)
		}},
		{"two answers", "charge 1 has a second answer", func(s *scribe) { s.answer(1); s.answer(1) }},
		{"taken back", "the recovery takes back", func(s *scribe) {
			s.add(&ledger.Record{Kind: ledger.KindRecovery, Time: day(4), Reason: "the disk",
				Balances: []ledger.Balance{{Account: "hospital", Spent: dp.Cost{Rho: dp.Unbounded}}}})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScribe(t, deploy(t, tenQuestions))
			s.charge("first", day(9), dp.One/4, 0)
			c.plant(s)
			books := s.save()
			if c.says == "" {
				command("ledger", "replay", books).wants(t, 0, "2 decisions re-derived, 0 differ")
				return
			}
			command("ledger", "replay", books).wants(t, 1, c.says, " differ", "not what follows from those before")
			command("ledger", "replay", "-q", books).wants(t, 1, c.says)
			r := command("ledger", "replay", "--json", books).wants(t, 1).decode(t)
			if r["differ"] == 0.0 || len(r["differences"].([]any)) == 0 {
				t.Errorf("got %v", r)
			}
		})
	}
}

// A ledger of a version in which a charge paid in every window: what was used is told, and what
// nobody can tell is in doubt.
func TestLedgerReplayOtherWindows(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("..", "..", "internal", "ledger", "replay", "testdata", "windows.ledger"))
	if err != nil {
		t.Fatal(err)
	}
	books := filepath.Join(t.TempDir(), "old.ledger")
	write(t, books, string(file))
	command("ledger", "verify", books).wants(t, 0, "is whole")
	command("ledger", "replay", "-q", books).wants(t, 1, "IN DOUBT (renewal): the sparse vector session of charge 3",
		"DIFFERS (answer): charge 2 is of window 1", "1 differs")
	r := command("ledger", "replay", "--json", books).wants(t, 1).decode(t)
	if r["differ"] != 1.0 || len(r["differences"].([]any)) != 1 || len(r["doubts"].([]any)) != 1 {
		t.Errorf("got %v", r)
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

func TestLedgerShow(t *testing.T) {
	policy := deploy(t, tenQuestions)
	command("ledger", "show", "-p", policy).wants(t, 1, "there is no ledger at")
	s := newScribe(t, policy)
	s.charge("=first", day(9), dp.One/4, 0)
	s.answer(1)
	s.charge("second", day(8), dp.One/2, 0)
	s.owner()
	s.topUp(day(7), dp.One)
	s.charge("third", day(6), dp.One/4, dp.One)
	s.add(&ledger.Record{Kind: ledger.KindRenewal, Time: day(5), Dataset: "hospital", Window: 2, Reason: "a new year"})
	s.add(&ledger.Record{Kind: ledger.KindRecovery, Time: day(4), AnchorSequence: 99, Reason: "the disk",
		Balances: []ledger.Balance{{Account: "hospital", Spent: dp.Cost{Epsilon: 2 * dp.One, Rho: dp.Unbounded}}}})
	s.add(&ledger.Record{Kind: ledger.KindVersion, Time: day(3), Dataset: "hospital", DataVersion: "0123456789"})
	books := s.save()
	before := contents(t, books)

	r := command("ledger", "show", books).wants(t, 0, "the ledger begins", "2026-11-06 12:00:00",
		"epsilon 0.25  epsilon 0.75 in hospital", "discrete-laplace; ! 50 % of hospital; ! 50 % of hospital/ana",
		"to charge 1", "the owner is ", "epsilon 1 more for hospital, hospital/ana, signed by ", ": board decision",
		"window 2 begins: a new year",
		"1 account counted as spent, up to the anchor at 99: the disk", "0123456…  ", "this version of the data from here on").lacks(t,
		"before; --last", shownToNobody)
	if n := strings.Count(r.out, "\n"); n != 12 {
		t.Errorf("%d lines: %s", n, r.out)
	}
	command("ledger", "show", "-p", policy, "--last", "2").wants(t, 0, "8 records before; --last 0 shows all",
		"this version of the data from here on", "the disk").lacks(t, "a new year")
	command("ledger", "show", "-p", policy, "--last", "0").wants(t, 0, "the ledger begins").lacks(t, "before; --last")
	command("ledger", "show", "-p", policy, "--request", "=first").wants(t, 0, "to charge 1", "epsilon 0.25").lacks(t,
		"epsilon 0.5", "owner")
	command("ledger", "show", "-p", policy, "--analyst", "ana", "--kind", "charge").wants(t, 0, "epsilon 0.5").lacks(t,
		"to charge", "owner")
	command("ledger", "show", "-p", policy, "--dataset", "hospital").wants(t, 0, "board decision", "a new year", "the disk",
		"to charge 1").lacks(t, "the ledger begins", "the owner is")
	command("ledger", "show", "-p", policy, "--dataset", "clinic").wants(t, 0, "there is no such record")
	command("ledger", "show", "-p", policy, "--kind", "topup,renewal").wants(t, 0, "board decision", "a new year").lacks(t, "the disk")

	rows := command("ledger", "show", books, "--json", "--kind", "charge,recovery").wants(t, 0).decode(t)["records"].([]any)
	first, last := rows[0].(map[string]any), rows[3].(map[string]any)
	if len(rows) != 4 || first["request"] != "=first" || first["epsilon"] != "0.25" || first["rho"] != nil || first["answer"] != 2.0 ||
		last["anchor_sequence"] != 99.0 || last["reason"] != "the disk" {
		t.Errorf("got %v", rows)
	}
	if rows := command("ledger", "show", books, "--json", "--last", "3").wants(t, 0).decode(t)["records"].([]any); len(rows) != 3 {
		t.Errorf("%d rows", len(rows))
	}
	if contents(t, books) != before {
		t.Error("showing changed the ledger")
	}
	command("ledger", "verify", books).wants(t, 0, "hospital is in its window 2", "fingerprint ",
		"3 charge, 1 answer, 1 version, 1 renewal, 1 owner, 1 topup, 1 recovery")

	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{}, 2, "name a ledger file, or a policy"},
		{[]string{books, "-p", policy}, 2, "name a ledger file, or a policy"},
		{[]string{books, "--last", "-1"}, 2, "--last"},
		{[]string{books, "--last", "many"}, 2, "see discreet ledger show --help"},
		{[]string{books, "--kind", "charges"}, 2,
			`there are no records of kind "charges": the kinds are charge, answer, version, renewal, owner, topup, recovery, ` +
				`note, incident, release and ledger`},
		{[]string{books + ".none"}, 1, "there is no ledger at"},
		{[]string{policy}, 2, "did you mean --policy"},
		{[]string{write(t, beside(policy, "none.ledger"), "no ledger, but no policy either")}, 1, "damaged"},
		{[]string{t.TempDir()}, 1, "not a regular file"},
	} {
		command(append([]string{"ledger", "show"}, c.args...)...).wants(t, c.code, c.says)
	}
}

// A long ledger is shown to its end.
func TestLedgerShowAll(t *testing.T) {
	s := newScribe(t, deploy(t, tenQuestions))
	for i := range 1201 {
		s.charge(strings.Repeat("x", i%100+1)+string(rune('a'+i/100)), day(1), 1, 0)
	}
	r := command("ledger", "show", "--last", "0", s.save()).wants(t, 0)
	if n := strings.Count(r.out, " charge "); n != 1201 {
		t.Errorf("%d charges", n)
	}
}

package main

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
)

// failed records an incident of the first charge in the ledger of a policy, as a server would.
func failed(t *testing.T, policy string, i ledger.Incident) {
	t.Helper()
	l, err := sqlite.Open(beside(policy, "policy.ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	i.Dataset, i.ByAnalyst, i.ByDataset = "hospital", 1, 3
	if _, err := l.Fail(context.Background(), i); err != nil {
		t.Fatal(err)
	}
}

func TestIncidentsByCommand(t *testing.T) {
	policy, key := deploy(t, tenQuestions), ""
	list := func(more ...string) result { return command(append([]string{"incidents", "-p", policy}, more...)...) }
	release := func(more ...string) result {
		return command(append([]string{"incidents", "release", "-p", policy, "--reason", "test"}, more...)...)
	}
	ask := func(age string) result { return command("query", "-p", policy, "--as", "ana", older(age)) }
	ask("1").wants(t, 0)
	list().wants(t, 0, "no incidents")
	release().wants(t, 2, "there is nothing to release")
	failed(t, policy, ledger.Incident{Analyst: "ana", Charge: 2, Failure: ledger.FailedMemory})
	list().wants(t, 0, "hospital  ana      memory   2       counts", "hospital gives ana no new answers")
	if v := list("--json", "--unanswered").wants(t, 0).decode(t); len(v["incidents"].([]any)) != 1 || len(v["closed"].([]any)) != 1 ||
		len(v["unanswered"].([]any)) != 0 {
		t.Errorf("got %v", v)
	}
	ask("2").wants(t, 2, "until its owner has released it")
	command("query", "-p", policy, "--as", "ana", "--json", older("2")).fails(t, 2, "closed")
	ask("1").wants(t, 0)
	command("explain", "-p", policy, "--as", "ana", older("2")).wants(t, 0, "but it would be refused", "closed: questions failed")
	command("query", "-p", policy, "--as", "ben", older("3")).wants(t, 0)
	release("--analyst", "ben").wants(t, 2, `there is nothing of "ben" to release; open incidents are ana's (record 5)`).lacks(t, "crash")
	list().wants(t, 0, "hospital gives ana no new answers")
	release("--analyst", "ana").wants(t, 0, "released 1 of 1 incidents")
	list().wants(t, 0, "released by record").lacks(t, "no new answers")
	ask("2").wants(t, 0)
	// Where the ledger has an owner, the owner signs.
	key = beside(policy, "owner.key")
	command("ledger", "key", "-p", policy, key).wants(t, 0)
	failed(t, policy, ledger.Incident{Failure: ledger.FailedCrash})
	release().wants(t, 2, "a release takes the owner's key")
	release("--analyst", "nope", "--key", key).wants(t, 2,
		`there is nothing of "nope" to release; a crash that names nobody is released without --analyst`)
	release("--dataset", "nope").wants(t, 2, `there is no dataset "nope"`)
	if v := release("--key", key, "--json").wants(t, 0).decode(t); v["released"] != 1.0 || v["closed"] != false {
		t.Errorf("got %v", v)
	}
	command("ledger", "verify", "-p", policy).wants(t, 0, "2 incident, 2 release")
	command("ledger", "replay", "-p", policy, "--quiet").wants(t, 0)
	command("ledger", "show", "-p", policy).wants(t, 0, "memory, of charge 2; 1 and 3 are borne", "incidents are released: test")
}

// Where everybody is shut out, nobody gets answers.
func TestEverybodyShutOut(t *testing.T) {
	policy := deploy(t, tenQuestions)
	command("query", "-p", policy, "--as", "ana", older("1")).wants(t, 0)
	for range 3 {
		failed(t, policy, ledger.Incident{Failure: ledger.FailedCrash})
	}
	command("incidents", "-p", policy).wants(t, 0, "hospital gives nobody new answers")
}

func TestCheckFailures(t *testing.T) {
	policy := deploy(t, tenQuestions)
	command("check", policy).wants(t, 0, "failures: after 1 of one analyst, or 3 of all together").lacks(t, "note: failures")
	change(t, policy, func(s string) string { return s + "    failures: {analyst: 5, dataset: 2}\n" })
	command("check", policy).wants(t, 0, "note: failures: 5 of one analyst are borne and 2 of all together")
	about := command("check", "--json", policy).wants(t, 0).decode(t)["datasets"].(map[string]any)["hospital"].(map[string]any)
	if f := about["failures"].(map[string]any); f["analyst"] != 5.0 || f["dataset"] != 2.0 || len(about["warnings"].([]any)) != 1 ||
		about["max_joined"] == nil {
		t.Errorf("got %v", about)
	}
}

func TestPolicyIsNoLedger(t *testing.T) {
	policy := deploy(t, tenQuestions)
	command("ledger", "verify", policy).wants(t, 2, "is no ledger; did you mean --policy "+policy)
	command("ledger", "verify", beside(policy, "policy.ledger")).lacks(t, "did you mean")
}

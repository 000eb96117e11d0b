package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// TestFilesOfEarlierVersions opens what commit 0b92c70 wrote: a ledger with every kind of record,
// its anchor, users, a prepared table and a model. What was paid for is answered again, free.
func TestFilesOfEarlierVersions(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", "testdata/before-0.1.tar.gz", "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	policy := filepath.Join(dir, "policy.yaml")
	command("check", policy).wants(t, 0, "the policy and the data were read")
	command("ledger", "verify", "-p", policy).wants(t, 0)
	command("ledger", "replay", "-q", "-p", policy).wants(t, 0, "0 differ")
	shown := command("ledger", "show", "-p", policy, "--last", "0", "--json").wants(t, 0).out
	for _, kind := range []ledger.Kind{
		ledger.KindLedger, ledger.KindCharge, ledger.KindAnswer, ledger.KindVersion, ledger.KindRenewal, ledger.KindOwner,
		ledger.KindTopUp, ledger.KindRecovery, ledger.KindNote, ledger.KindIncident, ledger.KindRelease,
	} {
		if !strings.Contains(shown, `"kind":"`+string(kind)+`"`) {
			t.Errorf("no record is of kind %s", kind)
		}
	}

	text := contents(t, filepath.Join(dir, "answer.json"))
	paid := result{out: text}.decode(t)
	again := command("query", "-p", policy, "--as", "ana", "--json", "SELECT ward, SUM(cost), COUNT(*) FROM visits GROUP BY ward").
		wants(t, 0, `"free":true`).decode(t)
	for _, name := range []string{"columns", "rows", "errors", "data_version"} {
		if canonical(t, paid[name]) != canonical(t, again[name]) {
			t.Errorf("%s was %v and is %v", name, paid[name], again[name])
		}
	}
	command("stream", "ask", "-p", policy, "--as", "ana", "age >= 60").wants(t, 0)
	command("ledger", "topup", "-p", policy, "--key", filepath.Join(dir, "owner.key"), "--epsilon", "0.1", "--reason", "more").wants(t, 0)
	command("query", "-p", policy, "--as", "ben", "SELECT COUNT(*) FROM patients WHERE age > 30").wants(t, 0)
	command("ledger", "verify", "-p", policy).wants(t, 0)
	command("user", "list", "-p", policy).wants(t, 0, "ana", "ben", "boss", "owner")
	command("user", "tokens", "-p", policy).wants(t, 0, "c1kd44a194")
	command("predict", "-m", filepath.Join(dir, "model.json"), filepath.Join(dir, "data", "patients.csv")).wants(t, 0)
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

package main

import (
	"encoding/binary"
	"encoding/json"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/ledger"
)

// TestFilesOfEarlierVersions opens what each version wrote: a ledger with every kind of record, its
// anchor, users, a prepared table and a model, and a ledger with users in PostgreSQL. What was
// spent is what it was, what was paid for is answered again, free, and new questions are charged on
// top. Of a version that is to be released TestKeepFiles makes such files; README.md in
// internal/version says when.
func TestFilesOfEarlierVersions(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob("testdata/versions/*.tar.gz")
	must(t, err)
	if len(all) < 2 {
		t.Fatalf("only %d versions are kept", len(all))
	}
	for _, archive := range all {
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, name)
			readKeptFiles(t, dir)
			if name != "before-0.1" { // which has neither
				sameBudgets(t, filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "budget.json"))
				savedOf(t, filepath.Join(dir, "kept.users"))
			}
			askKeptFiles(t, dir)
			if name == "before-0.1" {
				return
			}
			t.Run("postgres", func(t *testing.T) { openKeptDatabase(t, dir, "kept of "+name) })
		})
	}
}

// unpack returns a folder with the files of a version.
func unpack(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", "testdata/versions/"+version+".tar.gz", "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// allKinds are those of records.
var allKinds = []ledger.Kind{
	ledger.KindLedger, ledger.KindCharge, ledger.KindAnswer, ledger.KindVersion, ledger.KindRenewal, ledger.KindOwner,
	ledger.KindTopUp, ledger.KindRecovery, ledger.KindNote, ledger.KindIncident, ledger.KindRelease,
}

const keptQuestion = "SELECT ward, SUM(cost), COUNT(*) FROM visits GROUP BY ward"

// readKeptFiles checks what is there, and changes nothing.
func readKeptFiles(t *testing.T, dir string) {
	t.Helper()
	policy := filepath.Join(dir, "policy.yaml")
	command("check", policy).wants(t, 0, "the policy and the data were read")
	command("ledger", "verify", "-p", policy).wants(t, 0)
	command("ledger", "replay", "-q", "-p", policy).wants(t, 0, "0 differ")
	shown := command("ledger", "show", "-p", policy, "--last", "0", "--json").wants(t, 0).out
	for _, kind := range allKinds {
		if !strings.Contains(shown, `"kind":"`+string(kind)+`"`) {
			t.Errorf("no record is of kind %s", kind)
		}
	}
	command("user", "list", "-p", policy).wants(t, 0, "ana", "ben", "boss", "owner")
	id := strings.Split(contents(t, filepath.Join(dir, "token.txt")), "_")[1]
	command("user", "tokens", "-p", policy).wants(t, 0, id)
	command("predict", "-m", filepath.Join(dir, "model.json"), filepath.Join(dir, "data", "patients.csv")).wants(t, 0)
}

// askKeptFiles goes on with what is there.
func askKeptFiles(t *testing.T, dir string) {
	t.Helper()
	policy := filepath.Join(dir, "policy.yaml")
	sameAnswer(t, policy, filepath.Join(dir, "answer.json"), keptQuestion)
	command("stream", "ask", "-p", policy, "--as", "ana", "age >= 60").wants(t, 0)
	command("ledger", "topup", "-p", policy, "--key", filepath.Join(dir, "owner.key"), "--epsilon", "0.1", "--reason", "more").wants(t, 0)
	command("query", "-p", policy, "--as", "ben", "SELECT COUNT(*) FROM patients WHERE age > 30").wants(t, 0)
	command("ledger", "verify", "-p", policy).wants(t, 0)
}

// openKeptDatabase puts the dump of a ledger and its users into a database, and goes on with them.
func openKeptDatabase(t *testing.T, dir, name string) {
	server := testpg.Shared(t)
	server.Database(t, name, contents(t, filepath.Join(dir, "postgres.sql")))
	policy := filepath.Join(dir, "policy-postgres.yaml")
	replace(t, policy, "ADDRESS", keptAddress(t, server, name))
	command("ledger", "verify", "-p", policy).wants(t, 0)
	command("ledger", "replay", "-q", "-p", policy).wants(t, 0, "0 differ")
	sameBudgets(t, policy, filepath.Join(dir, "budget-postgres.json"))
	sameAnswer(t, policy, filepath.Join(dir, "answer-postgres.json"), keptQuestion)
	command("query", "-p", policy, "--as", "ben", "SELECT COUNT(*) FROM patients WHERE age > 30").wants(t, 0)
	command("ledger", "verify", "-p", policy).wants(t, 0)
	command("user", "list", "-p", policy).wants(t, 0, "ana", "boss", "owner")
	savedOf(t, keptAddress(t, server, name))
}

// keptAddress is where the ledger is in a database of these tests.
func keptAddress(t *testing.T, server *testpg.Server, database string) string {
	t.Helper()
	u, err := url.Parse(server.URL())
	must(t, err)
	u.Path = "/" + database
	q := u.Query()
	q.Set("schema", "kept")
	u.RawQuery = q.Encode()
	return u.String()
}

// sameBudgets checks that accounts have what they had.
func sameBudgets(t *testing.T, policy, kept string) {
	t.Helper()
	was, is := budgetsIn(t, contents(t, kept)), budgetsIn(t, command("budget", "-p", policy, "--json").wants(t, 0).out)
	if was != is || !strings.Contains(was, "clinic/ana") {
		t.Errorf("budgets were\n%s\nand are\n%s", was, is)
	}
}

func budgetsIn(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for _, a := range (result{out: text}).decode(t)["accounts"].([]any) {
		account := a.(map[string]any)
		for _, field := range []string{"name", "limit", "granted", "spent", "left"} {
			out.WriteString(canonical(t, account[field]) + " ")
		}
		out.WriteString("\n")
	}
	return out.String()
}

// sameAnswer asks what was paid for.
func sameAnswer(t *testing.T, policy, kept, question string) {
	t.Helper()
	paid := result{out: contents(t, kept)}.decode(t)
	again := command("query", "-p", policy, "--as", "ana", "--json", question).wants(t, 0, `"free":true`).decode(t)
	for _, name := range []string{"columns", "rows", "errors", "data_version"} {
		if canonical(t, paid[name]) != canonical(t, again[name]) {
			t.Errorf("%s was %v and is %v", name, paid[name], again[name])
		}
	}
	of := func(v map[string]any) any { return v["receipt"].(map[string]any)["hash"] }
	if of(paid) != of(again) {
		t.Errorf("the receipt was %v and is %v", of(paid), of(again))
	}
}

// savedOf checks that what ana saved is there.
func savedOf(t *testing.T, at string) {
	t.Helper()
	store, err := users.Find(at)
	must(t, err)
	defer store.Close()
	for _, kind := range []string{"question", "dashboard"} {
		found, err := store.SavedItems().ByUser(t.Context(), kind, "ana")
		if err != nil || len(found) != 1 || found[0].Title != "by ward" {
			t.Errorf("%s: %+v, %v", kind, found, err)
		}
	}
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

// TestFilesOfANewerVersion plants formats that no version has yet, into files of one that was
// released: every command that would use them says which format they have, and changes nothing.
func TestFilesOfANewerVersion(t *testing.T) {
	t.Parallel()
	plant := func(name string, at int, number uint32) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, name), func(s string) string {
				return s[:at] + string(binary.BigEndian.AppendUint32(nil, number)) + s[at+4:]
			})
		}
	}
	rewrite := func(name, old, now string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { replace(t, filepath.Join(dir, name), old, now) }
	}
	query := []string{"query", "--as", "ana", "SELECT COUNT(*) FROM patients", "-p", "policy.yaml"}
	for _, c := range []struct {
		file, says string
		plant      func(*testing.T, string)
		commands   [][]string
	}{
		{"kept.ledger", "has the format 4. This is Discreet development, which reads the format 3", plant("kept.ledger", 60, 4), [][]string{
			query, {"budget", "-p", "policy.yaml"}, {"ledger", "verify", "-p", "policy.yaml"}, {"ledger", "show", "-p", "policy.yaml"}}},
		{"kept.users", "has the format 3. This is Discreet development, which reads the format 2", plant("kept.users", 60, 3), [][]string{
			{"user", "list", "-p", "policy.yaml"}, {"user", "add", "cy", "-p", "policy.yaml"}}},
		{"kept.anchor", "has the format 2. This is Discreet development, which reads the format 1",
			rewrite("kept.anchor", "discreet-anchor-1", "discreet-anchor-2"), [][]string{query, {"ledger", "anchor", "-p", "policy.yaml"}}},
		{"policy.yaml", "this policy has the format 2, and this version of Discreet reads 1",
			rewrite("policy.yaml", "format: 1", "format: 2"), [][]string{query, {"check", "policy.yaml"}, {"budget", "-p", "policy.yaml"}}},
		{"model.json", "it has version 2 of the format, and this program reads 1", rewrite("model.json", `"version": 1`, `"version": 2`),
			[][]string{{"predict", "-m", "model.json", "data/patients.csv"}}},
	} {
		t.Run(c.file, func(t *testing.T) {
			dir := unpack(t, "0.1.0")
			c.plant(t, dir)
			before := contents(t, filepath.Join(dir, c.file))
			for _, args := range c.commands {
				args = slices.Clone(args)
				for i, a := range args {
					if strings.Contains(a, ".") {
						args[i] = filepath.Join(dir, a)
					}
				}
				code := 1
				if args[0] == "predict" { // nothing was to be charged
					code = 2
				}
				command(args...).wants(t, code, c.says)
			}
			if contents(t, filepath.Join(dir, c.file)) != before {
				t.Error("it was changed")
			}
		})
	}
}

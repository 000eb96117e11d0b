package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ledger/openledger"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/internal/version"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

var keepVersion = flag.String("keep", "", "write the files of this version into testdata/versions, for all that come")

// TestKeepFiles writes what TestFilesOfEarlierVersions opens, of the version that is named:
//
//	go test ./cmd/discreet -run TestKeepFiles -keep 0.2.0
//
// It needs PostgreSQL. Files of a version that was released are never made again.
func TestKeepFiles(t *testing.T) {
	t.Parallel()
	if *keepVersion == "" {
		t.Skip("nothing is to be kept; see -keep")
	}
	archive, err := filepath.Abs(filepath.Join("testdata/versions", *keepVersion+".tar.gz"))
	must(t, err)
	if _, err := os.Stat(archive); err == nil {
		t.Fatalf("%s is there, and what a version wrote does not change; where that version was never released, remove it", archive)
	}
	version.Version = *keepVersion
	dir := t.TempDir()
	writeKeptData(t, dir)
	path := write(t, filepath.Join(dir, "policy.yaml"), "format: 1\nledger: kept.ledger\nanchor: {file: kept.anchor}\n"+keptDatasets)
	keepLedger(t, path)
	keepUsers(t, path)
	write(t, filepath.Join(dir, "answer.json"), command("query", "-p", path, "--as", "ana", "--json", keptQuestion).wants(t, 0).out)
	write(t, filepath.Join(dir, "budget.json"), command("budget", "-p", path, "--json").wants(t, 0).out)
	command("ledger", "export", "-p", path, "--format", "jsonl", "--all", "--output", filepath.Join(dir, "export.jsonl")).wants(t, 0)
	keepDatabase(t, dir)
	write(t, filepath.Join(dir, "version.json"), command("version", "--json").wants(t, 0).out)
	if t.Failed() {
		return
	}
	locks, _ := filepath.Glob(filepath.Join(dir, "*.lock"))
	for _, name := range append(locks, filepath.Join(dir, "older.ledger")) {
		must(t, os.Remove(name))
	}
	// Without the names of who made it.
	pack := exec.Command("tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-czf", archive, "-C", dir, ".")
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Log("wrote", archive)
}

const keptDatasets = `datasets:
  clinic:
    engine: duckdb
    source: data
    unit: patients.pid
    budget: {epsilon: 20, delta: 1e-6, renewal: {every: month, windows: 3}, per_query: {default: 0.1, max: 8}}
    analysts: {ana: {share: 1}, ben: {share: 0.5}}
    tables:
      patients:
        unique: pid
        columns:
          age:    {type: integer, bounds: [0, 110], nullable: false}
          sex:    {type: text, keys: [F, M, X]}
          smoker: {type: boolean}
      visits:
        path: pid -> patients.pid
        max_rows: 6
        max_groups: 2
        columns:
          ward: {type: text, keys: [emergency, surgery]}
          cost: {type: integer, bounds: [0, 2000]}
    streams:
      people: {table: patients, columns: {sex: , smoker: , age: {width: 10}}, size: 300, alpha: 0.4, beta: 0.01, queries: 100}
    holdouts:
      trial: {labels: labels.csv, column: label, threshold: 0.2, noise: 0.02, answers: 2}
`

// writeKeptData writes people who are made up.
func writeKeptData(t *testing.T, dir string) {
	t.Helper()
	var patients, visits, labels, predictions strings.Builder
	patients.WriteString("pid,age,sex,smoker\n")
	visits.WriteString("pid,ward,cost\n")
	labels.WriteString("label\n")
	for i := range 300 {
		fmt.Fprintf(&patients, "%d,%d,%s,%v\n", i, 17+i*9%71, []string{"F", "M", "X"}[i*i%3], i%4 == 0)
		for k := range i % 4 {
			fmt.Fprintf(&visits, "%d,%s,%d\n", i, []string{"emergency", "surgery"}[k%2], (i*37+k*801)%2000)
		}
		fmt.Fprintln(&labels, i%2)
		fmt.Fprintln(&predictions, i/2%2)
	}
	must(t, os.Mkdir(filepath.Join(dir, "data"), 0o700))
	write(t, filepath.Join(dir, "data", "patients.csv"), patients.String())
	write(t, filepath.Join(dir, "data", "visits.csv"), visits.String())
	write(t, filepath.Join(dir, "labels.csv"), labels.String())
	write(t, filepath.Join(dir, "preds.csv"), predictions.String())
}

// keepLedger makes a record of every kind, with a model and a prepared table on the way.
func keepLedger(t *testing.T, path string) {
	t.Helper()
	do := func(args ...string) result { t.Helper(); return command(append(args, "-p", path)...).wants(t, 0) }
	ask := func(who, question string) { t.Helper(); do("query", "--as", who, question) }
	ask("ana", "SELECT COUNT(*) FROM patients")
	ask("ana", keptQuestion)
	ask("ben", "SELECT MEDIAN(age) FROM patients")
	ask("ana", "SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex")
	do("stream", "ask", "--as", "ana", "age >= 60")
	do("holdout", "score", "--as", "ana", "--predictions", beside(path, "preds.csv"), "--training", "0.9", "--name", "first")
	do("train", "--as", "ana", "--features", "SELECT age, sex FROM patients", "--target", "smoker", "--epsilon", "1", "-o",
		beside(path, "model.json"))
	do("ledger", "key", beside(path, "owner.key"))
	do("ledger", "topup", "--key", beside(path, "owner.key"), "--epsilon", "0.2", "--reason", "the board")
	do("ledger", "renew", "--reason", "February")
	ask("ben", "SELECT COUNT(*) FROM visits")
	change(t, beside(path, "data", "patients.csv"), func(s string) string { return s + "300,44,F,false\n" })
	ask("ana", "SELECT COUNT(*) FROM patients")

	ledgerFile := beside(path, "kept.ledger")
	write(t, beside(path, "older.ledger"), contents(t, ledgerFile))
	ask("ben", "SELECT sex, COUNT(*) FROM patients GROUP BY sex")
	write(t, ledgerFile, contents(t, beside(path, "older.ledger")))
	do("ledger", "anchor", "--recover", "--reason", "a disk was lost")

	failKept(t, path)
	do("incidents", "release", "--key", beside(path, "owner.key"), "--reason", "a crash")
	do("stream", "ask", "--as", "ana", "smoker")
	command("prepare", path).wants(t, 0)
	replace(t, path, "max_groups: 2\n", "max_groups: 2\n        prepared: prepared/visits.duckdb\n")
}

// failKept records that a process died over a question.
func failKept(t *testing.T, path string) {
	t.Helper()
	p, err := policy.Load(path)
	must(t, err)
	l, release, err := openledger.Open(p, openledger.Options{})
	must(t, err)
	_, err = l.Fail(context.Background(), ledger.Incident{Analyst: "ben", Dataset: "clinic", Failure: ledger.FailedCrash, ByAnalyst: 1,
		ByDataset: 3})
	must(t, err)
	must(t, l.Close())
	must(t, release())
}

// keepUsers makes users with a token, and what one of them has saved.
func keepUsers(t *testing.T, path string) {
	t.Helper()
	for _, args := range [][]string{{"ana"}, {"ben"}, {"boss", "--role", "owner"}} {
		command(append([]string{"user", "add", "-p", path}, args...)...).wants(t, 0)
	}
	token := command("user", "token", "ana", "-p", path, "--label", "kept", "--expires", "never").wants(t, 0)
	write(t, beside(path, "token.txt"), token.out)
	at := beside(path, "kept.users")
	if p, err := policy.Load(path); err != nil || strings.HasPrefix(p.Ledger, "postgres") {
		at = p.Ledger
	}
	store, err := users.Find(at)
	must(t, err)
	defer store.Close()
	for kind, body := range map[string]string{"question": `{"sql":"` + keptQuestion + `"}`, "dashboard": `{"tiles":[]}`} {
		item := users.Saved{Kind: kind, User: "ana", Dataset: "clinic", Title: "by ward", Body: body}
		_, err := store.SavedItems().Add(t.Context(), item, 10)
		must(t, err)
	}
}

// keepDatabase makes a ledger and users in PostgreSQL, and keeps what pg_dump says.
func keepDatabase(t *testing.T, dir string) {
	t.Helper()
	server := testpg.Shared(t)
	const name = "to be kept"
	server.Database(t, name)
	_, rest, _ := strings.Cut(contents(t, filepath.Join(dir, "policy.yaml")), "datasets:")
	text := "ledger: ADDRESS\ndatasets:" + rest
	path := write(t, filepath.Join(dir, "policy-postgres.yaml"), strings.Replace(text, "ADDRESS", keptAddress(t, server, name), 1))
	command("query", "-p", path, "--as", "ben", "SELECT COUNT(*) FROM patients").wants(t, 0)
	command("stream", "ask", "-p", path, "--as", "ana", "age >= 60").wants(t, 0)
	token := contents(t, filepath.Join(dir, "token.txt"))
	keepUsers(t, path)
	write(t, filepath.Join(dir, "token.txt"), token)
	paid := command("query", "-p", path, "--as", "ana", "--json", keptQuestion).wants(t, 0)
	write(t, filepath.Join(dir, "answer-postgres.json"), paid.out)
	write(t, filepath.Join(dir, "budget-postgres.json"), command("budget", "-p", path, "--json").wants(t, 0).out)
	address := strings.Replace(keptAddress(t, server, name), "&schema=kept", "", 1) // which is ours
	dump := server.Tool(t, "pg_dump", "--inserts", "--no-owner", "--no-privileges", "--schema", "kept", "--dbname", address)
	host, err := os.Hostname()
	must(t, err)
	var kept strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(dump, "'"+host+",", "'host,")) {
		if !strings.HasPrefix(line, `\`) { // which is for psql
			kept.WriteString(line)
		}
	}
	write(t, filepath.Join(dir, "postgres.sql"), kept.String())
	write(t, path, text)
}

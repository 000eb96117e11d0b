package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/hospital"
)

// deployTrial writes a hospital with holdouts whose noise is so small, and whose price so high,
// that no test is decided by chance: to be contradicted or confirmed by mistake has a probability
// below exp(-40). It returns the folder and the policy.
func deployTrial(t *testing.T) (dir, policy string) {
	t.Helper()
	dir = t.TempDir()
	if err := hospital.New(500, 1).Write(filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	text := "datasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 30}") + `    holdouts:
      trial: {labels: labels.csv, column: label, id: id, threshold: 0.2, noise: 0.001, answers: 2}
      rows:  {table: patients, size: 500, threshold: 0.2, noise: 0.001, answers: 2}
`
	labels, good, bad := "id,label\n", "prediction,id\n", "id,prediction\n"
	for i := range 500 {
		id := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		labels += id + "," + []string{"ill", "well"}[i%2] + "\n"
		good = good + []string{"ill", "well"}[i%2] + "," + id + "\n"
		bad += id + "," + []string{"well", "ill"}[i%2] + "\n"
	}
	for name, text := range map[string]string{"trial.yaml": text, "labels.csv": labels, "good.csv": good, "bad.csv": bad,
		"short.csv": "id,prediction\na,ill\n", "plain.csv": "ill\nwell\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(dir, "trial.yaml")
}

// With the numbers of the page for owners a holdout says what the page says.
func TestHoldoutPromise(t *testing.T) {
	dir, policy := deployTrial(t)
	numbers := "threshold: 0.04, noise: 0.001, answers: 10}\n"
	write(t, policy, "datasets:\n"+hospital.Dataset("hospital", "data", "{epsilon: 1}")+"    holdouts:\n"+
		"      trial: {labels: labels.csv, column: label, "+numbers+"      rows: {table: patients, size: 100000, "+numbers)
	write(t, filepath.Join(dir, "labels.csv"), "label\n"+strings.Repeat("well\n", 100_000))
	command("holdout", "list", "--policy", policy).wants(t, 0,
		"trial: with probability 0.95 no score that it tells, of however many, is farther than 0.116 from what the same predictions",
		"rows: with probability 0.95 no score that it tells, of however many, is farther than 0.116 from the mean over everybody")
}

func TestHoldoutScore(t *testing.T) {
	dir, policy := deployTrial(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	score := func(args ...string) result {
		return command(append([]string{"holdout", "score", "--policy", policy, "--as", "ana", "--holdout", "trial"}, args...)...)
	}
	command("holdout", "list", "--policy", policy).wants(t, 0, "predictions of label by id", "SQL over patients",
		"500", "0.2", "pays for it", "trial: NOTHING is promised", "rows: NOTHING is promised")
	score("--price").wants(t, 0, "begins a round, for epsilon 4", "answers left: 2 of 2; left: epsilon 30")
	command("holdout", "board", "--policy", policy, "--holdout", "trial").wants(t, 0, "no score is on the board yet")

	// What cannot be asked costs nothing.
	score("--predictions", file("short.csv"), "--training", "1").wants(t, 2, "there are 1 predictions, and the holdout has 500 rows")
	score("--predictions", file("plain.csv"), "--training", "1").wants(t, 2, "must name their columns", "id,prediction")
	score("--predictions", file("nowhere.csv"), "--training", "1").wants(t, 2, "--predictions")
	score("--predictions", file("good.csv")).wants(t, 2, "the training value is missing")
	score("--predictions", file("good.csv"), "--training", "2").wants(t, 2, "from 0 to 1")
	score("--predictions", file("good.csv"), "--training", "1", "--json", "--name", strings.Repeat("x", 100)).fails(t, 2, "refused")
	score().wants(t, 2, "give --predictions")
	score("--predictions", file("good.csv"), "age > 3").wants(t, 2, "give --predictions")
	score("age > 3").wants(t, 2, "cannot be asked with SQL")
	command("holdout", "score", "--policy", policy, "--as", "ana", "--price").wants(t, 2, "write --holdout with one of trial, rows")
	command("holdout", "board", "--policy", policy, "--holdout", "none").wants(t, 2, `there is no holdout "none"`)
	command("budget", "--policy", policy, "--json").wants(t, 0, `"spent":{"epsilon":0,`)

	score("--predictions", file("good.csv"), "--training", "0.97", "--name", "model 7").wants(t, 0,
		"score: 0.97, confirmed by the holdout", "first of a round", "price: epsilon 4; left: epsilon 26")
	score("--price").wants(t, 0, "the next score is free")
	again := score("--predictions", file("good.csv"), "--training", "0.970", "--json").wants(t, 0).decode(t)
	if again["score"] != "0.97" || again["free"] != true || again["again"] != true || again["spent"] != false ||
		again["receipt"].(map[string]any)["sequence"] == nil || again["left"] != 2.0 {
		t.Error(again)
	}
	score("--predictions", file("bad.csv"), "--training", "0.97", "--name", "model \u00fc").wants(t, 0, "from the holdout, with noise",
		"contradicts the training value 0.97", "1 of 2 answers", "price: free")
	board := command("holdout", "board", "--policy", policy, "--holdout", "trial").wants(t, 0, "model 7", "model ü",
		"confirmed", "from the holdout")
	if strings.Index(board.out, "model 7") > strings.Index(board.out, "model ü") {
		t.Error(board.out)
	}
	if lines := command("holdout", "board", "--policy", policy, "--holdout", "trial", "--json").wants(t,
		0).decode(t)["board"].([]any); len(lines) != 2 || lines[0].(map[string]any)["rank"] != 1.0 {
		t.Error(lines)
	}

	// The other holdout is a table, by an expression and in SQL.
	command("holdout", "score", "--policy", policy, "--as", "ana", "--holdout", "rows", "--training", "1", "age >= 0").wants(t, 0,
		"score: 1, confirmed", "price: epsilon 4; left: epsilon 22")
	command("query", "--policy", policy, "--as", "ana", "SELECT holdout_mean(age >= 0, 1) FROM patients").wants(t, 0, "holdout_mean",
		"answered before", "free, already paid for")
	command("explain", "--policy", policy, "--as", "ana", "SELECT holdout_mean(smoker, 0.3) FROM patients").wants(t, 0, "thresholdout",
		"A round is open, so this score is free")
	r := command("holdout", "score", "--policy", policy, "--as", "ana", "--holdout", "rows", "--training", "1",
		"age >= 0 AND nothing").wants(t, 2, `there is no column "nothing"`)
	if !strings.Contains(r.err, "  age >= 0 AND nothing\n               ^\n") {
		t.Error(r.err)
	}
}

// A check finds broken labels, and says no label.
func TestHoldoutCheck(t *testing.T) {
	dir, policy := deployTrial(t)
	command("check", policy).wants(t, 0, "were read")
	if err := os.WriteFile(filepath.Join(dir, "labels.csv"), []byte("id,label\na,secret\na,secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command("check", policy).wants(t, 1, "holdout trial: the file of labels: the identifier in line 3 is there twice").lacks(t, "secret")
	command("check", "--no-data", policy).wants(t, 0)
	command("holdout", "list", "--policy", policy).wants(t, 1, "discreet check").lacks(t, "line", "secret")
}

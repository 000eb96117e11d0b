package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

func TestHoldoutPlan(t *testing.T) {
	t.Parallel()
	r := command("holdout", "plan", "--n", "10000", "--queries", "500", "--tolerance", "0.05", "--confidence", "0.95").wants(t, 0,
		"500 questions about 10,000 people, all within 0.05 with probability 0.95; Thresholdout answers 5 from the holdout",
		"exact, questions fixed in advance", "vacuous", "misses", "holds", "no number", "It is NOT within 0.05",
		"does not hold if earlier answers decide")
	if n := strings.Count(r.out, "transfer"); n < 2 {
		t.Errorf("%d lines with the transfer theorem", n)
	}
	// The other way round.
	command("holdout", "plan", "--queries", "10000", "--answers", "20").wants(t, 0, "people needed",
		"with the fewest people needs").lacks(t, "verdict", "promised")
	// Enough people.
	command("holdout", "plan", "--n", "1e8", "--queries", "500").wants(t, 0, "It is within 0.05")
	// The classic parameters promise nothing at that size.
	r = command("holdout", "plan", "--n", "10000", "--queries", "500", "--answers", "500", "--noise", "0.01",
		"--threshold", "0.04").wants(t, 0)
	for line := range strings.Lines(r.out) {
		if strings.HasPrefix(line, "Thresholdout") && !strings.Contains(line, "vacuous") {
			t.Errorf("%s is not vacuous", line)
		}
	}
	// Nothing at all.
	command("holdout", "plan", "--n", "100", "--queries", "1000", "--answers", "1000").wants(t, 0, "every theorem is vacuous here")
	v := command("holdout", "plan", "--n", "10000", "--queries", "500", "--json").wants(t, 0).decode(t)
	ways := v["ways"].([]any)
	if len(ways) != 9 || v["people"] != 10000.0 {
		t.Fatalf("%v", v)
	}
	first := ways[0].(map[string]any)
	if first["verdict"] != "holds" || math.Abs(first["tolerance"].(float64)-0.0222525) > 1e-6 || first["people_needed"] != 1990.0 {
		t.Errorf("%v", first)
	}
	if naive := ways[1].(map[string]any); naive["verdict"] != "vacuous" || naive["people_needed"] != nil {
		t.Errorf("%v", naive)
	}
	for _, name := range []string{"plan.svg", "plan.png"} {
		file := filepath.Join(t.TempDir(), name)
		command("holdout", "plan", "--n", "1000000", "--queries", "1000", "--plot", file).wants(t, 0, "wrote "+file)
		text, err := os.ReadFile(file)
		if err != nil || len(text) < 1000 || name == "plan.svg" && !strings.Contains(string(text), "Thresholdout") {
			t.Errorf("%s: %v, %d bytes", name, err, len(text))
		}
	}
}

func TestHoldoutCalculators(t *testing.T) {
	t.Parallel()
	command("holdout", "maxinfo", "--n", "10000", "--epsilon", "0.01").wants(t, 0, "144.3 bits")
	command("holdout", "maxinfo", "--n", "10000", "--epsilon", "0.01", "--beta", "0.05").wants(t, 0,
		"2.681 bits, but with probability 0.05", "144.3 bits", "vacuous")
	command("holdout", "maxinfo", "--n", "1000000", "--epsilon", "1").wants(t, 0, "vacuous")
	if v := command("holdout", "maxinfo", "--n", "10000", "--epsilon", "0.01", "--beta", "0.05", "--json").wants(t,
		0).decode(t); math.Abs(v["bits"].(float64)-2.680673) > 1e-5 {
		t.Errorf("%v", v)
	}
	command("holdout", "pvalue", "--p", "0.001", "--bits", "3").wants(t, 0, "0.008 instead of 0.001").lacks(t, "level")
	command("holdout", "pvalue", "--p", "0.001", "--bits", "3", "--beta", "0.01").wants(t, 0, "0.018 instead of 0.001")
	command("holdout", "pvalue", "--alpha", "0.05", "--bits", "3", "--beta", "0.01").wants(t, 0, "0.005 keeps false discoveries at 0.05")
	command("holdout", "pvalue", "--p", "0.001", "--n", "10000", "--epsilon", "1").wants(t, 0, "nothing is left of 0.001 (vacuous)")
	command("holdout", "pvalue", "--alpha", "0.05", "--bits", "3", "--beta", "0.05").wants(t, 0,
		"no test keeps false discoveries at 0.05 (vacuous)")
	if v := command("holdout", "pvalue", "--p", "0.001", "--alpha", "0.05", "--bits", "3", "--json").wants(t,
		0).decode(t); v["corrected_p"] != 0.008 || v["level"] != 0.00625 {
		t.Errorf("%v", v)
	}
}

func TestHoldoutDemo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "demo.svg")
	r := command("holdout", "demo", "--n", "400", "--attributes", "400", "--repetitions", "3", "--ascii", "--plot", file).wants(t, 0,
		"400 people; 400 attributes, 0 of them go with the label; 3 repetitions; threshold 0.04, noise 0.01",
		"With 20 selected, the plain holdout reports 0.6",
		"At that price the theorems are vacuous", "plain: reported", "wrote "+file)
	if again := command("holdout", "demo", "--n", "400", "--attributes", "400", "--repetitions", "3", "--ascii",
		"--plot", file); again.out != r.out {
		t.Error("the same seed shows something else")
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "Thresholdout: fresh") {
		t.Errorf("%v", err)
	}
	command("holdout", "demo", "--signal", "--n", "400", "--attributes", "400", "--repetitions", "2", "--selected", "40").wants(t, 0,
		"400 attributes, 20 of them go with the label", "of the signal", "With 40 selected")
	v := command("holdout", "demo", "--n", "400", "--attributes", "400", "--repetitions", "2", "--json").wants(t, 0).decode(t)
	if lines := v["thresholdout"].([]any); len(lines) != len(v["plain"].([]any)) || len(lines) < 5 || v["epsilon"].(float64) <= 0 {
		t.Errorf("%v", v)
	}
	command("holdout", "lecture", "--repetitions", "100", "--ascii").wants(t, 0, "1,000 numbers in 142 subsets of 7", "epsilon 0.0812",
		"exact means", "report noisy max", "the truth")
	v = command("holdout", "lecture", "--repetitions", "100", "--json").wants(t, 0).decode(t)
	if means := v["exact_means"].([]any); len(means) != 100 || v["exact"].(map[string]any)["mean"].(float64) < 0.5 {
		t.Errorf("%v", v["exact"])
	}
}

// What cannot be is refused with what to do, and nothing is drawn.
func TestHoldoutRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, says string }{
		{"", `expected one of "list", `},
		{"plan", "missing flags: --queries=K; see discreet holdout plan --help"},
		{"plan --queries 0", "say how many questions"},
		{"plan --queries -5", "say how many questions"},
		{"plan --queries many", "see discreet holdout plan --help"},
		{"plan --queries 1.5", "--queries is 1.5: write a whole number"},
		{"plan --queries NaN", "write a whole number"},
		{"plan --queries 1e13", "from 1 to 1e12"},
		{"plan --n -1 --queries 5", "say how many people"},
		{"plan --n Inf --queries 5", "say how many people"},
		{"plan --n 10 --queries 5 --answers 6", "from 1 to the number of questions"},
		{"plan --n 10 --queries 5 --tolerance 0", "the tolerance must be above 0"},
		{"plan --n 10 --queries 5 --tolerance 1", "the tolerance must be above 0"},
		{"plan --n 10 --queries 5 --confidence 1", "the confidence must be above 0"},
		{"plan --n 10 --queries 5 --confidence 95", "the confidence must be above 0"},
		{"plan --n 10 --queries 5 --noise -1", "the noise must be above 0"},
		{"plan --n 10 --queries 5 --threshold 2", "the threshold must be from 0 to 1"},
		{"plan --n 10 --queries 5 --plot plan.txt", "ends in .svg or .png"},
		{"plan --n 10 --queries 5 --plot nowhere/plan.svg", "this folder does not exist"},
		{"plan --queries 5 --plot plan.svg", "give it with --n"},
		{"maxinfo", "give --n"},
		{"maxinfo --n 10", "give --epsilon"},
		{"maxinfo --n 10 --epsilon -1", "give --epsilon"},
		{"maxinfo --n 10 --epsilon NaN", "give --epsilon"},
		{"maxinfo --n 10 --epsilon 1 --beta 1", "--beta must be a probability"},
		{"pvalue", "give the p-value with --p"},
		{"pvalue --p 2 --bits 1", "--p must be a probability"},
		{"pvalue --p 0.1", "give --n"},
		{"pvalue --p 0.1 --bits -2", "--bits must be a number"},
		{"pvalue --p 0.1 --bits 1 --n 10", "not both"},
		{"pvalue --p 0.1 --bits 1 --beta -1", "--beta must be a probability"},
		{"pvalue --alpha 0 --bits 1", "--alpha must be a probability"},
		{"demo --n 5", "take from 100 to 100000 people"},
		{"demo --n -5", "take from 100 to 100000 people"},
		{"demo --attributes 5", "attributes"},
		{"demo --selected 20000", "select from 1 to 10000"},
		{"demo --selected -1", "select from 1 to 10000"},
		{"demo --repetitions 0", "repeat from 1"},
		{"demo --plot x.gif", "ends in .svg or .png"},
		{"lecture --tolerance 0", "the theorem covers tolerances above"},
		{"lecture --group 1", "take from 2 to 142 subsets"},
		{"lecture --n 1", "take from 20"},
	} {
		command(append([]string{"holdout"}, strings.Fields(c.args)...)...).wants(t, 2, "refused: ", c.says)
	}
}

// deployTrial writes a hospital with holdouts whose noise is so small, and whose price so high,
// that no test is decided by chance: to be contradicted or confirmed by mistake has a probability
// below exp(-40). It returns the folder and the policy.
func deployTrial(t *testing.T) (dir, policy string) {
	t.Helper()
	dir = t.TempDir()
	must(t, hospital.New(500, 1).Write(filepath.Join(dir, "data")))
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
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir, filepath.Join(dir, "trial.yaml")
}

// With the numbers of the page for owners a holdout says what the page says.
func TestHoldoutPromise(t *testing.T) {
	t.Parallel()
	dir, policy := deployTrial(t)
	numbers := "threshold: 0.04, noise: 0.001, answers: 10}\n"
	write(t, policy, "datasets:\n"+hospital.Dataset("hospital", "data", "{epsilon: 1}")+"    holdouts:\n"+
		"      trial: {labels: labels.csv, column: label, "+numbers+"      rows: {table: patients, size: 100000, "+numbers)
	write(t, filepath.Join(dir, "labels.csv"), "label\n"+strings.Repeat("well\n", 100_000))
	command("holdout", "list", "--policy", policy).wants(t, 0,
		"trial: with probability 0.95 no score that it tells, however many, is farther than 0.116 from what the same predictions",
		"rows: with probability 0.95 no score that it tells, however many, is farther than 0.116 from the mean over everybody")
}

func TestHoldoutScore(t *testing.T) {
	t.Parallel()
	dir, policy := deployTrial(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	score := func(args ...string) result {
		return command(append([]string{"holdout", "score", "--policy", policy, "--as", "ana", "--holdout", "trial"}, args...)...)
	}
	command("holdout", "list", "--policy", policy).wants(t, 0, "predictions of label by id", "SQL over patients",
		"500", "0.2", "pays for it", "trial: NOTHING is promised", "rows: NOTHING is promised")
	score("--price").wants(t, 0, "begins a round, for epsilon 4", "answers left: 2 of 2; left: epsilon 30")
	command("holdout", "board", "--policy", policy, "--holdout", "trial").wants(t, 0, "the board has no scores yet")

	// What cannot be asked costs nothing.
	score("--predictions", file("short.csv"), "--training", "1").wants(t, 2, "there are 1 predictions, but the holdout has 500 rows")
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
	t.Parallel()
	dir, policy := deployTrial(t)
	command("check", policy).wants(t, 0, "were read")
	must(t, os.WriteFile(filepath.Join(dir, "labels.csv"), []byte("id,label\na,secret\na,secret\n"), 0o600))
	command("check", policy).wants(t, 1, "holdout trial: the file of labels: the identifier in line 3 appears twice").lacks(t, "secret")
	command("check", "--no-data", policy).wants(t, 0)
	command("holdout", "list", "--policy", policy).wants(t, 1, "discreet check").lacks(t, "line", "secret")
}

package discreet_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/policycheck"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/policy"
)

// trialPolicy writes a hospital with a holdout of 1000 labels, of which every fourth is 1, and one
// that is a table. The noise is so small, and the price so high, that nothing is contradicted or
// confirmed by mistake but with a probability below exp(-40).
func trialPolicy(dir string) (string, error) {
	if err := hospital.New(1000, 1).Write(filepath.Join(dir, "data")); err != nil {
		return "", err
	}
	labels := "label\n" + strings.Repeat("1\n0\n0\n0\n", 250)
	if err := os.WriteFile(filepath.Join(dir, "labels.csv"), []byte(labels), 0o600); err != nil {
		return "", err
	}
	text := "datasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 100}") + `    holdouts:
      trial: {labels: labels.csv, column: label, threshold: 0.1, noise: 0.0005, answers: 4}
      rows:  {table: patients, size: 1000, threshold: 0.1, noise: 0.0005, answers: 4}
`
	path := filepath.Join(dir, "trial.yaml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// repeated are the predictions of a block, again and again.
func repeated(block ...string) []string {
	var out []string
	for range 1000 / len(block) {
		out = append(out, block...)
	}
	return out
}

func TestHoldout(t *testing.T) {
	path, err := trialPolicy(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	all, err := db.Holdouts("")
	if err != nil || len(all) != 2 || all[0].Name != "trial" || all[0].Size != 1000 || !all[0].Labels || all[0].Round.Epsilon != 4*dp.One ||
		all[0].Total.Epsilon != 16*dp.One || all[1].Table != "patients" {
		t.Fatalf("%+v, %v", all, err)
	}
	q := api.HoldoutQuestion{Holdout: "trial", Analyst: "ana", Predictions: repeated("0"), Training: "0.75", Name: "nobody"}
	a, err := db.AskHoldout(background, q)
	if err != nil || a.Spent || a.Free || a.Score != "0.75" || a.Cost.Epsilon != 4*dp.One {
		t.Fatalf("%+v, %v", a, err)
	}
	// An ordinary question in between, and one in SQL to the other holdout.
	if _, err := db.Ask(background, api.Question{Analyst: "ana", SQL: people}); err != nil {
		t.Fatal(err)
	}
	sql, err := db.Ask(background, api.Question{Analyst: "ana", SQL: "SELECT holdout_mean(age >= $1, $2) AS share FROM patients",
		Parameters: []api.Parameter{{Kind: "integer", Text: "0"}, {Kind: "text", Text: "1"}}})
	if err != nil || fmt.Sprint(sql.Rows) != "[[1]]" || sql.Columns[0].Name != "share" {
		t.Errorf("%+v, %v", sql, err)
	}
	d, err := db.Describe(background, api.Question{Analyst: "ana", SQL: "SELECT holdout_mean(age >= $1, $2) AS share FROM patients"})
	if err != nil || len(d.Columns) != 1 || d.Columns[0].Name != "share" || len(d.Parameters) != 2 || d.Parameters[0] != "integer" {
		t.Errorf("%+v, %v", d, err)
	}
	spent := func() string {
		accounts, err := db.Budget(background, "")
		if err != nil {
			t.Fatal(err)
		}
		return accounts[0].Spent.Epsilon.Short()
	}
	before := spent()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, path)
	if err := db.Warm(background); err != nil {
		t.Fatal(err)
	}
	if s, err := db.HoldoutStatus(background, "", "trial"); err != nil || !s.Open || s.Left != 4 {
		t.Errorf("%+v, %v", s, err)
	}
	q.Analyst = "ben"
	if b, err := db.AskHoldout(background, q); err != nil || b.Score != a.Score || !b.Free || !b.Again || b.Receipt.Hash != a.Receipt.Hash {
		t.Errorf("%+v, %v", b, err)
	}
	q.Training = "0.25"
	if b, err := db.AskHoldout(background, q); err != nil || !b.Spent || !b.Free || b.Left != 3 || !strings.HasPrefix(b.Score, "0.7") {
		t.Errorf("%+v, %v", b, err)
	}
	if spent() != before {
		t.Errorf("spent %s, and before the restart %s", spent(), before)
	}
	board, err := db.Board(background, "", "trial")
	if err != nil || len(board) != 2 || board[1].Analyst+board[0].Analyst != "anaben" && board[1].Analyst+board[0].Analyst != "benana" ||
		board[0].Rank != 1 {
		t.Errorf("%+v, %v", board, err)
	}
	var refused *api.Refusal
	for _, bad := range []api.HoldoutQuestion{
		{Dataset: "west"}, {Holdout: "trial", Analyst: "eve"},
		{Holdout: "trial", Analyst: "ana", Predictions: []string{"1"}, Training: "1"}, {Holdout: "rows", Analyst: "ana", SQL: "smoker"},
	} {
		if _, err := db.AskHoldout(background, bad); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	for _, name := range []string{"", "nowhere"} {
		if _, err := db.Board(background, "", name); !errors.As(err, &refused) {
			t.Error(err)
		}
	}
}

// What is wrong with labels is told to the owner before anybody asks, and without their values.
func TestHoldoutBroken(t *testing.T) {
	dir := t.TempDir()
	path, err := trialPolicy(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := policycheck.Holdouts(p); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "labels.csv"), []byte("label\nsecret\n\nsecret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "dataset hospital: holdout trial: the file of labels: line 3 is empty"
	if err := policycheck.Holdouts(p); err == nil || err.Error() != want {
		t.Error(err)
	}
	db := open(t, path)
	if err := db.Warm(background); err == nil || err.Error() != want {
		t.Error(err)
	}
	if _, err := db.AskHoldout(background,
		api.HoldoutQuestion{Holdout: "trial", Analyst: "ana", Predictions: []string{"1"}, Training: "1"}); err != api.ErrLabels {
		t.Error(err)
	}
}

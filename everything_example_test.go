package discreet_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/ledger"
)

const strangerPolicy = `
datasets:
  hospital:
    engine: duckdb
    source: data
    unit: patients.pid
    budget: {epsilon: 100, per_query: {default: 1, max: 50}}
    analysts: {ana: {share: 1}}
    tables:
      patients:
        unique: pid
        columns:
          sex: {type: text, keys: [F, M]}
          age: {type: integer, bounds: [0, 100], nullable: false}
    streams:
      people: {table: patients, columns: {sex: }, size: 1000, alpha: 0.2}
    holdouts:
      trial: {labels: labels.csv, column: label, threshold: 0.1, noise: 0.0005, answers: 4}
`

// A program outside of this module: it names public packages only, and has a mechanism, a budget,
// and all that a policy offers.
func Example_everything() {
	dir, err := os.MkdirTemp("", "stranger-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := useEverything(context.Background(), dir); err != nil {
		log.Fatal(err)
	}
	// Output:
	// alone: true true
	// stream: within 200
	// holdout: 0.76
	// model: true
	// budget: true
}

func useEverything(ctx context.Context, dir string) error {
	useAlone()
	rows := strings.Builder{}
	rows.WriteString("pid,sex,age\n")
	for i := range 1000 {
		fmt.Fprintf(&rows, "%d,%s,%d\n", i, []string{"F", "M"}[i%2], i%100)
	}
	for name, text := range map[string]string{"hospital.yaml": strangerPolicy, "data/patients.csv": rows.String(),
		"labels.csv": "label\n" + strings.Repeat("1\n0\n0\n0\n", 250)} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	db, err := discreet.Open(ctx, filepath.Join(dir, "hospital.yaml"))
	if err != nil {
		return err
	}
	defer db.Close()
	a, err := db.AskStream(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
	if err != nil {
		return err
	}
	fmt.Println("stream: within", *a.Error)
	s, err := db.AskHoldout(ctx, api.HoldoutQuestion{Holdout: "trial", Analyst: "ana", Name: "always 0", Training: "0.76",
		Predictions: strings.Fields(strings.Repeat("0 ", 1000))})
	if err != nil {
		return err
	}
	fmt.Println("holdout:", s.Score)
	q := api.TrainingQuestion{Analyst: "ana", Features: "SELECT age, sex FROM patients", Target: "age >= 50"}
	q.Spec.Budget.Epsilon = 20 * dp.One
	trained, err := db.Train(ctx, q, func(api.TrainingProgress) {})
	if err != nil {
		return err
	}
	p, err := trained.Model.Predict(map[string]string{"age": "95", "sex": "F"})
	if err != nil {
		return err
	}
	fmt.Println("model:", p.Class)
	_, err = db.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Epsilon: 49 * dp.One})
	for err == nil {
		_, err = db.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT SUM(age) FROM patients", Epsilon: 49 * dp.One})
	}
	var budget *ledger.BudgetError
	fmt.Println("budget:", errors.As(err, &budget))
	return nil
}

// useAlone uses mechanisms and accounts without a policy.
func useAlone() {
	laplace, err := mech.NewLaplace(dp.NewL1(big.NewInt(1)), dp.One)
	if err != nil {
		log.Fatal(err)
	}
	spending := account.NewSpending(account.PureFilter(dp.One))
	if err := spending.Spend(account.Pure{Epsilon: 1}); err != nil {
		log.Fatal(err)
	}
	noisy := mech.NewReleaser(noise.NewSource()).Release(mech.Seal(1_000_000), laplace)[0]
	fmt.Println("alone:", noisy > 999_000, spending.Spend(account.Pure{Epsilon: 1}) != nil)
}

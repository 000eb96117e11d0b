package discreet_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// Open a policy, ask a question, read the budget. The numbers of an answer are
// noisy and another every time; its columns, its error bars and its price are known beforehand.
func Example() {
	dir, err := os.MkdirTemp("", "discreet-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"staff.csv": "name,team,salary\nAda,red,4000\nBo,red,5200\nCy,blue,3100\nDi,blue,4700\n",
		"staff.yaml": `
datasets:
  staff:
    engine: duckdb
    source: staff.csv
    unit: row
    budget: {epsilon: 2}
    analysts: {ana: {share: 1}}
    tables:
      staff:
        columns:
          team:   {type: text, keys: [red, blue, green]}
          salary: {type: integer, bounds: [0, 10000]}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	ctx := context.Background()
	db, err := discreet.Open(ctx, filepath.Join(dir, "staff.yaml"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	question := api.Question{Analyst: "ana", SQL: "SELECT team, COUNT(*), SUM(salary) FROM staff GROUP BY team", Epsilon: dp.One}
	a, err := db.Ask(ctx, question)
	if err != nil {
		log.Fatal(err)
	}
	for i, row := range a.Rows {
		fmt.Println(row[0], "±", *a.Errors[i][1], "people, ±", *a.Errors[i][2], "of salary")
	}
	fmt.Println("it cost epsilon", a.Cost.Epsilon, "and leaves", a.Remaining.Epsilon)

	again, err := db.Ask(ctx, question)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("asked again:", fmt.Sprint(again.Rows) == fmt.Sprint(a.Rows), "for", again.Cost.Epsilon)

	_, err = db.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT name FROM staff"})
	var refusal *api.Refusal
	fmt.Println("refused:", errors.As(err, &refusal), refusal.Reason)

	accounts, err := db.Budget(ctx, "staff")
	if err != nil {
		log.Fatal(err)
	}
	for _, account := range accounts {
		fmt.Println(account.Name, "has spent", account.Spent.Epsilon, "of", account.Limit.Epsilon)
	}
	// Output:
	// red ± 6 people, ± 59915 of salary
	// blue ± 6 people, ± 59915 of salary
	// green ± 6 people, ± 59915 of salary
	// it cost epsilon 1 and leaves 1
	// asked again: true for 0
	// refused: true there is no column "name"
	// staff has spent 1 of 2
	// staff/ana has spent 1 of 2
}

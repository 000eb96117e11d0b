package discreet_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/policy"
)

// A policy that is not in a file, with an engine and a ledger that were opened before. What the policy
// says about where the data is does not matter then.
func ExampleWithEngine() {
	dir, err := os.MkdirTemp("", "discreet-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	p, err := policy.Parse("staff.yaml", []byte(`
datasets:
  staff:
    engine: duckdb
    source: nowhere.csv
    unit: row
    budget: {epsilon: 2}
    analysts: {ana: {share: 1}}
    tables: {staff: {columns: {salary: {type: integer, bounds: [0, 10000]}}}}
`))
	if err != nil {
		log.Fatal(err)
	}
	rows := reference.Table{Columns: []string{"salary"}, Rows: [][]any{{int64(4000)}, {int64(5200)}}}
	books, err := sqlite.Open(filepath.Join(dir, "books"))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	db, err := discreet.Open(ctx, "", discreet.WithPolicy(p), discreet.WithLedger(books),
		discreet.WithEngine("staff", reference.New(p.Datasets["staff"], map[string]reference.Table{"staff": rows})))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	a, err := db.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*), SUM(salary) FROM staff"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Columns[0].Name, a.Columns[1].Name, "for epsilon", a.Cost.Epsilon, "in record", a.Receipt.Sequence)
	// Output:
	// count sum for epsilon 0.1 in record 2
}

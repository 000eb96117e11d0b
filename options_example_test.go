package discreet_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// A policy that is not in a file, with a database and a ledger that were opened before. What the
// policy says about where they are does not matter then.
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
	ctx := context.Background()
	data, err := sql.Open("duckdb", "")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := data.ExecContext(ctx, "CREATE TABLE staff AS SELECT 4000 AS salary UNION ALL SELECT 5200"); err != nil {
		log.Fatal(err)
	}
	version := func(context.Context) (store.Version, error) { return store.Version{State: "1"}, nil }
	opened, err := sqlite.Open(filepath.Join(dir, "ledger"))
	if err != nil {
		log.Fatal(err)
	}
	db, err := discreet.Open(ctx, "", discreet.WithPolicy(p), discreet.WithLedger(opened),
		discreet.WithEngine("staff", store.Store{DB: data, Dialect: store.DuckDB, Version: version}))
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

package duckdb_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/policy"
)

// An engine computes exact integers, and nobody can read them: they are sealed
// until a mechanism adds noise.
func Example() {
	folder, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, "patients.csv"), []byte("sex,age\nF,71\nM,48\nF,not known\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	p, err := policy.Parse(filepath.Join(folder, "policy.yaml"), []byte(`
datasets:
  hospital:
    engine: duckdb
    source: patients.csv
    unit: row
    budget: {epsilon: 1}
    analysts: {ana: {}}
    tables:
      patients:
        columns:
          age: {type: integer, bounds: [0, 110]}
          sex: {type: text, keys: [F, M, X]}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	hospital := p.Datasets["hospital"]

	ctx := context.Background()
	engine, err := duckdb.Open(ctx, hospital)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	s, err := planner.Prepare(hospital, "SELECT sex, COUNT(*), SUM(age) FROM patients GROUP BY sex", planner.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	q := &s.Plans[0].Query
	result, err := engine.Run(ctx, q)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, m := range q.Measures {
		fmt.Println(m.Describe(), "in", result.Measures[i].Len(), "groups:", result.Measures[i])
	}

	// What the owner should know before anybody asks.
	findings, _, err := duckdb.Inspect(ctx, hospital)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range findings {
		fmt.Printf("%s.%s: %s\n", f.Table, f.Column, f.Text)
	}
	// Output:
	// count(*) in 3 groups: [exact]
	// sum(age) in 3 groups: [exact]
	// patients.age: many of the values are not integer; they count as NULL
}

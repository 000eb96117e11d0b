package discreet_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// A stream of the policy answers counts. What was asked before is free, however it is written and
// whoever asks.
func ExampleDB_AskStream() {
	dir, err := os.MkdirTemp("", "discreet-example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := hospital.New(5000, 1).Write(filepath.Join(dir, "data")); err != nil {
		panic(err)
	}
	path := filepath.Join(dir, "hospital.yaml")
	text := "datasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 2}") + `    streams:
      people: {table: patients, columns: {sex: , smoker: }, size: 5000, alpha: 0.1}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
	ctx := context.Background()
	db, err := discreet.Open(ctx, path)
	if err != nil {
		panic(err)
	}
	defer db.Close()
	for _, q := range []api.StreamQuestion{
		{Analyst: "ana", SQL: "sex = 'F' AND smoker"},
		{Analyst: "ben", SQL: "NOT (sex <> 'F' OR NOT smoker)"},
		{Analyst: "ben", Where: map[string][]string{"sex": {"F"}, "smoker": {"true"}}},
	} {
		a, err := db.AskStream(ctx, q)
		if err != nil {
			panic(err)
		}
		fmt.Printf("within %d people, free: %t\n", *a.Error, a.Free)
	}
	// Output:
	// within 500 people, free: false
	// within 500 people, free: true
	// within 500 people, free: true
}

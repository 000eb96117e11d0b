package curator_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/policy"
)

// A curator brings together what must not meet anywhere else: an engine, a ledger and
// noise. Programs use the package discreet, which does this for them.
func Example() {
	dir, err := os.MkdirTemp("", "curator-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := hospital.New(500, 1).Write(filepath.Join(dir, "data")); err != nil {
		log.Fatal(err)
	}
	text := "datasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 1, per_query: {default: 0.1}}")
	p, err := policy.Parse(filepath.Join(dir, "hospital.yaml"), []byte(text))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	engine, err := duckdb.Open(ctx, p.Datasets["hospital"])
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	opened, err := sqlite.Open(p.Ledger)
	if err != nil {
		log.Fatal(err)
	}
	defer opened.Close()

	c := curator.New(p.Datasets["hospital"], engine, opened, mech.NewReleaser(noise.NewSource()))
	for i, question := range []string{"SELECT COUNT(*) FROM patients", "select count(*) from patients where true",
		"SELECT * FROM patients"} {
		a, err := c.Ask(ctx, api.Question{Analyst: "ana", SQL: question, Request: fmt.Sprint("question ", i)})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println("cost", a.Cost.Epsilon, "error bar", *a.Errors[0][0], "left", a.Remaining.Epsilon)
	}
	// Output:
	// cost 0.1 error bar 30 left 0.9
	// cost 0 error bar 30 left 0.9
	// * would show rows of the data; name aggregates and keys, as in SELECT sex, COUNT(*) ... GROUP BY sex
}

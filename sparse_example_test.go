package discreet_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// demo opens a made-up hospital of 1000 people.
func demo() (db *discreet.DB, remove func()) {
	dir, err := os.MkdirTemp("", "discreet-")
	if err != nil {
		log.Fatal(err)
	}
	if err := hospital.New(1000, 1).Write(filepath.Join(dir, "data")); err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "hospital.yaml")
	if err := os.WriteFile(path, []byte("datasets:\n"+hospital.Dataset("hospital", "data", "{epsilon: 10}")), 0o600); err != nil {
		log.Fatal(err)
	}
	if db, err = discreet.Open(context.Background(), path, discreet.WithMemory("256MB"), discreet.WithThreads(1)); err != nil {
		log.Fatal(err)
	}
	return db, func() { db.Close(); os.RemoveAll(dir) }
}

// A session is paid for once. Thresholds that are far from the counts are answered rightly, except
// with a small probability that v.Error is about.
func ExampleDB_OpenSparse() {
	db, remove := demo()
	defer remove()
	ctx := context.Background()
	s, err := db.OpenSparse(ctx, api.SparseQuestion{Analyst: "ana", Epsilon: 5 * dp.One, Above: 2, Sensitivity: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, threshold := range []string{"3000", "2000", "500", "100"} {
		v, err := s.Ask(ctx, "SELECT COUNT(*) FROM patients", threshold)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("at least", threshold, v.Above, "left", v.Left)
	}
	_, err = s.Ask(ctx, "SELECT COUNT(*) FROM patients", "1")
	fmt.Println(err == api.ErrSessionUsed, "for epsilon", s.Cost().Epsilon)
	// Output:
	// at least 3000 false left 2
	// at least 2000 false left 2
	// at least 500 true left 1
	// at least 100 true left 0
	// true for epsilon 5
}

// A description is free, and a question need not have the values of its parameters for it.
func ExampleDB_Describe() {
	db, remove := demo()
	defer remove()
	d, err := db.Describe(context.Background(),
		api.Question{Analyst: "ana", SQL: "SELECT sex, COUNT(*) AS people FROM patients WHERE age > $1 AND zip = $2 GROUP BY sex"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Parameters)
	for _, c := range d.Columns {
		fmt.Println(c.Name, c.Kind, "noisy:", c.Noisy)
	}
	// Output:
	// [integer text]
	// sex text noisy: false
	// people integer noisy: true
}

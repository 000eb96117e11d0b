package admission_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/admission"
)

func Example() {
	dir, err := os.MkdirTemp("", "admission-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "policy.yaml")
	if err := errors.Join(hospital.New(500, 1).Write(filepath.Join(dir, "data")),
		os.WriteFile(path, []byte("datasets:\n"+hospital.Dataset("hospital", "data", "{epsilon: 1, per_query: {default: 0.1}}")+
			"    release: immediate\n"), 0o600)); err != nil {
		panic(err)
	}
	ctx := context.Background()
	db, err := discreet.Open(ctx, path)
	if err != nil {
		panic(err)
	}
	defer db.Close()

	d := admission.New(db, admission.Options{Running: 2, Rate: 60})
	for range 2 {
		a, err := d.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients"})
		if err != nil {
			panic(err)
		}
		fmt.Println("cost", a.Cost.Epsilon, "left", a.Remaining.Epsilon)
	}
	d.Drain(ctx)
	_, err = d.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM visits"})
	fmt.Println(err)
	s := d.Stats()
	fmt.Println(s.Questions, "questions,", s.Answered, "answers,", s.Free, "of them free")
	// Output:
	// cost 0.1 left 0.9
	// cost 0 left 0.9
	// the server is shutting down, and nothing was charged; ask again when it is back
	// 3 questions, 2 answers, 1 of them free
}

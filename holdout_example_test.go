package discreet_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
)

// A score is the training value where the holdout confirms it, and comes from the holdout where
// not. The first question pays for a round, and every further score of the round is free.
func ExampleDB_AskHoldout() {
	dir, err := os.MkdirTemp("", "discreet-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path, err := trialPolicy(dir) // 1000 labels, of which every fourth is 1
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	db, err := discreet.Open(ctx, path, discreet.WithMemory("256MB"), discreet.WithThreads(1))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, m := range []struct {
		name, training string
		predictions    []string
	}{
		{"always 0", "0.76", repeated("0")},
		{"overfitted", "0.99", repeated("1", "1", "0", "1")},
		{"always 0", "0.76", repeated("0")},
	} {
		a, err := db.AskHoldout(ctx,
			api.HoldoutQuestion{Holdout: "trial", Analyst: "ana", Name: m.name, Training: m.training, Predictions: m.predictions})
		if err != nil {
			log.Fatal(err)
		}
		if a.Spent {
			fmt.Println(m.name, "is contradicted:", a.Score < "0.6", "free:", a.Free, "left:", a.Left)
		} else {
			fmt.Println(m.name, "is confirmed:", a.Score, "free:", a.Free, "left:", a.Left)
		}
	}
	board, err := db.Board(ctx, "hospital", "trial")
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range board {
		fmt.Println(l.Rank, l.Name)
	}
	// Output:
	// always 0 is confirmed: 0.76 free: false left: 4
	// overfitted is contradicted: true free: true left: 3
	// always 0 is confirmed: 0.76 free: true left: 3
	// 1 always 0
	// 2 overfitted
}

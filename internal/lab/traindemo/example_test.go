package traindemo_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/traindemo"
)

// A made-up town, and how often models that cost epsilon 1 are wrong about inhabitants that they
// have not seen.
func Example() {
	town, err := traindemo.MakeTown(20_000, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := traindemo.Sweep{Epsilons: []dp.Amount{dp.One}, Ways: traindemo.Ways[:2], Splits: 1, Draws: 1,
		Seed: 1}.Run(context.Background(), town, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range r.Cells {
		fmt.Printf("%s: within 0.05 of training without privacy: %v\n", c.Way, c.Error < r.Plain+0.05)
	}
	// Output:
	// output: within 0.05 of training without privacy: true
	// objective: within 0.05 of training without privacy: true
}

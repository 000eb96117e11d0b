package stat_test

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/stat"
)

// A count of 0 or 1 people with Laplace noise of scale 1/2 is private with epsilon 2, and
// not with 1.
func Example() {
	laplace, err := noise.NewLaplace(big.NewRat(1, 2))
	if err != nil {
		panic(err)
	}
	count := func(people int64) stat.Samples {
		s, err := stat.Draw(context.Background(), 100_000, func(int) *noise.Source { return noise.NewSource() },
			func(src *noise.Source) func() int64 { return func() int64 { return people + laplace.Draw(src) } })
		if err != nil {
			panic(err)
		}
		return s
	}
	bound := stat.Epsilon(count(0), count(1), true, 0, 1e-6)
	fmt.Println("claim of 1:", bound.Lower <= 1, "claim of 2:", bound.Lower <= 2)
	// Output: claim of 1: false claim of 2: true
}

package enumerate_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/lab/enumerate"
)

// A count with Laplace noise of scale 1 loses epsilon 1. Noise that is 5 % short loses more,
// and no sample is needed to see it.
func Example() {
	for _, scale := range []float64{1, 0.95} {
		f := enumerate.Pure("count", 1, 0,
			[]enumerate.Pair{{P: enumerate.Laplace(scale, 0), Q: enumerate.Laplace(scale, 1), Name: "0 and 1"}})
		fmt.Printf("scale %v loses %.4f of %v: %v\n", scale, f.Lower, f.Claim, f.Stands)
	}
	// Output:
	// scale 1 loses 1.0000 of 1: true
	// scale 0.95 loses 1.0526 of 1: false
}

package privacyloss_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/privacyloss"
)

// A thousand answers with Laplace noise of epsilon 0.1 each, and forty with Gaussian noise.
func Example() {
	laplace, _ := privacyloss.Laplace(0.1)
	gaussian, _ := privacyloss.Gaussian(0.1)
	sum, _ := privacyloss.Sum{}.Plus(laplace, 1000)
	sum, _ = sum.Plus(gaussian, 40)
	epsilon, _ := sum.Epsilon(1e-6)
	fmt.Printf("epsilon is between %.6f and %.6f\n", epsilon.Lower, epsilon.Upper)
	// Output:
	// epsilon is between 19.451441 and 19.451441
}

package density_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/lab/density"
)

// Noise of scale 1/(1 - 0.2) for rows of length 1 is private at epsilon 1 where the change of
// variables costs 0.2 at most, which takes a Lambda of 1/(e^0.2 - 1), 4.52. With a Lambda of 1 it
// loses more.
func Example() {
	for _, lambda := range []float64{4.52, 1} {
		m := &density.Mechanism{Bend: density.Huber(0.5), Weights: 1, Lambda: [2]float64{lambda}, Scale: 1 / 0.8}
		found := density.Search(m, density.SearchSpace{Radius: 1, Rows: 1}, 50, detrand.New("example", 1))
		fmt.Printf("Lambda %v loses %.3f\n", lambda, found.Loss)
	}
	// Output:
	// Lambda 4.52 loses 1.000
	// Lambda 1 loses 1.493
}

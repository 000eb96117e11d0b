package learn_test

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
)

// Huber's loss on rows of length 4 at most, where everybody has one row and may be replaced.
func Example_calibrate() {
	p := learn.Problem{Slope: 1, Curvature: 1, OneSided: true, Radius: 4, Weights: 20, Models: 1, Rows: 1, Neighbours: dp.Substitute}
	epsilon, _ := dp.Parse("1")
	o, err := p.Pure(epsilon, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("Lambda %.1f, noise of scale %.2f, the Jacobian takes %.2f of %v\n", o.Lambda, o.Scale, o.Jacobian, o.Cost.Epsilon)
	_, err = p.Pure(epsilon, 1)
	var small *learn.RegulariserError
	fmt.Printf("%v: more than %.1f\n", errors.As(err, &small), small.Least)
	// Output:
	// Lambda 72.3, noise of scale 10.00, the Jacobian takes 0.20 of 1
	// true: more than 9.3
}

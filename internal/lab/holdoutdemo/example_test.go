package holdoutdemo_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/lab/holdoutdemo"
)

// Of every ten subsets the one with the largest mean is kept. The truth is 0.
func Example() {
	r, err := holdoutdemo.NewLecture().Run(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("chosen by exact means: %.1f\n", holdoutdemo.FigureOf(r.Exact).Mean)
	fmt.Printf("chosen by report noisy max: %.1f\n", holdoutdemo.FigureOf(r.Private).Mean)
	// Output:
	// chosen by exact means: 0.6
	// chosen by report noisy max: 0.0
}

package engine_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/policy"
)

// What an engine returns can be passed on, and not be read: neither the numbers nor, where keys are
// private, which there are.
func Example() {
	r := engine.Result{
		Combos:   exact.SealList([][]policy.Value{{{Type: policy.Text, Text: "Rome"}}}),
		Persons:  exact.Seal([]int64{2}),
		Measures: []exact.Vector{exact.Seal([]int64{71})},
	}
	fmt.Println(r.Combos, r.Persons, r.Measures)
	// Output:
	// [exact] [exact] [[exact]]
}

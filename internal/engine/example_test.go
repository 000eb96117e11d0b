package engine_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/policy"
)

// What an engine returns can be passed on, and not be read: neither the numbers nor, where keys are
// private, which there are.
func Example() {
	r := engine.Result{
		Combos:   sealed.SealList([][]policy.Value{{{Type: policy.Text, Text: "Rome"}}}),
		Persons:  sealed.Seal([]int64{2}),
		Measures: []sealed.Vector{sealed.Seal([]int64{71})},
	}
	fmt.Println(r.Combos, r.Persons, r.Measures)
	// Output:
	// [exact] [exact] [[exact]]
}

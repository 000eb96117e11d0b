package engine

import (
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/policy"
)

// Cells returns which cells the combinations of private keys are in, and the first measure of each,
// both sealed. It is for queries that have private keys only. A combination that is in no cell is
// left out.
func (r *Result) Cells(place func([]policy.Value) (int, bool)) (cells, counts exact.Vector) {
	if len(r.Measures) == 0 {
		return exact.Vector{}, exact.Vector{}
	}
	return exact.Coded(r.Combos, r.Measures[0], place)
}

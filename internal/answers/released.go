package answers

import (
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/policy"
)

// Released is what came of a purchase: noisy integers, and keys and groups that a mechanism has
// chosen. It is public.
type Released struct {
	// Measures are the noisy vectors; nil for quantiles. Quantiles are, for each measure that is
	// one, those of each group.
	Measures  [][]int64
	Quantiles [][][]int64
	// Off is, for each measure of what was released together with others, by how many steps more
	// than its noise says a number may be off, because all are rounded to agree with each other.
	// It is nil elsewhere.
	Off []int64
	// Keys are the combinations of private keys that are shown, sorted.
	Keys [][]policy.Value
	// Dropped is how many more were released than the ledger can keep.
	Dropped int
	// Chosen are the groups of a choice, best first.
	Chosen []int

	// Sequence is the charge that paid for it, where that was before. The rest is for what was made
	// of another purchase's values: which charge paid for these, the noise in them, and how many of
	// them are in each group.
	Sequence uint64
	Derived  uint64
	Noise    []pricing.Noise
	Cells    []int
	// What came through a stream has no noise of its own: it says how, what it charged, and how far
	// each number may be off.
	Through *api.Through
	Receipt api.Receipt
	Halves  [][]int64
}

// OffBy is Off of a measure, and 0 where there is none.
func (r *Released) OffBy(measure int) int64 {
	if r.Off == nil {
		return 0
	}
	return r.Off[measure]
}

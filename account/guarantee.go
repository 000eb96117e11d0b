package account

// Guarantee is a statement about the privacy of a mechanism that says, for every
// delta, an epsilon such that the mechanism is (epsilon, delta)-differentially
// private. Guarantees are values and may be used by several goroutines.
//
// Both answers are the smallest that the cited theorem gives, rounded up: a
// claim that is converted is never stronger than the theorem makes it.
type Guarantee interface {
	// EpsilonAt returns the smallest epsilon that is implied at delta, 0 <= delta < 1.
	EpsilonAt(delta float64) (float64, error)
	// DeltaAt returns the smallest delta that is implied at epsilon >= 0.
	DeltaAt(epsilon float64) (float64, error)
}

var (
	_ Guarantee = Pure{}
	_ Guarantee = Approx{}
	_ Guarantee = ZCDP{}
	_ Guarantee = ApproxZCDP{}
	_ Guarantee = RDP{}
	_ Guarantee = GDP{}
)

// approxAt reads a guarantee off as one claim at delta.
func approxAt(g Guarantee, delta float64) (Approx, error) {
	epsilon, err := g.EpsilonAt(delta)
	if err != nil {
		return Approx{}, err
	}
	return Approx{Epsilon: epsilon, Delta: delta}, nil
}

// sumUp adds up and largestOf compares one number of every guarantee.
func sumUp[G any](first G, others []G, number func(G) float64) float64 {
	sum := number(first)
	for _, g := range others {
		sum = addUp(sum, number(g))
	}
	return sum
}

func largestOf[G any](first G, others []G, number func(G) float64) float64 {
	most := number(first)
	for _, g := range others {
		most = max(most, number(g))
	}
	return most
}

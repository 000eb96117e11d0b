package mech

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// Selector is a calibrated way of choosing one of several public candidates by
// their exact scores. Selectors are made by this package only and are immutable,
// so they may be shared.
type Selector interface {
	// Name is "exponential", "permute-and-flip", "noisy max, laplace" or "noisy
	// max, geometric".
	Name() string
	// Scoring is how the scores may move, as the selector was calibrated.
	Scoring() Scoring
	// Cost is what one selection costs, however many candidates there are.
	Cost() dp.Cost
	// Parameter is the exact b, the score that a factor of e in probability is
	// worth, in lattice steps: 2D/epsilon, or D/epsilon for monotone scores.
	Parameter() *big.Rat
	// Gap returns a g such that, among so many candidates, the chosen one's score
	// is at most g below the best with probability at least 1 - beta. It is never
	// too small.
	Gap(candidates int, beta float64) int64

	// pick returns the index of the chosen one of at least one candidate.
	pick(src *noise.Source, scores []int64) int
}

// Select returns the index of the candidate that m chooses by its score. A score
// is better the higher it is: where closeness to a target counts, it is minus the
// distance.
//
// The promise of m's Cost holds provided that the set of candidates is public and
// the scores move between neighbouring databases as m.Scoring() says. Proving that is
// the caller's part. The chosen one's score is not part of the answer; whoever wants
// it releases it, with noise of its own.
//
// Nothing is drawn where there is an error, and no error depends on a score.
func (r *Releaser) Select(scores Exact, m Selector) (int, error) {
	if scores.Len() == 0 {
		return 0, ErrNoCandidates
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.record != nil {
		r.record(Call{Mechanism: m.Name(), Parameter: m.Parameter(), Scoring: m.Scoring(), Values: scores})
	}
	return m.pick(r.src, scores.Open()), nil
}

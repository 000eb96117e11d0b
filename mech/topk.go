package mech

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
)

// TopK chooses k candidates, best first: one selection, then another among those
// that are left, and so on. The order is part of the answer.
//
// With [Exponential] this is also the one-shot form: whoever adds Gumbel noise of
// scale b to every score once, and reports the k highest in order, reports what k
// rounds of the exponential mechanism would (Durfee, Rogers 2019). The
// rounds are sampled exactly here, so there is no need for the noise.
type TopK struct {
	k    int
	each Selector
	cost dp.Cost
}

// ErrTop is returned when a number of candidates is asked for that there is not.
var ErrTop = errors.New("cannot choose that many candidates")

// mostTop keeps the price of k selections from being computed for ever.
const mostTop = 1 << 20

// NewTopK chooses k times with each. What is chosen in one round is the public set of
// the next one, so the costs add up under adaptive composition: k epsilon, or
// k rho. Leaving out a candidate moves no other score, so what Scoring promises stays
// true from round to round.
func NewTopK(k int, each Selector) (*TopK, error) {
	if k < 1 || k > mostTop {
		return nil, fmt.Errorf("%w: %d; write a number from 1 to the number of candidates, and at most %d", ErrTop, k, mostTop)
	}
	t := &TopK{k: k, each: each}
	for range k {
		t.cost = t.cost.Add(each.Cost())
	}
	return t, nil
}

// Name says how many are chosen and how.
func (t *TopK) Name() string { return fmt.Sprintf("top %d, %s", t.k, t.each.Name()) }

// K returns how many candidates are chosen.
func (t *TopK) K() int { return t.k }

// Each returns the selector of one round.
func (t *TopK) Each() Selector { return t.each }

// Cost returns the cost of all k rounds.
func (t *TopK) Cost() dp.Cost { return t.cost }

// Top returns the indices of the k candidates that t chooses, in the order in which it
// chooses them. For what that promises see [Releaser.Select].
func (r *Releaser) Top(scores Exact, t *TopK) ([]int, error) {
	switch n := scores.Len(); {
	case n == 0:
		return nil, ErrNoCandidates
	case n < t.k:
		return nil, fmt.Errorf("%w: %d of %d; choose at most all of them", ErrTop, t.k, n)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.record != nil {
		r.record(Call{Mechanism: t.Name(), Parameter: t.each.Parameter(), Scoring: t.each.Scoring(), Values: scores})
	}
	// What is left stays in the public order, because ties are broken by it.
	left := append([]int64(nil), scores.Open()...)
	names := make([]int, len(left))
	for i := range names {
		names[i] = i
	}
	var out []int
	for range t.k {
		i := t.each.pick(r.src, left)
		out = append(out, names[i])
		left = append(left[:i], left[i+1:]...)
		names = append(names[:i], names[i+1:]...)
	}
	return out, nil
}

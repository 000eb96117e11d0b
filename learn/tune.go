package learn

import (
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/learn/rows"
	"github.com/discreet-dp/discreet/mech"
)

// tuning sets what chooses among candidates, and returns what is left for training them.
//
// The rows are divided into one part for each candidate and one more (Chaudhuri, Monteleoni,
// Sarwate 2011, Algorithm 3). Every candidate is trained on its part. All of them together are
// private at the first part of the budget, by the theorem on candidates of package calibrate. Then
// the mistakes that each makes on the last part are counted, and a selector chooses one privately
// at the second part of the budget: a person has at most m rows there, so every count moves by m at
// most, also where others take their place, because what leaves and what comes have opposite signs;
// where people are only added or removed all counts move the same way. The price is the sum
// (composition), although most rows are in one of the two: for people with several rows, and for
// rows that change, less is not true in general.
func (p *Plan) tuning() (Budget, error) {
	b := p.Spec.Budget
	if len(p.Spec.Tune) == 0 {
		return b, nil
	}
	first, second, err := b.split(4, 5)
	if b.currency() == approximate {
		// Selection is pure, so all of delta is for training.
		first, second, err = Budget{Epsilon: b.Epsilon}.split(4, 5)
		first.Delta = b.Delta
	}
	if err != nil {
		return b, err
	}
	steps, _ := p.mistakes()
	scoring := mech.Scoring{Sensitivity: int64(p.Group.MaxRows) * steps, Monotone: p.Group.Neighbours == dp.AddRemove}
	var why string
	if b.currency() == concentrated {
		p.selector, why, err = mech.ChooseSelector(mech.Concentrated, second.Rho, scoring)
	} else {
		p.selector, why, err = mech.ChooseSelector(mech.Pure, second.Epsilon, scoring)
	}
	if err != nil {
		return b, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	p.Why = append(p.Why,
		fmt.Sprintf("A fifth of the price chooses among %d regularisers, by %s. Each is trained on one of %d parts of the rows.",
			len(p.Spec.Tune), why, len(p.Spec.Tune)+1))
	return first, nil
}

// scores are minus the mistakes of every candidate on the last part, sealed.
func (p *Plan) scores(t *collected, candidates [][][]float64) mech.Exact {
	_, count := p.mistakes()
	last := uint8(len(candidates))
	out := make([]int64, len(candidates))
	each(t.rows, func(i int) bool { return t.parts[i] == last }, func(x []float32, target float64) {
		for c, w := range candidates {
			out[c] -= count(w, x, target)
		}
	})
	return mech.Exactly(out...)
}

// each calls f for every row that counts.
func each(r *rows.Rows, keep func(int) bool, f func(x []float32, target float64)) {
	for i := range r.Len() {
		if keep == nil || keep(i) {
			f(r.Row(i), float64(r.Target(i)))
		}
	}
}

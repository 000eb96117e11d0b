package pricing

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// KeyRule is how private keys are released: those that enough people have.
type KeyRule struct {
	Threshold *mech.KeyThreshold
	Weights   *mech.KeyWeights   // in place of the threshold, where somebody may have several keys
	Selection *mech.KeySelection // in place of both, where nothing but keys is asked for
	why       string
}

// KeptProbability is the probability with which a key of KeptFrom people is released.
const KeptProbability = 0.95

// leastRate is the epsilon of one group below which a key selection would need a table of many
// thousands of entries.
const leastRate = 0.002

// newKeys calibrates the release of private keys to a share, which is an epsilon where the currency
// is pure and a rho where it is not, and to a delta. A person is counted in at most MaxGroups
// combinations of them. A key of one person is shown with a probability of at most delta; that, and
// the proof, is mech.KeyThreshold's.
//
// Where the count that is shown is the number that decides (tree.Query.Decider), it is released
// with the keys, at no price of its own, and the noise is of the kind that was asked for. What else
// is released about the combinations that were kept is a release about a public list, and has a
// price of its own.
//
// Where a question asks for keys and nothing else, mech.KeySelection keeps keys with the largest
// possible probability. It pays for its groups one by one, so with many groups for each person the
// threshold, whose noise grows with the root of their number, is better. The one that keeps smaller
// groups is taken.
//
// Where somebody may have several keys, and no count decides, people are weighed and not counted
// (mech.KeyWeights): whoever has few keys is worth more to each.
func newKeys(q *tree.Query, c Currency, share, delta dp.Amount, noise string) (*KeyRule, error) {
	config := mech.KeyConfig{GroupsPerUnit: int(q.MaxGroups()), Neighbours: q.Neighbours, Delta: delta}
	if c.Pure {
		config.Epsilon = share
	} else {
		config.Rho = share
	}
	decider := q.Decider()
	if decider >= 0 {
		config.Noise = noise
	}
	threshold, err := mech.NewKeyThreshold(config)
	if err != nil {
		return nil, err
	}
	if n := threshold.Noise(); decider >= 0 && n.Sensitivity().String() != q.Sensitivity(q.Measures[decider], n.Norm()).String() {
		return nil, errDecider
	}
	rule := &KeyRule{Threshold: threshold, why: threshold.Reason()}
	if q.Weighs() {
		// It takes a few people more where all have as many keys as count, and far fewer where not.
		if w, err := mech.NewKeyWeights(config); err == nil && w.KeptFrom(1-KeptProbability) <= 2*rule.KeptFrom() {
			rule = &KeyRule{Weights: w, why: w.Reason()}
		}
	}
	if len(q.Measures) > 0 {
		return rule, nil
	}
	if s := newSelection(config); s != nil && s.KeptFrom(1-KeptProbability) < rule.KeptFrom() {
		return &KeyRule{Selection: s, why: fmt.Sprintf("key selection, which keeps keys of %d people, against %d with a threshold",
			s.KeptFrom(1-KeptProbability), rule.KeptFrom())}, nil
	}
	return rule, nil
}

// errDecider says that a count which decides moves otherwise than the noise of the keys was made
// for.
var errDecider = errors.New("the count that decides which keys are shown moves further than a number of people")

// newSelection returns the key selection that an epsilon or a rho buys, or nil where there is none.
func newSelection(c mech.KeyConfig) *mech.KeySelection {
	groups := int64(c.GroupsPerUnit)
	if c.Neighbours == dp.Substitute {
		groups *= 2
	}
	epsilon := c.Epsilon
	if epsilon == 0 {
		epsilon = epsilonOfSelection(groups, c.Rho)
	}
	if epsilon.Float()/float64(groups) < leastRate {
		return nil
	}
	rho := c.Rho
	c.Epsilon, c.Rho = epsilon, 0
	s, err := mech.NewKeySelection(c)
	if err != nil || rho > 0 && s.Cost().Rho > rho {
		return nil
	}
	return s
}

// epsilonOfSelection is the largest epsilon of a key selection that a rho buys.
func epsilonOfSelection(groups int64, most dp.Amount) dp.Amount {
	return Largest(0, 64*dp.One, func(e dp.Amount) bool {
		// What the selection itself will claim, with room for its rounding.
		rho, err := dp.CeilFloat(float64(groups) * dp.RhoOfPure(e.Float()/float64(groups)) * (1 + 0x1p-48))
		return err == nil && rho <= most
	})
}

func (k *KeyRule) cost() dp.Cost {
	switch {
	case k.Selection != nil:
		return k.Selection.Cost()
	case k.Weights != nil:
		return k.Weights.Cost()
	}
	return k.Threshold.Cost()
}

// KeptFrom is how many people a key needs to be shown with probability 0.95.
func (k *KeyRule) KeptFrom() int64 {
	switch {
	case k.Selection != nil:
		return k.Selection.KeptFrom(1 - KeptProbability)
	case k.Weights != nil:
		return k.Weights.KeptFrom(1 - KeptProbability)
	}
	return k.Threshold.KeptFrom(1 - KeptProbability)
}

func (k *KeyRule) spelling() string {
	if k.Selection != nil {
		c := k.Selection.Cost()
		return fmt.Sprintf("key selection(%v, %v)", c.Epsilon.Rat().RatString(), c.Delta.Rat().RatString())
	}
	if k.Weights != nil {
		n := k.Weights.Noise()
		return fmt.Sprintf("weighed keys %s(%s) from %d", n.Name(), n.Parameter().RatString(), k.Weights.Threshold())
	}
	n := k.Threshold.Noise()
	return fmt.Sprintf("keys %s(%s) from %d, or one less with %s", n.Name(), n.Parameter().RatString(), k.Threshold.Threshold(),
		k.Threshold.EdgeProbability().RatString())
}

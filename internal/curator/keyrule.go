package curator

import (
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/mech"
)

// keyRule is how private keys are released: those that enough people have.
type keyRule struct {
	threshold *mech.KeyThreshold
	selection *mech.KeySelection // in place of the threshold, where nothing but keys is asked for
	why       string
}

// seen is the probability with which a key of KeptFrom people is released.
const seen = 0.95

// leastRate is the epsilon of one group below which a key selection would need a table of many
// thousands of entries.
const leastRate = 0.002

// newKeys calibrates the release of private keys. A person is counted in at most MaxGroups combinations of them. What
// is then released about the combinations that were kept is a release about a public list, and has a price of its own.
// A key of one person is shown with a probability of at most delta; that, and the proof, is mech.KeyThreshold's.
//
// Where a question asks for keys and nothing else, mech.KeySelection keeps keys with the largest possible
// probability. It pays for its groups one by one, so with many groups for each person the threshold, whose noise
// grows with the root of their number, is better. The one that keeps smaller groups is taken.
func newKeys(q *tree.Query, share, delta dp.Amount) (*keyRule, error) {
	config := mech.KeyConfig{GroupsPerUnit: int(q.MaxGroups()), Neighbours: q.Neighbours, Rho: share, Delta: delta}
	threshold, err := mech.NewKeyThreshold(config)
	if err != nil {
		return nil, err
	}
	rule := &keyRule{threshold: threshold, why: threshold.Why()}
	if len(q.Measures) > 0 {
		return rule, nil
	}
	if s := newSelection(config); s != nil && s.KeptFrom(1-seen) < threshold.KeptFrom(1-seen) {
		return &keyRule{selection: s, why: fmt.Sprintf("key selection, which keeps keys of %d people, against %d with a threshold", s.KeptFrom(1-seen), threshold.KeptFrom(1-seen))}, nil
	}
	return rule, nil
}

// newSelection returns the key selection that a rho buys, or nil where there is none.
func newSelection(c mech.KeyConfig) *mech.KeySelection {
	groups := int64(c.GroupsPerUnit)
	if c.Neighbours == dp.Substitute {
		groups *= 2
	}
	epsilon := largest(0, 64*dp.One, func(e dp.Amount) bool {
		// What the selection itself will claim, with room for its rounding.
		rho, err := dp.CeilFloat(float64(groups) * dp.RhoOfPure(e.Float()/float64(groups)) * (1 + 0x1p-48))
		return err == nil && rho <= c.Rho
	})
	if epsilon.Float()/float64(groups) < leastRate {
		return nil
	}
	rho := c.Rho
	c.Epsilon, c.Rho = epsilon, 0
	s, err := mech.NewKeySelection(c)
	if err != nil || s.Cost().Rho > rho {
		return nil
	}
	return s
}

func (k *keyRule) cost() dp.Cost {
	if k.selection != nil {
		return k.selection.Cost()
	}
	return k.threshold.Cost()
}

// keptFrom is how many people a key needs to be shown with probability 0.95.
func (k *keyRule) keptFrom() int64 {
	if k.selection != nil {
		return k.selection.KeptFrom(1 - seen)
	}
	return k.threshold.KeptFrom(1 - seen)
}

func (k *keyRule) spelling() string {
	if k.selection != nil {
		c := k.selection.Cost()
		return fmt.Sprintf("key selection(%v, %v)", c.Epsilon.Rat().RatString(), c.Delta.Rat().RatString())
	}
	n := k.threshold.Noise()
	return fmt.Sprintf("keys %s(%s) from %d", n.Name(), n.Parameter().RatString(), k.threshold.Threshold())
}

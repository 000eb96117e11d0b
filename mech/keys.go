package mech

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/root"
)

// ErrKeys is returned when group keys are asked for in a way that cannot be
// made private.
var ErrKeys = errors.New("these group keys cannot be released")

// KeyConfig says who is protected when group keys come from the data, and at
// what price.
type KeyConfig struct {
	// GroupsPerUnit is C: a unit is counted in at most so many groups, and once
	// in each. Which of its groups those are is chosen for each unit alone.
	GroupsPerUnit int
	// Neighbours is the relation of the policy.
	Neighbours dp.Neighbours
	// Epsilon or Rho is the budget for the counts: one of the two.
	Epsilon dp.Amount
	Rho     dp.Amount
	// Delta pays for the groups of which one unit is the only member.
	Delta dp.Amount
}

// moved is in how many groups the count of units can differ by one between
// neighbours.
func (c KeyConfig) moved() int64 {
	if c.Neighbours == dp.Substitute {
		return 2 * int64(c.GroupsPerUnit)
	}
	return int64(c.GroupsPerUnit)
}

// mostGroups keeps every product with C far inside of an int64.
const mostGroups = 1 << 30

func (c KeyConfig) check() error {
	switch {
	case c.GroupsPerUnit < 1 || c.GroupsPerUnit > mostGroups:
		return fmt.Errorf("%w: a unit is in at least 1 and at most 2^30 groups, not %d; bound how many groups one unit can be in",
			ErrKeys, c.GroupsPerUnit)
	case c.Delta == 0:
		return fmt.Errorf("%w without a delta: a key that only one unit has betrays it; spend a delta such as 1e-6, or list the keys "+
			"in the policy", ErrKeys)
	case c.Delta >= dp.One:
		return fmt.Errorf("%w: a delta of %v promises nothing; spend one such as 1e-6", ErrKeys, c.Delta)
	case c.Epsilon > 0 && c.Rho > 0:
		return fmt.Errorf("%w on two budgets: give an epsilon or a rho", ErrKeys)
	}
	return checkAmount(max(c.Epsilon, c.Rho))
}

// KeyThreshold releases the keys of groups whose noisy number of units is at or
// above a threshold, together with the noisy number.
//
// # Proof
//
// Let y be x with one unit more, and C0 of its C groups be new: nobody else is
// in them. Let E be the event that one of the new ones is released on y. The
// noise of the new groups is independent of that of the others, so given that E
// does not happen, y's release is a release of the same groups as x's, with
// noise on counts that differ by one in at most C - C0 of them. That costs what
// the noise was calibrated to. P(E) = 1 - (1-p)^C0 <= 1 - (1-p)^C <= delta,
// where p is the probability that a group of one unit is released. This is
// delta-approximate zCDP as Bun, Steinke 2016, Definition 8.1, have it, with the
// event on y's side. In epsilon: with A = P_y(S | not E),
//
//	P_y(S) <= P(E) + (1 - P(E)) A       <= delta + exp(epsilon) P_x(S)
//	P_x(S) <= P(E) P_x(S) + (1-P(E)) exp(epsilon) A <= delta + exp(epsilon) P_y(S).
//
// Under substitution both sides have such an event, each at most delta, and the
// noise is calibrated to 2C groups. With a = P_x(S | not E_x) and b likewise,
// a <= exp(epsilon) b,
//
//	P_x(S) - exp(epsilon) P_y(S) <= d_x + (1-d_x) a - (1-d_y) a <= max(d_x, d_y).
//
// Where the noise itself has a delta, it is added.
//
// (Korolova, Kenthapadi, Mishra, Ntoulas 2009; Wilson et al. 2020 for C groups.)
type KeyThreshold struct {
	crossing
	cost  dp.Cost
	other *crossing // what was not chosen
}

// NewKeyThreshold calibrates noise and threshold. Laplace and Gaussian noise
// are compared where both can pay in the budget's currency, and the lower
// threshold is taken: a group with as many units as the threshold is released
// every other time.
//
// Laplace noise has to cover C groups in l1 and Gaussian noise in l2, that is,
// the square root of C. But the Laplace tail is the heavier one, and the
// Gaussian needs a share of delta where the budget is an epsilon. Why tells
// what came out.
func NewKeyThreshold(c KeyConfig) (*KeyThreshold, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	laplace, err := laplaceKeys(c)
	if err != nil {
		return nil, err
	}
	gaussian, err := gaussianKeys(c)
	switch {
	case err != nil || laplace.tau <= gaussian.tau:
		if err == nil {
			laplace.other = &gaussian.crossing
		}
		return laplace, nil
	default:
		gaussian.other = &laplace.crossing
		return gaussian, nil
	}
}

func laplaceKeys(c KeyConfig) (*KeyThreshold, error) {
	d := big.NewInt(c.moved())
	epsilon := c.Epsilon
	if c.Rho > 0 {
		epsilon = largestAmount(dp.One<<20, func(e dp.Amount) bool {
			rho, err := rhoOfLaplace(d, e)
			return err == nil && rho <= c.Rho
		})
	}
	m, err := NewLaplace(dp.NewL1(d), epsilon)
	if err != nil {
		return nil, err
	}
	return keysOf(c, m, m.Cost(), c.Delta)
}

func gaussianKeys(c KeyConfig) (*KeyThreshold, error) {
	d := dp.NewL2Squared(big.NewInt(c.moved()))
	if c.Rho > 0 {
		m, err := NewGaussian(d, c.Rho)
		if err != nil {
			return nil, err
		}
		return keysOf(c, m, m.Cost(), c.Delta)
	}
	// Half of delta for the noise, half for the threshold. Both halves are under
	// a logarithm, so that other shares hardly matter.
	own := c.Delta / 2
	rho := largestAmount(min(c.Epsilon, dp.One<<20), func(r dp.Amount) bool {
		return deltaOfRho(r, c.Epsilon) <= own.Float()
	})
	m, err := NewGaussian(d, rho)
	if err != nil {
		return nil, err
	}
	// The noise alone is rho-zCDP, but not of the pair that its (epsilon, delta) claim is about,
	// and a cost claims both of one (dp.Cost). That pair has the rho of its epsilon.
	claimed, err := dp.CeilFloat(dp.RhoOfPure(c.Epsilon.Float()))
	if err != nil {
		return nil, err
	}
	return keysOf(c, m, dp.Cost{Epsilon: c.Epsilon, Rho: claimed, Delta: own}, c.Delta-own)
}

// keysOf puts the threshold where a group of one unit is released with a
// probability so small that it stays below delta for C groups together, and
// adds what that comes to, rounded up, to the cost of the noise.
func keysOf(c KeyConfig, m Mechanism, noise dp.Cost, delta dp.Amount) (*KeyThreshold, error) {
	x, err := newCrossing(m, 1, c.GroupsPerUnit, delta.Float())
	if err != nil {
		return nil, err
	}
	used, err := dp.CeilFloat(x.any(1, c.GroupsPerUnit))
	if err != nil {
		return nil, err
	}
	noise.Delta = noise.Delta.Add(used)
	return &KeyThreshold{crossing: x, cost: noise}, nil
}

// largestAmount returns the largest amount up to most that fits, where all
// smaller ones do.
func largestAmount(most dp.Amount, fits func(dp.Amount) bool) dp.Amount {
	low, _ := root.Whole(0, most+1, fits)
	return low
}

// Cost is what releasing keys and counts costs, however many there are.
func (k *KeyThreshold) Cost() dp.Cost { return k.cost }

// Noise is the mechanism whose noise is added to the counts.
func (k *KeyThreshold) Noise() Mechanism { return k.noise }

// Threshold is the smallest noisy number of units that is released.
func (k *KeyThreshold) Threshold() int64 { return k.tau }

// Why says which noise was taken, and what the other would have done.
func (k *KeyThreshold) Why() string {
	if k.other == nil {
		return fmt.Sprintf("%s noise: threshold %d; there is no alternative in this budget", k.noise.Name(), k.tau)
	}
	return fmt.Sprintf("%s noise: threshold %d, against %d with %s noise", k.noise.Name(), k.tau, k.other.tau, k.other.noise.Name())
}

// KeptFrom returns a number of units from which on a group is released with
// probability at least 1 - beta.
func (k *KeyThreshold) KeptFrom(beta float64) int64 {
	// It is not released where the noise is below threshold - n. By symmetry
	// that is half of what is beyond n - threshold on either side.
	return addClamped(k.tau, k.noise.HalfWidth(2*beta))
}

// Key is a group that may be released.
type Key struct {
	// Index is the group's place in the vector of counts.
	Index int
	// Units is its noisy number of units.
	Units int64
}

// ReleaseKeys returns the groups that may be released, out of the exact numbers
// of units of all groups that have any. A group without units is never
// released: to release one from a list that is public, use Release.
//
// How many groups there were, and which place a released one had among them, is
// private. Look up the keys at these indices, sort them by key, and forget the
// indices; never show them or the order of the counts.
//
// The noise of all groups is drawn before the first count is looked at. How much
// that is depends on the number of groups, which is private too: whoever can
// time this function learns roughly how many groups there are.
func (r *Releaser) ReleaseKeys(counts Exact, k *KeyThreshold) []Key {
	noise := make([]int64, counts.Len())
	r.draw(counts, k.noise, noise)
	var kept []Key
	for i, n := range counts.Open() {
		if n > 0 && k.passes(n, noise[i]) {
			kept = append(kept, Key{i, addClamped(n, noise[i])})
		}
	}
	return kept
}

package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// errKeys is returned when group keys are asked for in a way that cannot be made private.
var errKeys = errors.New("these group keys cannot be released")

// KeyConfig says who is protected when group keys come from the data, and at what price.
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
	// Noise is "laplace" or "gaussian" where it has to be that, and empty where the lower
	// threshold decides.
	Noise string
}

// movedGroups is in how many groups the count of units can differ by one between neighbours.
func (c KeyConfig) movedGroups() int64 {
	if c.Neighbours == dp.Substitute {
		return 2 * int64(c.GroupsPerUnit)
	}
	return int64(c.GroupsPerUnit)
}

// maxGroupsPerUnit keeps every product with C far inside of an int64.
const maxGroupsPerUnit = 1 << 30

func (c KeyConfig) check() error {
	switch {
	case c.GroupsPerUnit < 1 || c.GroupsPerUnit > maxGroupsPerUnit:
		return fmt.Errorf("%w: a unit is in at least 1 and at most 2^30 groups, not %d; bound how many groups one unit can be in",
			errKeys, c.GroupsPerUnit)
	case c.Delta == 0:
		return fmt.Errorf("%w without a delta: a key that only one unit has betrays it; spend a delta such as 1e-6, or list the keys "+
			"in the policy", errKeys)
	case c.Delta >= dp.One:
		return fmt.Errorf("%w: a delta of %v promises nothing; spend one such as 1e-6", errKeys, c.Delta)
	case c.Epsilon > 0 && c.Rho > 0:
		return fmt.Errorf("%w on two budgets: give an epsilon or a rho", errKeys)
	case c.Noise != "" && c.Noise != "laplace" && c.Noise != "gaussian":
		return fmt.Errorf("%w with %s noise; use laplace or gaussian", errKeys, c.Noise)
	}
	return checkAmount(max(c.Epsilon, c.Rho))
}

// KeyThreshold releases the keys of groups whose noisy number of units is at or
// above a threshold, together with the noisy number.
//
// # Proof
//
// Let y be x with one unit more, and C0 of its C groups be new: nobody else is in them. Let E be
// the event that one of the new ones is released on y. The noise of the new groups is independent
// of that of the others, so given that E does not happen, y's release is a release of the same
// groups as x's, with noise on counts that differ by one in at most C - C0 of them. That costs what
// the noise was calibrated to. P(E) = 1 - (1-p)^C0 <= 1 - (1-p)^C <= delta, where p is the
// probability that a group of one unit is released. This is delta-approximate zCDP as Bun, Steinke
// 2016, Definition 8.1, have it, with the event on y's side. In epsilon: with A = P_y(S | not E),
//
//	P_y(S) <= P(E) + (1 - P(E)) A       <= delta + exp(epsilon) P_x(S)
//	P_x(S) <= P(E) P_x(S) + (1-P(E)) exp(epsilon) A <= delta + exp(epsilon) P_y(S).
//
// Under substitution both sides have such an event, each at most delta, and the noise is calibrated
// to 2C groups. With a = P_x(S | not E_x) and b likewise, a <= exp(epsilon) b,
//
//	P_x(S) - exp(epsilon) P_y(S) <= d_x + (1-d_x) a - (1-d_y) a <= max(d_x, d_y).
//
// Where the noise itself has a delta, it is added.
//
// The number that is compared with the threshold is the number that is released: S is any set of
// keys with their noisy numbers, and the proof draws the noise of a group once. So whoever wants
// keys and counts pays for one release of the counts, and not for a second one with noise of its
// own. What is released is the number plus noise, *given* that this passed. The noise of a group
// that is released is therefore not centred: P(|noise| > HalfWidth(beta)) <= beta holds of all
// groups together, those that are hidden too.
//
// (Korolova, Kenthapadi, Mishra, Ntoulas 2009; Wilson et al. 2020 for C groups.)
//
// # The edge
//
// Counts are whole, and the tail of the noise falls by a factor from one of them to the next: the
// lowest threshold leaves a part of delta unspent. So a noisy number of one less is released too,
// with a probability r, by a draw of its own: a function of the noisy number and of nothing else. A
// group of one unit is then released with probability p = (1-r) P(noise >= k) + r P(noise >= k-1),
// where k is what it takes to pass, and p is what the proof above is about. r is a multiple of
// 2^-63, and the draw has 63 bits.
type KeyThreshold struct {
	countThreshold
	edge  uint64 // r, in units of 2^-63
	cost  dp.Cost
	other *countThreshold // what was not chosen
}

// NewKeyThreshold calibrates noise and threshold. Laplace and Gaussian noise are compared where
// both can pay in the budget's currency, and the lower threshold is taken: a group with as many
// units as the threshold is released every other time.
//
// Laplace noise has to cover C groups in l1 and Gaussian noise in l2, that is, the square root of
// C. But the Laplace tail is the heavier one, and the Gaussian needs a share of delta where the
// budget is an epsilon. Why tells what came out.
func NewKeyThreshold(c KeyConfig) (*KeyThreshold, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Noise == "gaussian" {
		return gaussianKeys(c)
	}
	laplace, err := laplaceKeys(c)
	if err != nil || c.Noise == "laplace" {
		return laplace, err
	}
	gaussian, err := gaussianKeys(c)
	switch {
	case err != nil || laplace.tau <= gaussian.tau:
		if err == nil {
			laplace.other = &gaussian.countThreshold
		}
		return laplace, nil
	default:
		gaussian.other = &laplace.countThreshold
		return gaussian, nil
	}
}

func laplaceKeys(c KeyConfig) (*KeyThreshold, error) {
	m, err := c.laplace(dp.NewL1Each(big.NewInt(c.movedGroups()), big.NewInt(1)))
	if err != nil {
		return nil, err
	}
	return newKeyThreshold(c, m, m.Cost(), c.Delta)
}

func gaussianKeys(c KeyConfig) (*KeyThreshold, error) {
	m, cost, delta, err := c.gaussian(big.NewInt(c.movedGroups()))
	if err != nil {
		return nil, err
	}
	return newKeyThreshold(c, m, cost, delta)
}

// laplace is the Laplace noise that the budget buys for an l1 sensitivity.
func (c KeyConfig) laplace(d dp.Sensitivity) (*Laplace, error) {
	epsilon := c.Epsilon
	if c.Rho > 0 {
		epsilon = largestAmount(dp.One<<20, func(e dp.Amount) bool {
			rho, err := rhoOfLaplace(d, e)
			return err == nil && rho <= c.Rho
		})
	}
	return NewLaplace(d, epsilon)
}

// gaussian is the Gaussian noise that the budget buys for the square of an l2 sensitivity, what it
// costs, and how much delta is left for the threshold.
func (c KeyConfig) gaussian(d *big.Int) (m *Gaussian, cost dp.Cost, delta dp.Amount, err error) {
	if c.Rho > 0 {
		if m, err = NewGaussian(dp.NewL2Squared(d), c.Rho); err != nil {
			return nil, cost, 0, err
		}
		return m, m.Cost(), c.Delta, nil
	}
	// Half of delta for the noise, half for the threshold. Both halves are under
	// a logarithm, so that other shares hardly matter.
	own := c.Delta / 2
	rho := largestAmount(min(c.Epsilon, dp.One<<20), func(r dp.Amount) bool {
		return deltaOfRho(r, c.Epsilon) <= own.Float()
	})
	if m, err = NewGaussian(dp.NewL2Squared(d), rho); err != nil {
		return nil, cost, 0, err
	}
	// The noise alone is rho-zCDP, but not of the pair that its (epsilon, delta) claim is about,
	// and a cost claims both of one (dp.Cost). That pair has the rho of its epsilon.
	claimed, err := dp.CeilFloat(dp.RhoOfPure(c.Epsilon.Float()))
	return m, dp.Cost{Epsilon: c.Epsilon, Rho: claimed, Delta: own}, c.Delta - own, err
}

// newKeyThreshold puts the threshold where a group of one unit is released with a
// probability so small that it stays below delta for C groups together, and
// adds what that comes to, rounded up, to the cost of the noise.
func newKeyThreshold(c KeyConfig, m Mechanism, noise dp.Cost, delta dp.Amount) (*KeyThreshold, error) {
	x, err := newCountThreshold(m, 1, c.GroupsPerUnit, delta.Float())
	if err != nil {
		return nil, err
	}
	k := &KeyThreshold{countThreshold: x, cost: noise}
	alone := k.probabilityAlone()
	// The largest edge that delta pays for. Every one that is tried is compared with what it costs.
	k.edge, _ = numeric.BisectWhole(0, probabilityOne, func(edge uint64) bool {
		return probabilityOfAny(alone(edge), c.GroupsPerUnit) <= delta.Float()
	})
	used, err := dp.CeilFloat(probabilityOfAny(alone(k.edge), c.GroupsPerUnit))
	if err != nil {
		return nil, err
	}
	k.cost.Delta = k.cost.Delta.Add(used)
	return k, nil
}

// probabilityAlone returns an upper bound on the probability that a group of one unit is released,
// for any edge. The two tails are proven bounds, and rounding is paid for.
func (k *KeyThreshold) probabilityAlone() func(edge uint64) float64 {
	above, from := k.passProbability(1), countThreshold{k.noise, k.tau - 1}.passProbability(1)
	return func(edge uint64) float64 {
		if edge == 0 {
			return above
		}
		r := float64(edge) * 0x1p-63
		return math.Min(1, ((1-r)*above+r*from)*(1+0x1p-48))
	}
}

// keeps reports whether a group of n units is released with this noise and this draw.
func (k *KeyThreshold) keeps(n, noise int64, draw uint64) bool {
	return n > 0 && (k.passes(n, noise) || noise == k.leastNoise(n)-1 && draw < k.edge)
}

// largestAmount returns the largest amount up to most that fits, where all smaller ones do.
func largestAmount(most dp.Amount, fits func(dp.Amount) bool) dp.Amount {
	low, _ := numeric.BisectWhole(0, most+1, fits)
	return low
}

// Cost is what releasing keys and counts costs, however many there are.
func (k *KeyThreshold) Cost() dp.Cost { return k.cost }

// Noise is the mechanism whose noise is added to the counts.
func (k *KeyThreshold) Noise() Mechanism { return k.noise }

// Threshold is the smallest noisy number of units that is released for certain.
func (k *KeyThreshold) Threshold() int64 { return k.tau }

// EdgeProbability is the probability with which the number before that is released.
func (k *KeyThreshold) EdgeProbability() *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(k.edge), new(big.Int).SetUint64(probabilityOne))
}

// Reason says which noise was taken, and what the other would have done.
func (k *KeyThreshold) Reason() string {
	if k.other == nil {
		return fmt.Sprintf("%s noise: threshold %d", k.noise.Name(), k.tau)
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
	draws := make([]uint64, len(noise))
	r.drawEdges(draws)
	var kept []Key
	for i, n := range counts.Open() {
		if k.keeps(n, noise[i], draws[i]) {
			kept = append(kept, Key{i, addClamped(n, noise[i])})
		}
	}
	return kept
}

// countThreshold is a threshold on a noisy count. What is tested and what the tail is
// bounded for is the same number, least, so that the two cannot disagree on
// whether the threshold itself passes.
type countThreshold struct {
	noise Mechanism
	tau   int64
}

// leastNoise returns the smallest noise that lets a count of n pass. A count is
// never negative, and tau is positive, so that nothing can overflow.
func (c countThreshold) leastNoise(n int64) int64 { return c.tau - max(n, 0) }

// passes reports whether a count of n passes with this noise.
func (c countThreshold) passes(n, noise int64) bool { return noise >= c.leastNoise(n) }

// passProbability is an upper bound on the probability that a count of n passes: the noise is
// symmetric, so P(noise >= k) is half of P(|noise| > k-1) for k > 0. Halving is exact.
func (c countThreshold) passProbability(n int64) float64 {
	k := c.leastNoise(n)
	if k <= 0 {
		return 1
	}
	return c.noise.Tail(k-1) / 2
}

// anyPassProbability is an upper bound on the probability that one or more of k counts of n pass.
func (c countThreshold) anyPassProbability(n int64, k int) float64 {
	return probabilityOfAny(c.passProbability(n), k)
}

// probabilityOfAny is an upper bound on the probability that one or more of k independent events
// of probability p happen: 1 - (1-p)^k. Log1p and Expm1 are within a unit in the last place of
// their values, and neither loses digits where p is small.
func probabilityOfAny(p float64, k int) float64 {
	if p >= 1 {
		return 1
	}
	return math.Min(1, -math.Expm1(float64(k)*math.Log1p(-p))*(1+0x1p-48)+math.SmallestNonzeroFloat64)
}

// newCountThreshold returns the lowest threshold above n that k counts of n pass with a probability
// of at most beta. The tail is a proven upper bound for every threshold that is tried, so the one
// that is found holds, even if rounding should make it one too high.
func newCountThreshold(m Mechanism, n int64, k int, beta float64) (countThreshold, error) {
	at := func(tau int64) countThreshold { return countThreshold{m, tau} }
	// The union bound is enough up to rounding, for which one step more is.
	reach := m.HalfWidth(beta / float64(k))
	if reach > math.MaxInt64/4 {
		return countThreshold{}, fmt.Errorf("%w: the threshold would not fit in 64 bits; spend more", errKeys)
	}
	high := n + 2*reach + 2
	if at(high).anyPassProbability(n, k) > beta {
		return countThreshold{}, fmt.Errorf("%w: no threshold has a tail as small as %v; spend a larger delta", errKeys, beta)
	}
	_, tau := numeric.BisectWhole(n, high, func(tau int64) bool { return !(at(tau).anyPassProbability(n, k) <= beta) })
	return at(tau), nil
}

// deltaOfRho returns a delta such that whatever is rho-zCDP is (epsilon,
// delta)-differentially private. For every order a > 1,
//
//	delta = exp((a-1)(a rho - epsilon)) (1-1/a)^a/(a-1)
//
// is one (Canonne, Kamath, Steinke 2020, Proposition 12 with a rho as the Renyi divergence). A
// search finds a good order; that it is the best is of no importance to the claim.
func deltaOfRho(rho, epsilon dp.Amount) float64 {
	r, e := rho.Float(), epsilon.Float()
	if r == 0 {
		return 0
	}
	// log delta at the order 1 + exp(t), with the errors of all terms on top.
	at := func(t float64) float64 {
		b := math.Exp(t)
		a := 1 + b
		x, y, z := b*a*r, b*e, a*math.Log1p(1/b)
		return x - y - z - t + (x+y+z+math.Abs(t)+1)*0x1p-48
	}
	low, high := -12.0, 40.0
	for range 120 {
		third := (high - low) / 3
		if at(low+third) < at(high-third) {
			high -= third
		} else {
			low += third
		}
	}
	return math.Min(1, math.Exp(at(low))*(1+0x1p-48)+math.SmallestNonzeroFloat64)
}

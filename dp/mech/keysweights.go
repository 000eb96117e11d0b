package mech

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/sealed"
)

// KeyWeights releases the keys of groups whose noisy weight is at or above a threshold. It is for
// units that are in several groups each: a unit in few of them weighs more in each than one in
// many, and what a group has no need of any more goes to the other groups of the same units. The
// idea is that of Chen, Cohen-Addad, Epasto, Zadimoghaddam 2025 (MaxAdaptiveDegree), of which this
// is a variant in whole numbers, with a proof of its own.
//
// # What is added up
//
// All weights are whole numbers of small steps. A unit in d groups gives each of them a(d) tokens,
// of D steps each, and x(d) steps beside. Units come one after the other, in an order in which any
// two of them stand the same way whoever else is there. A group takes the tokens that come first, T
// of them; what comes later goes back to its unit. For every token that comes back, a unit gives
// one step to each of its groups. Units in more than W groups have no tokens, and D >= W.
//
// # How far one unit moves the weights
//
// Let y be x with a unit v more, in d groups, and a = a(d), N = d a.
//
// Tokens: in each of its groups, v's tokens stand in line, and move those of later units back by a
// places. So the group takes t more, 0 <= t <= a, and a - t more go back to v and to units after
// it; to nobody fewer. Let n be how many more go back, from all groups together: the t of all
// groups add up to N - n. Each of the n adds one step to each group of a unit that has at most D
// groups: a vector r with r(i) <= n and sum r(i) <= n D.
//
// So the weights rise by t(i) D + x in v's groups, and by r everywhere; nothing
// falls. In l1 that is at most
//
//	D (N - n) + d x + n D = D N + d x.
//
// In l2, squared: (t D + x)^2 is convex in t and so at most what is on the line
// between t = 0 and t = a, so its sum over v's groups is at most
// d x^2 + (N - n)(2 x D + a D^2). The sum of r(i)^2 is at most n times that of
// r(i), n^2 D. The mixed terms 2 r(i)(t(i) D + x) come to at most
// 2 n (D (N - n) + d x). The sum of the three is a polynomial in n, which is
// evaluated, in whole numbers, where it is largest between 0 and N, for every d.
// With D a little above W (see tokenSteps) that is at n = 0: to share costs
// nothing.
//
// Under substitution both databases are one and the same with a unit more. Both
// moves have no negative entry, so in l1 their difference is at most the sum, and
// its square in l2 at most the sum of the squares: twice the above.
//
// # Groups that are new
//
// Let v be alone in s of its d groups. They take all its tokens, because T >= a, so at most (d - s)
// a of them go back, and a new group weighs at most a D + x + (d - s) a. The probability that one
// of s such groups is released is computed for every d and s, or bounded by that of more groups of
// more weight, and the largest of them is within delta. The rest is the proof of KeyThreshold:
// given that no new group is released, both releases are of the same groups, with noise on weights
// that are no further apart than the noise is made for.
type KeyWeights struct {
	countThreshold
	cost           dp.Cost
	tokensByDegree []int64 // by degree, from 0 on
	extraSteps     []int64
	stepsPerToken  int64 // the steps of a token
	groupTokens    int64 // the tokens that a group takes
	why            string
}

const (
	// weightSteps is the weight of a unit that is in one group.
	weightSteps = 1 << 22
	// maxTokenGroups is in how many groups a unit may be to have tokens, and maxWeighedGroups in
	// how many one may be at all.
	maxTokenGroups   = 64
	maxWeighedGroups = 1 << 10
	// maxHiddenProbability is how often a group is hidden that has all tokens it takes.
	maxHiddenProbability = 0.001
)

// NewKeyWeights calibrates weights, noise and threshold. Weights of l1 with Laplace noise are
// compared with weights of l2 with Gaussian noise, and those are taken that
// release smaller groups of units which are in as many groups as they may be.
func NewKeyWeights(c KeyConfig) (*KeyWeights, error) { return newKeyWeights(c, weightSteps) }

func newKeyWeights(c KeyConfig, steps int64) (*KeyWeights, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.GroupsPerUnit > maxWeighedGroups {
		return nil, fmt.Errorf("%w by weight: a unit is in at most %d groups, not %d", errKeys, maxWeighedGroups, c.GroupsPerUnit)
	}
	var best *KeyWeights
	var failed error
	for _, norm := range []dp.Norm{dp.L2, dp.L1} {
		if c.Noise != "" && (c.Noise == "laplace") != (norm == dp.L1) {
			continue
		}
		k, err := newWeightsInNorm(c, norm, steps)
		switch {
		case err != nil:
			failed = err
		case best == nil || k.KeptFrom(0.05) < best.KeptFrom(0.05):
			best = k
		}
	}
	if best == nil {
		return nil, failed
	}
	return best, nil
}

// newWeightsInNorm makes the weights for one norm: those of a unit have a norm of so many steps,
// rounded down, of which the tokens are the part that has this norm in l1.
func newWeightsInNorm(c KeyConfig, norm dp.Norm, steps int64) (*KeyWeights, error) {
	k := &KeyWeights{tokensByDegree: make([]int64, c.GroupsPerUnit+1), extraSteps: make([]int64, c.GroupsPerUnit+1)}
	most := min(c.GroupsPerUnit, maxTokenGroups)
	k.stepsPerToken = tokenSteps(most, norm)
	for d := 1; d <= c.GroupsPerUnit; d++ {
		all := steps / int64(d)
		if d <= most {
			k.tokensByDegree[d] = all / k.stepsPerToken
			all = k.tokensByDegree[d] * k.stepsPerToken
		}
		if norm == dp.L2 {
			// The largest w with d w^2 <= steps^2.
			w := int64(sort.Search(int(steps), func(w int) bool {
				return new(big.Int).Mul(big.NewInt(int64(d)), square(int64(w+1))).Cmp(square(steps)) > 0
			}))
			all = max(all, w)
		}
		if k.extraSteps[d] = all - k.tokensByDegree[d]*k.stepsPerToken; all == 0 {
			return nil, fmt.Errorf("%w by weight: a unit in %d groups would weigh nothing", errKeys, d)
		}
	}
	sensitivity := k.sensitivityIn(norm)
	if c.Neighbours == dp.Substitute {
		sensitivity.Lsh(sensitivity, 1)
	}
	var delta dp.Amount
	if norm == dp.L1 {
		m, err := c.laplace(dp.NewL1(sensitivity))
		if err != nil {
			return nil, err
		}
		k.noise, k.cost, delta = m, m.Cost(), c.Delta
	} else {
		m, cost, left, err := c.gaussian(sensitivity)
		if err != nil {
			return nil, err
		}
		k.noise, k.cost, delta = m, cost, left
	}
	return k, k.setThreshold(delta)
}

// tokenSteps returns D for units that are in at most so many groups. In l1 it is that number: more
// would share less. In l2 let the weights be 1/sqrt(d) and the tokens 1/d of it, and m = n/N the
// part that goes back. The bound of KeyWeights is 1 at m = 0, and stays below where
//
//	(2 sqrt(d) - m)/D <= (2 sqrt(d) - 1)/d, so for D >= d + d/(2 sqrt(d) - 1),
//
// which rises with d. It is rounded up here, and what the bound really is is
// computed afterwards: nothing rests on it.
func tokenSteps(most int, norm dp.Norm) int64 {
	if norm == dp.L1 {
		return int64(most)
	}
	d := float64(most)
	return int64(math.Ceil(d + d/(2*math.Sqrt(d)-1)))
}

func square(x int64) *big.Int { return new(big.Int).Mul(big.NewInt(x), big.NewInt(x)) }

// sensitivityIn is how far one unit more moves the weights: in l1, or in l2 and squared.
func (k *KeyWeights) sensitivityIn(norm dp.Norm) *big.Int {
	most := new(big.Int)
	for d := 1; d < len(k.tokensByDegree); d++ {
		n := int64(d) * k.tokensByDegree[d]
		if norm == dp.L1 {
			if all := big.NewInt(n*k.stepsPerToken + int64(d)*k.extraSteps[d]); all.Cmp(most) > 0 {
				most = all
			}
			continue
		}
		// The polynomial in n is -D n^2 + b n + c: it is largest where n is near b/(2 D).
		at := func(back int64) *big.Int { return k.squaredMove(int64(d), back) }
		b := new(big.Int).Sub(at(1), at(0))
		b.Add(b, big.NewInt(k.stepsPerToken))
		b.Quo(b, big.NewInt(2*k.stepsPerToken))
		for near := int64(-1); near <= 1; near++ {
			back := int64(0)
			if x := new(big.Int).Add(b, big.NewInt(near)); x.Sign() > 0 {
				back = n
				if x.IsInt64() {
					back = min(n, x.Int64())
				}
			}
			if all := at(back); all.Cmp(most) > 0 {
				most = all
			}
		}
	}
	return most
}

// squaredMove is the bound in l2, squared, for a unit in d groups where so many more tokens go
// back.
func (k *KeyWeights) squaredMove(d, back int64) *big.Int {
	a, x, each := big.NewInt(k.tokensByDegree[d]), big.NewInt(k.extraSteps[d]), big.NewInt(k.stepsPerToken)
	n := big.NewInt(back)
	taken := new(big.Int).Sub(new(big.Int).Mul(big.NewInt(d), a), n)
	times := func(all ...*big.Int) *big.Int {
		p := big.NewInt(1)
		for _, f := range all {
			p.Mul(p, f)
		}
		return p
	}
	sum := times(big.NewInt(d), x, x)
	sum.Add(sum, times(taken, big.NewInt(2), x, each))
	sum.Add(sum, times(taken, a, each, each))
	sum.Add(sum, times(n, n, each))
	sum.Add(sum, times(big.NewInt(2), n, each, taken))
	return sum.Add(sum, times(big.NewInt(2*d), n, x))
}

// newGroups is a number of groups that are new, and what each weighs at most.
type newGroups struct {
	weight int64
	groups int
}

// newGroupCases are those that a unit can have. For units in more than a few groups, those of up to
// twice as many are taken together: as many as the most of them have, of what the fewest weigh.
func (k *KeyWeights) newGroupCases() []newGroups {
	const few = 8
	var all []newGroups
	last := len(k.tokensByDegree) - 1
	heaviest := func(d, alone int) int64 {
		return k.tokensByDegree[d]*(k.stepsPerToken+int64(d-alone)) + k.extraSteps[d]
	}
	for d := 1; d <= min(few, last); d++ {
		for alone := 1; alone <= d; alone++ {
			all = append(all, newGroups{heaviest(d, alone), alone})
		}
	}
	for from := few + 1; from <= last; from *= 2 {
		to, most := min(2*from-1, last), int64(0)
		for d := from; d <= to; d++ {
			most = max(most, heaviest(d, 1))
		}
		all = append(all, newGroups{most, to})
	}
	return all
}

// setThreshold puts the threshold where no unit's new groups are released but with probability
// delta, and adds what that comes to to the cost.
func (k *KeyWeights) setThreshold(delta dp.Amount) error {
	all, tau, used := k.newGroupCases(), int64(0), 0.0
	for _, f := range all {
		x, err := newCountThreshold(k.noise, f.weight, f.groups, delta.Float())
		if err != nil {
			return err
		}
		tau = max(tau, x.tau)
	}
	k.tau = tau
	for _, f := range all {
		used = math.Max(used, k.anyPassProbability(f.weight, f.groups))
	}
	charged, err := dp.CeilFloat(used)
	if err != nil {
		return err
	}
	k.cost.Delta = k.cost.Delta.Add(charged)
	k.groupTokens = addClamped(k.tau, k.noise.HalfWidth(2*maxHiddenProbability))/k.stepsPerToken + 1
	for _, a := range k.tokensByDegree {
		k.groupTokens = max(k.groupTokens, a) // it is, because a unit's weight is below the threshold
	}
	d := len(k.tokensByDegree) - 1
	one := float64(k.weight(1))
	k.why = fmt.Sprintf("%s noise: a person with one key weighs 1, and a person with %d keys %.3f in each, and more where others are "+
		"popular; "+
		"threshold %.1f", k.noise.Name(), d, float64(k.weight(d))/one, float64(k.tau)/one)
	return nil
}

// weight is what a unit in d groups weighs in each, where nothing goes back.
func (k *KeyWeights) weight(d int) int64 {
	return k.tokensByDegree[d]*k.stepsPerToken + k.extraSteps[d]
}

// Cost is what releasing the keys costs, however many there are.
func (k *KeyWeights) Cost() dp.Cost { return k.cost }

// Noise is the mechanism whose noise is added to the weights.
func (k *KeyWeights) Noise() Mechanism { return k.noise }

// StepsAlone is what a unit weighs that is in one group, up to rounding.
func (k *KeyWeights) StepsAlone() int64 { return k.weight(1) }

// Threshold is the smallest noisy weight that is released.
func (k *KeyWeights) Threshold() int64 { return k.tau }

// Reason says which weights were taken.
func (k *KeyWeights) Reason() string { return k.why }

// KeptFrom returns a number of units from which on a group is released with probability at least
// 1 - beta, where each of them is in as many groups as it may be and gets nothing
// back. With fewer groups a unit, or where others are popular, fewer units are enough.
func (k *KeyWeights) KeptFrom(beta float64) int64 {
	need := addClamped(k.tau, k.noise.HalfWidth(2*beta))
	d := len(k.tokensByDegree) - 1
	isKept := func(units int64) bool {
		return addClamped(min(units*k.tokensByDegree[d], k.groupTokens)*k.stepsPerToken, units*k.extraSteps[d]) >= need
	}
	most := int64(1) << 38
	if !isKept(most) {
		return math.MaxInt64
	}
	return int64(sort.Search(int(most), func(n int) bool { return isKept(int64(n)) }))
}

// Members are the groups that each unit is in, sealed.
type Members = sealed.Members

// MembersOf seals a copy of the groups that each unit is in. The order of units must be such that
// any two of them stand the same way whoever else is there: that of their names, say.
func MembersOf(units ...[]int32) Members {
	var groups []int32
	var ends []int
	for _, own := range units {
		groups = append(groups, own...)
		ends = append(ends, len(groups))
	}
	return sealed.SealMembers(groups, ends)
}

// weigh adds up the weights of so many groups, as KeyWeights says. Whatever it is
// given, a unit counts in a group once, and one that is in more groups than it
// may be counts nowhere: what the proof rests on holds here.
func (k *KeyWeights) weigh(m Members, groups int) Exact {
	weights, taken := make([]int64, groups), make([]int64, groups)
	var own []int32
	m.Each(func(all []int32) {
		own = append(own[:0], all...)
		slices.Sort(own)
		own = slices.Compact(own)
		d := len(own)
		if d == 0 || d >= len(k.tokensByDegree) || own[0] < 0 || int(own[d-1]) >= groups {
			return
		}
		a, back := k.tokensByDegree[d], int64(0)
		for _, g := range own {
			fit := min(a, k.groupTokens-taken[g])
			taken[g] += fit
			back += a - fit
		}
		for _, g := range own {
			weights[g] = min(weights[g]+k.extraSteps[d]+back, maxWeight)
		}
	})
	for g := range weights {
		weights[g] = min(weights[g]+taken[g]*k.stepsPerToken, maxWeight)
	}
	return sealed.Seal(weights)
}

// maxWeight is where a weight is cut off, which moves no two apart. One unit adds less than 2^31,
// and room for a group is less than 2^61 steps, so no sum overflows before.
const maxWeight = 1 << 61

// ReleaseWeighedKeys returns the groups that may be released, out of so many, of which units are in
// those that members says. What is said at ReleaseKeys of indices and of time holds here too. Units
// of a Key is the noisy weight, of which 2^22 steps are one unit that is in no other group.
func (r *Releaser) ReleaseWeighedKeys(members Members, groups int, k *KeyWeights) []Key {
	weights := k.weigh(members, groups)
	noise := make([]int64, groups)
	r.draw(weights, k.noise, noise)
	var kept []Key
	for i, n := range weights.Open() {
		if n > 0 && k.passes(n, noise[i]) {
			kept = append(kept, Key{i, addClamped(n, noise[i])})
		}
	}
	return kept
}

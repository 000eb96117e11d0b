package mech

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

// KeySelection releases keys and nothing but keys. Among all private ways of doing that it keeps
// every group with the largest probability (Desfontaines, Voss, Gipson 2020), up to rounding.
//
// With p(n) the probability that a group of n units is kept, privacy of one group is
//
//	p(n+1)     <= exp(e) p(n) + d
//	1 - p(n)   <= exp(e) (1 - p(n+1)) + d
//
// and the two with n and n+1 exchanged, which hold where p rises. p(0) = 0,
// because groups without units are not even known. The table starts there and
// takes every time the largest next probability that both allow.
//
// A unit is in C groups, so that a group gets e = epsilon/C and d = delta/C, or half of that under
// substitution, and the C groups compose to (epsilon, delta).
//
// Everything here is exact. The table is of integers in units of 2^-63, every entry rounded down
// before the next is made from it, which keeps both inequalities. In the place of exp(e) stands a
// rational that is not above it: the inequalities hold for a slightly smaller epsilon. A draw
// compares 63 random bits to an entry.
type KeySelection struct {
	keep []uint64 // keep[n] is p(n) in units of 2^-63; from the last one on it is 1
	rate *big.Rat // epsilon of one group
	sens dp.Sensitivity
	cost dp.Cost
}

const (
	// probabilityOne is how the probability 1 is written, in units of 2^-63.
	probabilityOne = 1 << 63
	// maxTableLen is eight megabytes, and groups of a million units that are
	// kept with a probability other than 1.
	maxTableLen = 1 << 20
)

// NewKeySelection makes the table for an epsilon and a delta.
func NewKeySelection(c KeyConfig) (*KeySelection, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Rho > 0 {
		return nil, fmt.Errorf("%w on a budget of rho: selection needs an epsilon, whose cost in rho is in its Cost", errKeys)
	}
	groups := big.NewRat(c.movedGroups(), 1)
	k := &KeySelection{rate: new(big.Rat).Quo(c.Epsilon.Rat(), groups), sens: dp.NewL1(big.NewInt(c.movedGroups()))}
	var err error
	if k.cost, err = selectionCost(c, k.rate); err != nil {
		return nil, err
	}
	d := new(big.Rat).Quo(c.Delta.Rat(), groups)
	k.keep, err = selectionTable(k.rate, d)
	return k, err
}

// selectionCost: any pair of outputs that is (e, d)-close is made from randomized response of e
// that fails with probability d (Kairouz, Oh, Viswanath 2015), which is d-approximate zCDP with e
// tanh(e/2). The groups of one unit are independent and add up.
func selectionCost(c KeyConfig, rate *big.Rat) (dp.Cost, error) {
	e, _ := rate.Float64()
	rho, err := dp.CeilFloat(float64(c.movedGroups()) * dp.RhoOfPure(e) * (1 + 0x1p-50))
	return dp.Cost{Epsilon: c.Epsilon, Rho: rho, Delta: c.Delta}, err
}

func selectionTable(rate, delta *big.Rat) ([]uint64, error) {
	one := big.NewInt(0).SetUint64(probabilityOne)
	d := new(big.Int).Mul(delta.Num(), one)
	d.Quo(d, delta.Denom())
	if d.Sign() == 0 {
		return nil,
			fmt.Errorf("%w: the delta is too small to be shared by so many groups; spend a larger delta or allow fewer "+
				"groups per unit", errKeys)
	}
	growth := expBelow(rate)
	keep := []uint64{0}
	p, up, down, almost := new(big.Int), new(big.Int), new(big.Int), new(big.Int).Sub(growth, big.NewInt(1))
	for p.Cmp(one) < 0 {
		if len(keep) > maxTableLen {
			return nil,
				fmt.Errorf("%w: groups of a million units would not be kept for certain; spend a larger epsilon, or "+
					"use a threshold", errKeys)
		}
		// exp(e) p + d, rounded down.
		up.Mul(growth, p)
		up.Rsh(up, expBits).Add(up, d)
		// 1 - exp(-e) (1 - p - d), with the last term rounded up.
		down.Sub(one, p)
		down.Sub(down, d)
		if down.Sign() <= 0 {
			down.Set(one)
		} else {
			down.Lsh(down, expBits)
			down.Add(down, almost).Quo(down, growth)
			down.Sub(one, down)
		}
		if down.Cmp(up) < 0 {
			up.Set(down)
		}
		if up.Cmp(one) > 0 {
			up.Set(one)
		}
		p.Set(up)
		keep = append(keep, p.Uint64())
	}
	return keep, nil
}

const expBits = 128

// expBelow returns a number not above exp(x), in units of 2^-128, and close to it up to x = 40. The
// argument is halved until it is small, its series, of which all terms are positive, is cut off,
// and the result squared as often; all is rounded down.
func expBelow(x *big.Rat) *big.Int {
	if most := big.NewRat(40, 1); x.Cmp(most) > 0 {
		x = most // 2^-57 is left of what was 1; nothing is won beyond
	}
	const bits, halvings = expBits + 64, 10
	y := new(big.Int).Lsh(x.Num(), bits-halvings)
	y.Quo(y, x.Denom())
	term := new(big.Int).Lsh(big.NewInt(1), bits)
	sum := new(big.Int).Set(term)
	for n := int64(1); term.Sign() > 0; n++ {
		term.Mul(term, y).Rsh(term, bits)
		term.Quo(term, big.NewInt(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum).Rsh(sum, bits)
	}
	return sum.Rsh(sum, bits-expBits)
}

// Cost is what selecting keys costs, however many there are.
func (k *KeySelection) Cost() dp.Cost { return k.cost }

// Probability returns the exact probability that a group of n units is kept.
func (k *KeySelection) Probability(n int64) *big.Rat {
	p := new(big.Int).SetUint64(k.keepProbability(n))
	return new(big.Rat).SetFrac(p, new(big.Int).SetUint64(probabilityOne))
}

func (k *KeySelection) keepProbability(n int64) uint64 {
	return k.keep[max(0, min(n, int64(len(k.keep)-1)))]
}

// KeptFrom returns the number of units from which on a group is kept with
// probability at least 1 - beta.
func (k *KeySelection) KeptFrom(beta float64) int64 {
	for n := range k.keep {
		if 1-math.Ldexp(float64(k.keep[n]), -63) <= beta {
			return int64(n)
		}
	}
	return int64(len(k.keep) - 1)
}

// SelectKeys returns the indices of the groups that are kept, out of the exact
// numbers of units of all groups. All that is said of the indices at
// ReleaseKeys holds here: sort the keys, and forget the indices. The keys cost
// what the selection costs; counts of the groups that were kept cost extra.
//
// All randomness is drawn before the first count is looked at.
func (r *Releaser) SelectKeys(counts Exact, k *KeySelection) []int {
	drawn := make([]uint64, counts.Len())
	r.drawUniform(counts, k, drawn)
	var kept []int
	for i, n := range counts.Open() {
		if drawn[i] < k.keepProbability(n) {
			kept = append(kept, i)
		}
	}
	return kept
}

// drawEdges draws 63 bits for each group of a threshold.
func (r *Releaser) drawEdges(out []uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range out {
		out[i] = noise.Uniform(r.src, probabilityOne)
	}
}

func (r *Releaser) drawUniform(x Exact, k *KeySelection, out []uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range out {
		out[i] = noise.Uniform(r.src, probabilityOne)
	}
	if r.record != nil {
		r.record(Call{Mechanism: "key selection", Parameter: new(big.Rat).Set(k.rate), Sensitivity: k.sens, Values: x})
	}
}

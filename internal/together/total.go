package together

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/mech"
)

// total is a sum of noisy numbers, each times a factor: its value, and what is known of its error.
type total struct {
	value *big.Rat
	terms []term
	off   *big.Rat // by how much more it may be off than its noises say
}

// term is a noise that is in a total, in units of the answer.
type term struct {
	noise  api.Noises
	weight *big.Rat // above 0
}

func newTotal() *total { return &total{value: new(big.Rat), off: new(big.Rat)} }

// most is how many different noises one number may have, and noises how many there may be.
const (
	maxTerms  = 64
	maxNoises = 1 << 24
)

var errNumber = errors.New("a number has no noise that could be")

// add adds a noisy number times a factor.
func (t *total) add(n api.NoisyNumber, factor *big.Rat) error {
	step, err := readFraction(n.Step)
	if err != nil || step.Sign() <= 0 || n.Off < 0 || len(n.Noise) > maxTerms {
		return errNumber
	}
	weight := new(big.Rat).Mul(step, factor)
	t.value.Add(t.value, new(big.Rat).Mul(weight, new(big.Rat).SetInt64(n.Value)))
	// Noise is symmetric, so the sign of a factor does not matter.
	if weight.Abs(weight).Sign() == 0 {
		return nil
	}
	t.off.Add(t.off, new(big.Rat).Mul(weight, new(big.Rat).SetInt64(n.Off)))
	for _, noise := range n.Noise {
		if noise.Count < 1 || noise.Count > maxNoises {
			return errNumber
		}
		if _, err := mechanism(noise); err != nil {
			return err
		}
		t.put(noise, weight)
	}
	return nil
}

// put adds noises, to those that are of the same law: many noises of one weight have a sharper
// bound than of many.
func (t *total) put(n api.Noises, weight *big.Rat) {
	for i, at := range t.terms {
		if at.noise.Mechanism == n.Mechanism && at.noise.Parameter == n.Parameter && at.weight.Cmp(weight) == 0 {
			t.terms[i].noise.Count += n.Count
			return
		}
	}
	t.terms = append(t.terms, term{n, weight})
}

func mechanism(n api.Noises) (mech.Mechanism, error) {
	parameter, err := readFraction(n.Parameter)
	if err != nil {
		return nil, err
	}
	m, err := mech.NewDescribed(n.Mechanism, parameter)
	if err != nil {
		return nil, errNumber // in words that say nothing about budgets, which are the server's
	}
	return m, nil
}

// finest is how many units the smallest weight has, and largest the most that any has, where
// weights have no common unit that is large enough. Weights are rounded up then: noise that is
// multiplied by more reaches further.
const (
	minWeightUnits = 1 << 12
	maxWeightUnits = 1 << 24
)

// halfWidths computes half widths, and remembers them: rows of an answer have the same noise.
type halfWidths map[string]*big.Rat

// of is a half width that the total is within, but with probability beta; nil where it is beyond
// what can be computed.
func (h halfWidths) of(t *total, beta float64) (*big.Rat, error) {
	if len(t.terms) == 0 {
		return t.off, nil
	}
	key := fmt.Sprint(beta, " ", t.off.RatString())
	weights := make([]*big.Rat, len(t.terms))
	for i, x := range t.terms {
		weights[i] = x.weight
		key += fmt.Sprint(" ", x.noise, x.weight.RatString())
	}
	if half, ok := h[key]; ok {
		return half, nil
	}
	unit := greatestCommonFraction(weights)
	most := slices.MaxFunc(weights, (*big.Rat).Cmp)
	if new(big.Rat).Quo(most, unit).Cmp(big.NewRat(maxWeightUnits, 1)) > 0 {
		least := slices.MinFunc(weights, (*big.Rat).Cmp)
		unit = new(big.Rat).Quo(least, big.NewRat(minWeightUnits, 1))
		if coarse := new(big.Rat).Quo(most, big.NewRat(maxWeightUnits, 1)); coarse.Cmp(unit) > 0 {
			unit = coarse
		}
	}
	terms := make([]mech.Term, len(t.terms))
	for i, x := range t.terms {
		m, err := mechanism(x.noise)
		if err != nil {
			return nil, err
		}
		terms[i] = mech.Term{Mechanism: m, Count: x.noise.Count, Weight: ceilRat(new(big.Rat).Quo(x.weight, unit))}
	}
	steps, err := mech.HalfWidthOfSum(beta, terms...)
	if err != nil {
		return nil, err
	}
	var half *big.Rat
	if steps < math.MaxInt64 {
		half = new(big.Rat).Mul(unit, new(big.Rat).SetInt64(steps))
		half.Add(half, t.off)
	}
	h[key] = half
	return half, nil
}

// ceilRat is the least whole number that is not below r, which is small.
func ceilRat(r *big.Rat) int64 {
	n := new(big.Int).Add(r.Num(), new(big.Int).Sub(r.Denom(), big.NewInt(1)))
	return n.Quo(n, r.Denom()).Int64()
}

// joinNames joins names for a sentence.
func joinNames(names []string) string { return strings.Join(names, ", ") }

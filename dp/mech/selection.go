package mech

import (
	"errors"
	"fmt"
	"math/big"
	"sort"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

// Selector is a calibrated way of choosing one of several public candidates by their exact scores.
// Selectors are made by this package only and are immutable, so they may be shared.
type Selector interface {
	// Name is "exponential", "permute-and-flip", "noisy max, laplace" or "noisy max, geometric".
	Name() string
	// Scoring is how the scores may move, as the selector was calibrated.
	Scoring() Scoring
	// Cost is what one selection costs, however many candidates there are.
	Cost() dp.Cost
	// Parameter is the exact b, the score that a factor of e in probability is
	// worth, in lattice steps: 2D/epsilon, or D/epsilon for monotone scores.
	Parameter() *big.Rat
	// Gap returns a g such that, among so many candidates, the chosen one's score is at most g
	// below the best with probability at least 1 - beta. It is never too small.
	Gap(candidates int, beta float64) int64

	// pick returns the index of the chosen one of at least one candidate.
	pick(src *noise.Source, scores []int64) int
}

// Select returns the index of the candidate that m chooses by its score. A score is better the
// higher it is: where closeness to a target counts, it is minus the distance.
//
// The promise of m's Cost holds provided that the set of candidates is public and the scores move
// between neighbouring databases as m.Scoring() says. Proving that is the caller's part. The chosen
// one's score is not part of the answer; whoever wants it releases it, with noise of its own.
//
// Nothing is drawn where there is an error, and no error depends on a score.
func (r *Releaser) Select(scores Exact, m Selector) (int, error) {
	if scores.Len() == 0 {
		return 0, errNoCandidates
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.record != nil {
		r.record(Call{Mechanism: m.Name(), Parameter: m.Parameter(), Scoring: m.Scoring(), Values: scores})
	}
	return m.pick(r.src, scores.Open()), nil
}

// Scoring says how the scores of a selection move between neighbouring databases.
// It is a promise of the caller, like the sensitivity of a release.
type Scoring struct {
	// Sensitivity bounds, in lattice steps, how far each score moves. There is
	// no factor for the number of scores.
	Sensitivity int64
	// Monotone promises that between neighbours all scores move the same way, or
	// stay. Counts under add-remove do: a person more lowers none of them. Under
	// substitution one count can fall while another rises, and they do not.
	Monotone bool
}

func (s Scoring) String() string {
	if s.Monotone {
		return fmt.Sprintf("%d (each score, monotone)", s.Sensitivity)
	}
	return fmt.Sprintf("%d (each score)", s.Sensitivity)
}

var (
	// errScoring is returned when scores are declared that nobody's data could
	// move, or that move backwards.
	errScoring = errors.New("a selection needs the sensitivity of its scores, a positive integer: write 1 for counts of people")
	// errNoCandidates is returned when there is nothing to choose from.
	errNoCandidates = errors.New("there is nothing to choose from: give at least one candidate")
)

// width returns b, the score that a factor of e in probability is worth:
// 2D/epsilon, or D/epsilon for monotone scores.
//
// Between neighbours the best score and a candidate's own can move by D each. In
// opposite directions that makes 2D, and in the same direction D: this is all
// that monotone means to the proofs below.
func (s Scoring) width(epsilon dp.Amount) (*big.Rat, error) {
	if s.Sensitivity <= 0 {
		return nil, errScoring
	}
	if err := checkAmount(epsilon); err != nil {
		return nil, err
	}
	b := new(big.Rat).SetInt64(s.Sensitivity)
	if !s.Monotone {
		b.Mul(b, big.NewRat(2, 1))
	}
	return b.Quo(b, epsilon.Rat()), nil
}

// rhoOfPure is the zCDP cost of whatever is purely epsilon-private, in whole units.
func rhoOfPure(epsilon dp.Amount) (dp.Amount, error) {
	return dp.CeilFloat(dp.RhoOfPure(epsilon.Float()))
}

// rhoOfBoundedRange is the zCDP cost of a mechanism whose privacy loss, between any two neighbours,
// takes values in an interval of length epsilon: epsilon^2/8, rounded up (Cesar, Rogers 2021), by
// Hoeffding's lemma. Such a mechanism is purely epsilon-private too, because the interval holds
// zero, and beyond epsilon = 8 that bound is the smaller one.
func rhoOfBoundedRange(epsilon dp.Amount) (dp.Amount, error) {
	pure, err := rhoOfPure(epsilon)
	if err != nil {
		return 0, err
	}
	square := new(big.Rat).Mul(epsilon.Rat(), epsilon.Rat())
	if rho, err := dp.Ceil(square.Quo(square, big.NewRat(8, 1))); err == nil {
		return min(rho, pure), nil
	}
	return pure, nil // the square is too large to be an amount
}

// gapsBelow returns how far each score is below the best one. That fits for all
// int64, so no score is out of range.
func gapsBelow(scores []int64) []uint64 {
	best := scores[0]
	for _, s := range scores {
		best = max(best, s)
	}
	gaps := make([]uint64, len(scores))
	for i, s := range scores {
		gaps[i] = uint64(best) - uint64(s)
	}
	return gaps
}

// Currency is the claim of [dp.Cost] that an account counts.
type Currency int

const (
	// Pure budgets count epsilon.
	Pure Currency = iota + 1
	// Concentrated budgets count rho, in zCDP.
	Concentrated
)

// ErrCurrency is returned when a mechanism is to be calibrated to another kind of budget.
var ErrCurrency = errors.New("a budget is Pure (epsilon) or Concentrated (rho)")

// boundedRange returns the largest epsilon for which a mechanism of bounded range
// costs at most the amount.
func (b Currency) boundedRange(amount dp.Amount) (dp.Amount, error) {
	if err := checkAmount(amount); err != nil {
		return 0, err
	}
	switch b {
	case Pure:
		return amount, nil
	case Concentrated:
		pure, err := b.pure(amount)
		if err != nil {
			return 0, err
		}
		// In units of 2^-40: epsilon^2 <= 8 rho 2^40. The root is rounded down, and
		// then epsilon^2/8 rounded up is at most rho.
		square := new(big.Int).SetUint64(uint64(amount))
		root := square.Sqrt(square.Lsh(square, 43))
		if !root.IsUint64() {
			return 0, dp.ErrAmount
		}
		return max(pure, dp.Amount(root.Uint64())), nil
	}
	return 0, ErrCurrency
}

// pure returns the largest epsilon for which any pure mechanism costs at most the amount.
func (b Currency) pure(amount dp.Amount) (dp.Amount, error) {
	if err := checkAmount(amount); err != nil {
		return 0, err
	}
	switch b {
	case Pure:
		return amount, nil
	case Concentrated:
		// tanh(epsilon/2) is above 1/2 from epsilon = 2 on, so the largest epsilon is
		// below 2, or at most 2 rho.
		high := 2*uint64(amount) + 4*uint64(dp.One)
		i := sort.Search(int(min(high, 1<<62)), func(i int) bool {
			rho, err := rhoOfPure(dp.Amount(i))
			return err != nil || rho > amount
		})
		if i <= 1 {
			return 0, ErrNoPrivacy
		}
		return dp.Amount(i - 1), nil
	}
	return 0, ErrCurrency
}

// ChooseSelector returns the selector that an amount of a budget buys the larger epsilon, of equals
// permute-and-flip, and a sentence that says why. It reads public numbers only.
//
// At the same epsilon permute-and-flip is never worse than the exponential mechanism (McKenna,
// Sheldon 2020). A pure budget charges both the same, so it is the choice. A concentrated budget
// charges the exponential mechanism epsilon^2/8 only, which buys it up to twice the epsilon. Where
// it buys no more, from rho = 8 on, permute-and-flip is the choice again.
func ChooseSelector(b Currency, amount dp.Amount, s Scoring) (m Selector, why string, err error) {
	pure, err := b.pure(amount)
	if err != nil {
		return nil, "", err
	}
	ranged, err := b.boundedRange(amount)
	if err != nil {
		return nil, "", err
	}
	if ranged > pure {
		if m, err = NewExponential(s, ranged); err != nil {
			return nil, "", err
		}
		return m,
			fmt.Sprintf("exponential mechanism with epsilon %s: rho %s buys permute-and-flip only an epsilon of %s, because the "+
				"exponential mechanism costs epsilon^2/8 and any other pure mechanism epsilon tanh(epsilon/2)",
				ranged.Short(), amount.Short(), pure.Short()), nil
	}
	if m, err = NewPermuteAndFlip(s, pure); err != nil {
		return nil, "", err
	}
	return m,
		fmt.Sprintf("permute-and-flip with epsilon %s: this budget buys the exponential mechanism the same epsilon, and permute-and-flip "+
			"is never worse", pure.Short()), nil
}

// TopK chooses k candidates, best first: one selection, then another among those
// that are left, and so on. The order is part of the answer.
//
// With [NewExponential] this is also the one-shot form: whoever adds Gumbel noise of
// scale b to every score once, and reports the k highest in order, reports what k
// rounds of the exponential mechanism would (Durfee, Rogers 2019). The
// rounds are sampled exactly here, so there is no need for the noise.
type TopK struct {
	k    int
	each Selector
	cost dp.Cost
}

// errTop is returned when a number of candidates is asked for that there is not.
var errTop = errors.New("cannot choose that many candidates")

// maxTopK keeps the price of k selections from being computed for ever.
const maxTopK = 1 << 20

// NewTopK chooses k times with each. What is chosen in one round is the public set of the next one,
// so the costs add up under adaptive composition: k epsilon, or k rho. Leaving out a candidate
// moves no other score, so what Scoring promises stays true from round to round.
func NewTopK(k int, each Selector) (*TopK, error) {
	if k < 1 || k > maxTopK {
		return nil, fmt.Errorf("%w: %d; write a number from 1 to the number of candidates, and at most %d", errTop, k, maxTopK)
	}
	t := &TopK{k: k, each: each}
	for range k {
		t.cost = t.cost.Add(each.Cost())
	}
	return t, nil
}

// Name says how many are chosen and how.
func (t *TopK) Name() string { return fmt.Sprintf("top %d, %s", t.k, t.each.Name()) }

// Selector returns the selector of one round.
func (t *TopK) Selector() Selector { return t.each }

// Cost returns the cost of all k rounds.
func (t *TopK) Cost() dp.Cost { return t.cost }

// SelectTop returns the indices of the k candidates that t chooses, in the order in which it
// chooses them. For what that promises see [Releaser.Select].
func (r *Releaser) SelectTop(scores Exact, t *TopK) ([]int, error) {
	switch n := scores.Len(); {
	case n == 0:
		return nil, errNoCandidates
	case n < t.k:
		return nil, fmt.Errorf("%w: %d of %d; choose at most all of them", errTop, t.k, n)
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

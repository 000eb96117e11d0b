package mech

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
)

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
	// ErrScoring is returned when scores are declared that nobody's data could
	// move, or that move backwards.
	ErrScoring = errors.New("a selection needs the sensitivity of its scores, a positive integer: write 1 for counts of people")
	// ErrNoCandidates is returned when there is nothing to choose from.
	ErrNoCandidates = errors.New("there is nothing to choose from: give at least one candidate")
)

// width returns b, the score that a factor of e in probability is worth:
// 2D/epsilon, or D/epsilon for monotone scores.
//
// Between neighbours the best score and a candidate's own can move by D each. In
// opposite directions that makes 2D, and in the same direction D: this is all
// that monotone means to the proofs below.
func (s Scoring) width(epsilon dp.Amount) (*big.Rat, error) {
	if s.Sensitivity <= 0 {
		return nil, ErrScoring
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

// rhoOfBoundedRange is the zCDP cost of a mechanism whose privacy loss, between any
// two neighbours, takes values in an interval of length epsilon: epsilon^2/8,
// rounded up (Cesar, Rogers 2021), by Hoeffding's lemma. Such a mechanism is
// purely epsilon-private too, because the interval holds zero, and beyond epsilon
// = 8 that bound is the smaller one.
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

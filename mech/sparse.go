package mech

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// ErrSparse is returned when a sparse vector is asked for that does not exist.
var ErrSparse = errors.New("not a sparse vector")

// SparseConfig says what a session of the sparse vector technique is to answer
// and what it may cost.
type SparseConfig struct {
	// Sensitivity bounds, in l1, how far the value of any one question moves
	// between neighbours.
	Sensitivity dp.Sensitivity
	// Above is c: how many questions are answered with "above" before the
	// session ends. 1 is AboveThreshold.
	Above int
	// Epsilon is what the comparisons cost, all of them together.
	Epsilon dp.Amount
	// Values is what noisy values cost besides: with every "above" comes the
	// value, with noise of its own. 0 means none.
	Values dp.Amount
	// Monotone promises that between any two neighbours the values of all
	// questions move the same way, as counts do when a person is added. It halves
	// the noise of the questions. It is false for substitution.
	Monotone bool
	// Refresh draws new noise for the threshold after every "above". In epsilon
	// that is worse than one noise for all, and in rho better from a few
	// answers on: see Cost.
	Refresh bool
}

// Sparse is a calibrated session of the sparse vector technique: any number of
// questions "is this value at or above this threshold?", of which only the
// first c that are answered "above" cost something.
//
// It is Algorithm 7 of Lyu, Su, Li 2017, on the integers. Z is noise on the
// threshold, drawn once, N_i is noise of question i, and the answer is "above"
// where
//
//	value_i + N_i >= threshold_i + Z.
//
// The session ends with the c-th "above". With D the sensitivity,
//
//	Z    Laplace of scale D/e1
//	N_i  Laplace of scale 2cD/e2, or cD/e2 where the questions are monotone
//	V_i  Laplace of scale cD/e3, added to the value that is released
//
// # Proof of e1 + e2 + e3
//
// Lyu, Su, Li 2017 have it for noise that has a density. Here is the argument on
// the integers. Fix neighbours x and y, and a transcript; it says
// which questions were asked, because a question depends on earlier answers and
// on the analyst. Write z for the value of Z. Given z the answers are
// independent, so
//
//	P_x(transcript) = sum over z of P(Z = z) product of P_x(answer_i | z).
//
// Compare the term of z for x with the term of z + D for y. D is an integer, so
// z -> z + D is a bijection of the integers, and it suffices to compare terms.
//
//   - P(Z = z) <= exp(e1) P(Z = z + D).
//   - "below" is N < threshold + z - value. It needs less on y at z + D, because
//     y's value is at most D higher. So its probability on y is not smaller,
//     and however many there are they cost nothing.
//   - "above" is N >= m with m = threshold + z - value. On y at z + D it is N >= m'
//     with m' <= m + 2D. P(N >= m) <= exp(2D/scale) P(N >= m + 2D) for every
//     integer m, because it holds for P(N = k), term by term. That is exp(e2/c).
//     There are at most c of these: exp(e2).
//   - A released value is at most c times a Laplace release of sensitivity D and
//     epsilon e3/c, with noise that was used for nothing else.
//
// Monotone: where all values of y are at or above those of x, m' <= m + D, and
// half the noise does. Where they are at or below, leave z as it is: "below"
// needs less on y, and "above" needs at most D more.
//
// Where ">=" is replaced by ">" nothing changes: on the integers a > b is a >=
// b + 1, and b + 1 is another threshold.
//
// # Refreshed
//
// With Refresh the session is c sessions of AboveThreshold one after the other,
// each of (e1 + e2 + e3)/c: the scales are cD/e1, 2cD/e2 and cD/e3.
type Sparse struct {
	config                         SparseConfig
	e1, e2                         dp.Amount
	cost                           dp.Cost
	threshold, query, value        *noise.Laplace
	thresholdLaw, queryLaw, valLaw laplaceLaw
}

// NewSparse calibrates a session. Nothing is drawn and nothing is charged: that
// is for whoever opens it, with the Cost that is known here.
func NewSparse(c SparseConfig) (*Sparse, error) {
	if c.Sensitivity.Norm() != dp.L1 {
		return nil, fmt.Errorf("%w: the sparse vector needs l1, not %v", ErrNorm, c.Sensitivity)
	}
	if c.Above < 1 {
		return nil, fmt.Errorf("%w: it ends before it begins where it may answer \"above\" %d times; ask for 1 or more", ErrSparse, c.Above)
	}
	if err := checkAmount(c.Epsilon); err != nil {
		return nil, err
	}
	if c.Values == dp.Unbounded {
		return nil, checkAmount(c.Values)
	}
	e1, e2, err := splitSparse(c)
	if err != nil {
		return nil, err
	}
	s := &Sparse{config: c, e1: e1, e2: e2}
	if s.cost, err = sparseCost(c); err != nil {
		return nil, err
	}
	moves, thresholds := int64(2), 1
	if c.Monotone {
		moves = 1
	}
	if c.Refresh {
		thresholds = c.Above
	}
	if s.threshold, s.thresholdLaw, err = sparseNoise(c.Sensitivity, 1, thresholds, e1); err != nil {
		return nil, err
	}
	if s.query, s.queryLaw, err = sparseNoise(c.Sensitivity, moves, c.Above, e2); err != nil {
		return nil, err
	}
	if c.Values > 0 {
		s.value, s.valLaw, err = sparseNoise(c.Sensitivity, 1, c.Above, c.Values)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// sparseNoise returns Laplace noise of the exact scale moves times D/epsilon.
func sparseNoise(d dp.Sensitivity, moves int64, times int, epsilon dp.Amount) (*noise.Laplace, laplaceLaw, error) {
	scale := new(big.Rat).SetInt(d.L1())
	scale.Mul(scale, new(big.Rat).SetInt64(moves))
	scale.Mul(scale, new(big.Rat).SetInt64(int64(times)))
	scale.Quo(scale, epsilon.Rat())
	if err := checkScale(scale, smallestScale, largestScale); err != nil {
		return nil, laplaceLaw{}, err
	}
	l, err := noise.NewLaplace(scale)
	if err != nil {
		return nil, laplaceLaw{}, fmt.Errorf("%w: %w", ErrScale, err)
	}
	return l, newLaplaceLaw(scale), nil
}

// Cost is what a session costs, in full and whatever it is asked: it is to be
// charged before the session is opened, because how many answers a session has
// left is something that private data had a say in.
func (s *Sparse) Cost() dp.Cost { return s.cost }

// Sensitivity is what the noise was calibrated to.
func (s *Sparse) Sensitivity() dp.Sensitivity { return s.config.Sensitivity }

// Split says how the epsilon of Cost is shared by the threshold, the questions
// and the values. The three add up to it exactly.
func (s *Sparse) Split() (threshold, questions, values dp.Amount) {
	return s.e1, s.e2, s.config.Values
}

// Parameters returns the exact scales of the noise of the threshold, of a
// question and, where there are values, of a value.
func (s *Sparse) Parameters() (threshold, question, value *big.Rat) {
	if s.value != nil {
		value = s.value.Scale()
	}
	return s.threshold.Scale(), s.query.Scale(), value
}

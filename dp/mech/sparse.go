package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

// errSparse is returned when a sparse vector is asked for that does not exist.
var errSparse = errors.New("not a sparse vector")

// SparseConfig says what a session of the sparse vector technique is to answer
// and what it may cost.
type SparseConfig struct {
	// Sensitivity bounds, in l1, how far the value of any one question moves between neighbours.
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
	// Refresh draws new noise for the threshold after every "above". In epsilon that is worse than
	// one noise for all, and in rho better from a few answers on: see Cost.
	Refresh bool
}

// Sparse is a calibrated session of the sparse vector technique: any number of
// questions "is this value at or above this threshold?", of which only the
// first c that are answered "above" cost something.
//
// It is Algorithm 7 of Lyu, Su, Li 2017, on the integers. Z is noise on the threshold, drawn once,
// N_i is noise of question i, and the answer is "above" where
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
// Lyu, Su, Li 2017 have it for noise that has a density. Here is the argument on the integers. Fix
// neighbours x and y, and a transcript; it says which questions were asked, because a question
// depends on earlier answers and on the analyst. Write z for the value of Z. Given z the answers
// are independent, so
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
		return nil, fmt.Errorf("%w: the sparse vector needs l1, not %v", errNorm, c.Sensitivity)
	}
	if c.Above < 1 {
		return nil, fmt.Errorf("%w: with at most %d answers \"above\" it would end before it begins; ask for 1 or more", errSparse, c.Above)
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

// splitSparse shares the epsilon of the comparisons: e1 for the threshold and e2 for the questions.
//
// What has to be small is the noise of the difference of the two, whose variance goes with (1/e1)^2
// + (moves c/e2)^2. It is smallest at e1 : e2 = 1 : (moves c)^(2/3) (Lyu, Su, Li 2017, Section
// 4.2), with moves = 1 for monotone questions and 2 for others. A threshold that is refreshed is
// used for one "above", so that c = 1 there. Any split is private. The shares are whole units of
// account and add up exactly, which is all that privacy asks of them, so the ratio may be a float.
func splitSparse(c SparseConfig) (e1, e2 dp.Amount, err error) {
	n := 2.0
	if c.Monotone {
		n = 1
	}
	if !c.Refresh {
		n *= float64(c.Above)
	}
	share := float64(c.Epsilon) / (1 + math.Cbrt(n*n))
	e1 = dp.Amount(math.Max(1, math.Min(share, float64(c.Epsilon))))
	if e1 >= c.Epsilon {
		return 0, 0, fmt.Errorf("%w; an epsilon of %v cannot be shared by the threshold and the questions", ErrNoPrivacy, c.Epsilon)
	}
	return e1, c.Epsilon - e1, nil
}

// sparseCost is the price of a session. Epsilon is e1 + e2 + e3 exactly. Rho is
// the smallest of those that are proven:
//
//   - epsilon tanh(epsilon/2), the cost of randomized response, to which every
//     interactive mechanism of a pure epsilon reduces (Vadhan, Wang 2021);
//   - the same of e1 + e2, plus c releases with Laplace noise. A session and
//     the releases in between compose in zCDP (Vadhan, Zhang 2023);
//   - refreshed: the session is c sessions one after the other, and rho adds. Of
//     epsilon/c it is about epsilon^2/(2 c^2), so the sum is smaller by c.
//
// A threshold that is not refreshed ties all answers together, and we know of
// no proof of less for it.
func sparseCost(c SparseConfig) (dp.Cost, error) {
	total := c.Epsilon.Add(c.Values)
	n := new(big.Rat).SetInt64(int64(c.Above))
	// rounds is n times the rho of randomized response of epsilon/n, rounded up.
	rounds := func(epsilon dp.Amount, n *big.Rat) (dp.Amount, error) {
		e, _ := new(big.Rat).Quo(epsilon.Rat(), n).Float64()
		k, _ := n.Float64()
		return dp.CeilFloat(k * dp.RhoOfPure(e) * (1 + 0x1p-50))
	}
	one := big.NewRat(1, 1)
	rho, err := rounds(total, one)
	if err != nil {
		return dp.Cost{}, err
	}
	times := one
	if c.Refresh {
		times = n
	}
	tests, err := rounds(c.Epsilon, times)
	if err != nil {
		return dp.Cost{}, err
	}
	if c.Values > 0 {
		each, err := dp.Ceil(new(big.Rat).Quo(c.Values.Rat(), n))
		if err != nil {
			return dp.Cost{}, err
		}
		one, err := rhoOfLaplace(c.Sensitivity, each)
		if err != nil {
			return dp.Cost{}, err
		}
		// In units of 2^-40, with room to spare: both factors are below 2^60.
		all := new(big.Rat).Mul(one.Rat(), n)
		values, err := dp.Ceil(all)
		if err != nil {
			values = dp.Unbounded
		}
		tests = tests.Add(values)
	}
	whole, err := rounds(total, times)
	if err != nil {
		return dp.Cost{}, err
	}
	return dp.Cost{Epsilon: total, Rho: min(rho, tests, whole)}, nil
}

// ErrHalted is returned when a session of the sparse vector is asked after its last "above".
var ErrHalted = errors.New("the session has ended: it has given all its \"above\" answers; open another, which costs as much again")

// SparseSession is an open session. It is safe for concurrent use; questions
// that arrive at the same time are answered in some order.
type SparseSession struct {
	m *Sparse
	r *Releaser

	mu        sync.Mutex
	left      int   // "above" answers to come
	fresh     bool  // threshold holds noise that may be used
	threshold Exact // the noise Z on the threshold, sealed: whoever knows it knows too much
}

// OpenSparse opens a session, which costs m.Cost() whatever it is asked. The
// noise on the threshold is drawn with the first question.
func (r *Releaser) OpenSparse(m *Sparse) *SparseSession {
	return &SparseSession{m: m, r: r, left: m.config.Above}
}

type SparseAnswer struct {
	// Above says that the noisy value was at or above the noisy threshold.
	Above bool
	// Value is the value with noise of its own, where the session sells values
	// and Above is true, and else 0.
	Value int64
}

// Left returns how many "above" answers the session can still give. At 0 it has ended.
func (s *SparseSession) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// Ask compares one value to a threshold. The threshold is the analyst's: it may depend on earlier
// answers, and not on the data in any other way. That the value moves by at most the sensitivity
// between neighbours is the caller's part.
//
// The noise of a question is drawn before its value is looked at, that of a released value
// included, whether or not it will be released. So what is drawn depends on the configuration and
// on earlier answers, never on this value. A question that is refused draws nothing.
func (s *SparseSession) Ask(value Exact, threshold int64) (SparseAnswer, error) {
	if n := value.Len(); n != 1 {
		return SparseAnswer{}, fmt.Errorf("%w: a question has one value, not %d; ask about them one by one", errSparse, n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return SparseAnswer{}, ErrHalted
	}
	query, own := s.draw(value)
	v := value.Open()[0]
	if !atLeast(v, query, threshold, s.threshold.Open()[0]) {
		return SparseAnswer{}, nil
	}
	// The session ends when the count reaches c. One more answer would be one that nobody paid for.
	s.left--
	s.fresh = !s.m.config.Refresh
	answer := SparseAnswer{Above: true}
	if s.m.value != nil {
		// Never the noise of the comparison: that it was large is known already, and through it
		// what the threshold's noise was (Lyu, Su, Li 2017, Algorithm 3).
		answer.Value = addClamped(v, own)
	}
	return answer, nil
}

// Withhold takes back the last answer, which nobody was told, as if it had not been asked. Nothing
// is left of it: the noise of a question is its own, and that of the threshold was not told.
func (s *SparseSession) Withhold(last SparseAnswer) {
	if !last.Above {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left++
	s.fresh = true
}

func (s *SparseSession) draw(x Exact) (query, own int64) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if !s.fresh {
		s.threshold, s.fresh = Seal(s.m.threshold.Draw(s.r.src)), true
	}
	query = s.m.query.Draw(s.r.src)
	if s.m.value != nil {
		own = s.m.value.Draw(s.r.src)
	}
	if s.r.record != nil {
		s.r.record(Call{Mechanism: "sparse", Parameter: s.m.query.Scale(), Sensitivity: s.m.config.Sensitivity, Values: x})
	}
	return query, own
}

// atLeast reports whether a + b >= c + d, in 128 bits. Saturated sums would
// compare equal at the ends, where the proof needs the integers.
func atLeast(a, b, c, d int64) bool {
	ahi, alo := add128(a, b)
	chi, clo := add128(c, d)
	return ahi > chi || ahi == chi && alo >= clo
}

// add128 returns a + b as the high and low words of a two's complement number.
func add128(a, b int64) (hi int64, lo uint64) {
	lo, carry := bits.Add64(uint64(a), uint64(b), 0)
	return a>>63 + b>>63 + int64(carry), lo
}

// Accuracy returns an alpha such that, with probability at least 1 - beta, all
// answers to the first k questions that a session takes are right up to alpha:
//
//	"above" is said only where value >= threshold - alpha, and
//	"below" only where value < threshold + alpha.
//
// Both hold where every noise of a question is within a and every noise of the threshold within t,
// with a + t = alpha (Dwork, Roth 2014, Theorem 3.24). The threshold gets a share of beta and the
// questions the rest, by the union bound, each with the exact tails of its discrete noise; the best
// of 63 shares is taken. Like all error bars it is never too small. It is free: it reads no data.
func (s *Sparse) Accuracy(k int, beta float64) int64 {
	if k < 1 {
		return 0
	}
	thresholds := 1
	if s.config.Refresh {
		thresholds = min(k, s.config.Above)
	}
	best := int64(math.MaxInt64)
	for i := 1; i < 64; i++ {
		share := float64(i) / 64
		// A product and a quotient, rounded: 2^-50 is more than their errors.
		t := s.thresholdLaw.halfWidth(beta * share / float64(thresholds) * (1 - 0x1p-50))
		a := s.queryLaw.halfWidth(beta * (1 - share) / float64(k) * (1 - 0x1p-50))
		best = min(best, addClamped(a, t))
	}
	return best
}

// HalfWidth returns the smallest k with P(|noise| > k) <= beta for the noise of
// a released value, and 0 where the session releases none.
func (s *Sparse) HalfWidth(beta float64) int64 {
	if s.value == nil {
		return 0
	}
	return s.valLaw.halfWidth(beta)
}

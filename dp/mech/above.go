package mech

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

var (
	// errAbove is returned when a round of AboveThreshold is asked for that does not exist.
	errAbove = errors.New("not a round of AboveThreshold")
	// errOver is returned when a round is asked after its "above".
	errOver = errors.New("this round is over: it has answered \"above\"; open another, which costs as much again")
)

// AboveThresholdConfig says what the noise of one round of AboveThreshold is calibrated to.
type AboveThresholdConfig struct {
	// Sensitivity bounds, in l1, how far the value of any one question moves between neighbours.
	Sensitivity dp.Sensitivity
	// Threshold is what the noise on the threshold costs, and Question the noise on the questions.
	// A round costs the sum.
	Threshold, Question dp.Amount
	// OneSided has both noises at or above 0; see [AboveThreshold].
	OneSided bool
}

// AboveThreshold is one calibrated round of AboveThreshold (Dwork, Roth 2014, Algorithm 1): any
// number of questions, until the first that is answered "above". Unlike [Sparse] it says what the
// threshold and the questions cost apart, can have noise that is never negative, and a round can be
// laid aside and taken up again by another process, so that a session can be charged round by
// round.
//
// With D the sensitivity, Z of scale D/e1 and N_i of scale 2D/e2, the answer to question i is
// "above" where
//
//	value_i + N_i >= threshold_i + Z,
//
// with Z and N_i discrete Laplace, or, where the round is one-sided, geometric on 0, 1, 2, ...
//
// # Proof of e1 + e2
//
// It is the one of [Sparse] with c = 1. Fix neighbours x and y and a transcript, which says what
// was asked: some answers "below", and perhaps one "above" at the end. Given Z = z the answers are
// independent. The term of z for x is compared to the term of z + D for y.
//
//   - P(Z = z) <= exp(e1) P(Z = z + D) for every integer z. Geometric: where P(Z = z) is not 0, z
//     >= 0, so z + D >= 0, and the ratio is exp(D/b) = exp(e1). The shift is upwards for x and y in
//     either order, so it does not matter that downwards there would be no bound.
//   - "below" is N < threshold + z - value. It needs less on y at z + D, because y's value is at
//     most D higher. So its probability on y is not smaller, and however many there are they cost
//     nothing.
//   - "above" is N >= m with m = threshold + z - value, and on y at z + D it is N >= m' with m' at
//     most m + 2D. P(N >= m) <= exp(e2) P(N >= m + 2D) for every integer m. Geometric: P(N >= m) is
//     min(1, exp(-m/b)), and with b = 2D/e2 it falls by at most exp(e2) in 2D steps.
//
// z -> z + D never leaves the support and meets no value twice, so the sum over z for x is at most
// exp(e1 + e2) times a part of the sum for y. Nothing here bounds the sum for y by that for x with
// the same shift; the argument is made again with x and y exchanged, and again shifts upwards. That
// is why one-sided noise on the threshold has to be at or above 0, and at or below 0 it loses
// everything. The bound is reached: one-sided, by one "below" and one "above".
//
// # Why one side
//
// With N >= 0 a value at the threshold and above is missed only where Z is large, and its own N
// small besides: what a round says is "below" is below threshold + Z, all of it at once. The false
// alarms are what a union over questions is needed for, and they cost budget and no accuracy.
// [AboveThreshold.MissProbability] has the probability that a round misses anything, for noise of
// either kind.
type AboveThreshold struct {
	config              AboveThresholdConfig
	cost                dp.Cost
	threshold, question sampler
}

type sampler interface {
	Draw(*noise.Source) int64
	Scale() *big.Rat
}

// NewAboveThreshold calibrates a round. Nothing is drawn and nothing is charged: that is for
// whoever opens it, with the Cost that is known here.
func NewAboveThreshold(c AboveThresholdConfig) (*AboveThreshold, error) {
	if c.Sensitivity.Norm() != dp.L1 {
		return nil, fmt.Errorf("%w: AboveThreshold needs l1, not %v", errNorm, c.Sensitivity)
	}
	for _, e := range []dp.Amount{c.Threshold, c.Question} {
		if err := checkAmount(e); err != nil {
			return nil, err
		}
	}
	a := &AboveThreshold{config: c}
	var err error
	if a.threshold, err = aboveNoise(c, 1, c.Threshold); err != nil {
		return nil, err
	}
	if a.question, err = aboveNoise(c, 2, c.Question); err != nil {
		return nil, err
	}
	a.cost.Epsilon = c.Threshold.Add(c.Question)
	if a.cost.Rho, err = rhoOfPure(a.cost.Epsilon); err != nil {
		return nil, err
	}
	return a, nil
}

// aboveNoise returns noise of the exact scale moves times D/epsilon.
func aboveNoise(c AboveThresholdConfig, moves int64, epsilon dp.Amount) (sampler, error) {
	scale := new(big.Rat).SetInt(c.Sensitivity.L1())
	scale.Mul(scale, new(big.Rat).SetInt64(moves))
	scale.Quo(scale, epsilon.Rat())
	if err := checkScale(scale, smallestScale, largestScale); err != nil {
		return nil, err
	}
	var s sampler
	var err error
	if c.OneSided {
		s, err = noise.NewGeometric(scale)
	} else {
		s, err = noise.NewLaplace(scale)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScale, err)
	}
	return s, nil
}

// Cost is what a round costs, whatever it is asked. It is to be charged before the round is opened.
func (a *AboveThreshold) Cost() dp.Cost { return a.cost }

// OneSided reports whether the noise is never negative.
func (a *AboveThreshold) OneSided() bool { return a.config.OneSided }

// Parameters returns the exact scales of the noise of the threshold and of a question.
func (a *AboveThreshold) Parameters() (threshold, question *big.Rat) {
	return a.threshold.Scale(), a.question.Scale()
}

// AboveRound is an open round. It is safe for concurrent use; questions that arrive at the same
// time are answered in some order.
type AboveRound struct {
	a *AboveThreshold
	r *Releaser

	mu        sync.Mutex
	over      bool
	threshold Exact // the noise Z on the threshold, sealed: whoever knows it knows too much
}

// OpenAbove opens a round, which costs a.Cost() whatever it is asked. The noise on the threshold is
// drawn now, so that it can be laid aside before anything is compared to it.
func (r *Releaser) OpenAbove(a *AboveThreshold) *AboveRound {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &AboveRound{a: a, r: r, threshold: Seal(a.threshold.Draw(r.src))}
}

// ResumeAbove takes up a round that was laid aside, with its own noise. A round has one threshold:
// to open a new one for the same charge, once anybody has an answer, would be two comparisons with
// one value for the price of one.
//
// That the round has not ended since, and that nobody else goes on with it, is the caller's part:
// what was laid aside before the first question does not know. A second "above" is one that nobody
// paid for.
func (r *Releaser) ResumeAbove(a *AboveThreshold, secret []byte) (*AboveRound, error) {
	if len(secret) != 8 {
		return nil, fmt.Errorf("%w: the stored state is not a round", errAbove)
	}
	z := int64(binary.BigEndian.Uint64(secret))
	if a.config.OneSided && z < 0 {
		return nil, fmt.Errorf("%w: the stored state is not an open round", errAbove)
	}
	return &AboveRound{a: a, r: r, threshold: Seal(z)}, nil
}

// Secret is the round, to be laid aside where only the curator reads. Who knows it can take away
// the noise of the threshold. Of a round that is over it is empty, because there is nothing to go
// on with.
func (s *AboveRound) Secret() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil
	}
	// Always of one length, so that the size of a journal does not tell how large it is.
	return binary.BigEndian.AppendUint64(nil, uint64(s.threshold.Open()[0]))
}

// Over reports whether the round has ended with an "above".
func (s *AboveRound) Over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// Ask compares one value to a threshold, which is public: it may depend on earlier answers, and not
// on the data in any other way. That the value moves by at most the sensitivity between neighbours
// is the caller's part. "Above" ends the round.
//
// The noise of a question is drawn before its value is looked at. A question that is refused draws
// nothing.
func (s *AboveRound) Ask(value Exact, threshold int64) (bool, error) {
	return s.ask(value, threshold, func(v int64) int64 { return v })
}

// AskDistance is Ask about how far a value is from a prediction, which is public as a threshold is.
// The distance moves between neighbours by no more than the value.
func (s *AboveRound) AskDistance(value Exact, prediction, threshold int64) (bool, error) {
	return s.ask(value, threshold, func(v int64) int64 { return distance(v, prediction) })
}

// distance is |v - prediction|, or the largest int64 where that is larger. Clamping and taking the
// absolute value bring no two values further apart, so neither does the whole, for all int64 that
// there are. Of -(2^63), which has no opposite, a prediction is moved by one: it is public, and
// still one number.
func distance(v, prediction int64) int64 {
	d := addClamped(v, -max(prediction, -math.MaxInt64))
	return max(d, -max(d, -math.MaxInt64))
}

func (s *AboveRound) ask(value Exact, threshold int64, of func(int64) int64) (bool, error) {
	if n := value.Len(); n != 1 {
		return false, fmt.Errorf("%w: a question has one value, not %d; ask about them one by one", errAbove, n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false, errOver
	}
	n := s.draw(value)
	s.over = atLeast(of(value.Open()[0]), n, threshold, s.threshold.Open()[0])
	if s.over {
		s.threshold = Exact{} // of no use any more, but to somebody who reads our memory
	}
	return s.over, nil
}

func (s *AboveRound) draw(x Exact) int64 {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	n := s.a.question.Draw(s.r.src)
	if s.r.record != nil {
		s.r.record(Call{Mechanism: "above", Parameter: s.a.question.Scale(), Sensitivity: s.a.config.Sensitivity, Values: x})
	}
	return n
}

// MissProbability bounds the probability that a round answers "below" about anything that is at
// least margin above its threshold: about any one of its questions, however many there are, and
// whoever chose them by what they heard before. It is a statement about the noise, free, made
// before the round is opened; privacy does not rest on it. It is reached by whoever asks about
// nothing else.
//
// # Proof
//
// Call a question far where value >= threshold + margin. Whether it is depends on the data and on
// what was asked and answered before it, and not on its own noise. Let the first far question of
// the round be the one with the noise N. For each i, that the i-th is this one is decided by Z and
// by the noise of those before it, of which N_i is independent, so (Z, N) has the law of Z and of
// an independent noise of a question: nothing is conditioned on, and Z is as it was drawn. (A round
// without such a question misses none; let N be one more draw there.) Now
//
//   - either it is answered "above". Then the round is over, and no far question was missed;
//   - or it is answered "below", which takes value + N < threshold + Z, so Z - N > margin.
//
// So the round misses something with probability P(Z - N > margin) at most: one term for a round,
// and no union over questions. It is no statement about a round that has lasted: one whose Z is
// large lasts longer.
//
// A comparison whose answer nobody saw and nobody wrote down, because a process died, is made again
// with another N. It does not count, as long as dying does not depend on how it came out.
//
// # The law
//
// With p = exp(-1/a) for the scale a of Z, q = exp(-1/b) for the scale b of N, and margin m:
//
// One-sided, Z > m + N has, by the sum over N, the probability
//
//	sum over n >= 0 of (1-q) q^n p^(m+n+1) = p^(m+1) (1-q)/(1-pq),
//
// which is exp(-(m+1) e1/D) times about (e2/2)/(e1 + e2/2): a large Z alone does not miss the
// question, its own noise must be small besides.
//
// Two-sided, P(Z > k) is p^(k+1)/(1+p) for k >= -1 and 1 - p^-k/(1+p) below, and N = n has
// (1-q)/(1+q) q^|n|. The sum has three parts: n >= 0, n from -m to -1, and n < -m, which add up to
//
//	(1-q)/((1+q)(1+p)) (p^(m+1)/(1-pq) + p S) + q^(m+1)/(1+q) (1 - p (1-q)/((1+p)(1-pq))),
//
// where S is the sum of q^j p^(m-j) over j from 1 to m. Nothing in either is a small difference of
// large numbers, so that each is right to about (m/a + m/b) 2^-50; 1e-9 is added, and 1e-300, below
// which nothing is claimed.
func (a *AboveThreshold) MissProbability(margin int64) float64 {
	if margin < 0 {
		return 1
	}
	z, n := a.Parameters()
	return a.beyond(z, n, margin)
}

// AlarmProbability bounds the probability that one question is answered "above" whose value is at
// least short below its threshold, given that the round comes to it. For several questions it is
// one term for each.
//
// Proof. The round comes to question i where all before it were answered "below", so what is asked
// then is decided. Given Z the probability of that rises with Z, and that of "above" at question i
// falls with Z. So the expectation over Z of their product is at most the product of their
// expectations (Chebyshev's sum inequality): a round that has lasted has fewer false alarms and not
// more. The second is P(N >= Z + short), which is the law of [AboveThreshold.MissProbability] with
// Z and N exchanged.
func (a *AboveThreshold) AlarmProbability(short int64) float64 {
	if short < 1 {
		return 1
	}
	z, n := a.Parameters()
	return a.beyond(n, z, short-1)
}

// beyond bounds P(X - Y > m) from above for the noise X and Y of two scales, and m >= 0.
func (a *AboveThreshold) beyond(x, y *big.Rat, m int64) float64 {
	tail := missedLaplace
	if a.config.OneSided {
		tail = missedGeometric
	}
	xa, _ := x.Float64()
	yb, _ := y.Float64()
	return math.Min(1, tail(xa, yb, float64(m))*(1+1e-9)+1e-300)
}

// missedGeometric is P(Z - N > m) for geometric Z and N of scales a and b.
func missedGeometric(a, b, m float64) float64 {
	return math.Exp(-(m+1)/a) * math.Expm1(-1/b) / math.Expm1(-1/a-1/b)
}

// missedLaplace is the same for discrete Laplace noise.
func missedLaplace(a, b, m float64) float64 {
	p, q := math.Exp(-1/a), math.Exp(-1/b)
	q1, pq1 := -math.Expm1(-1/b), -math.Expm1(-1/a-1/b) // 1-q, 1-pq
	// The geometric sum, from its largest term on.
	sum := 0.0
	if m > 0 {
		sum = m
		if r := math.Abs(1/a - 1/b); r > 0 {
			sum = math.Expm1(-m*r) / math.Expm1(-r)
		}
		sum *= q * math.Exp(-(m-1)/math.Max(a, b))
	}
	return q1/((1+q)*(1+p))*(math.Exp(-(m+1)/a)/pq1+p*sum) + math.Exp(-(m+1)/b)/(1+q)*(1-p*q1/((1+p)*pq1))
}

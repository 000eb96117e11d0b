package mech

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

var (
	// ErrAbove is returned when a round of AboveThreshold is asked for that does not exist.
	ErrAbove = errors.New("not a round of AboveThreshold")
	// ErrOver is returned when a round is asked after its "above".
	ErrOver = errors.New("this round is over: it has answered \"above\"; open another, which costs as much again")
)

// AboveConfig says what the noise of one round of AboveThreshold is calibrated to.
type AboveConfig struct {
	// Sensitivity bounds, in l1, how far the value of any one question moves between neighbours.
	Sensitivity dp.Sensitivity
	// Threshold is what the noise on the threshold costs, and Question the noise on the questions.
	// A round costs the sum.
	Threshold, Question dp.Amount
	// OneSided has both noises at or above 0; see [Above].
	OneSided bool
}

// Above is one calibrated round of AboveThreshold (Dwork, Roth 2014, Algorithm 1): any number of
// questions, until the first that is answered "above". Unlike [Sparse] it says what the threshold
// and the questions cost apart, can have noise that is never negative, and a round can be laid
// aside and taken up again by another process, so that a session can be charged round by round.
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
// [Above.Missed] has the probability that a round misses anything, for noise of either kind.
type Above struct {
	config              AboveConfig
	cost                dp.Cost
	threshold, question sampler
}

// sampler is a noise of integers.
type sampler interface {
	Draw(*noise.Source) int64
	Scale() *big.Rat
}

// NewAbove calibrates a round. Nothing is drawn and nothing is charged: that is for whoever opens
// it, with the Cost that is known here.
func NewAbove(c AboveConfig) (*Above, error) {
	if c.Sensitivity.Norm() != dp.L1 {
		return nil, fmt.Errorf("%w: AboveThreshold needs l1, not %v", ErrNorm, c.Sensitivity)
	}
	for _, e := range []dp.Amount{c.Threshold, c.Question} {
		if err := checkAmount(e); err != nil {
			return nil, err
		}
	}
	a := &Above{config: c}
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
func aboveNoise(c AboveConfig, moves int64, epsilon dp.Amount) (sampler, error) {
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
func (a *Above) Cost() dp.Cost { return a.cost }

// Sensitivity is what the noise was calibrated to.
func (a *Above) Sensitivity() dp.Sensitivity { return a.config.Sensitivity }

// OneSided reports whether the noise is never negative.
func (a *Above) OneSided() bool { return a.config.OneSided }

// Split says how the epsilon of Cost is shared by the threshold and the questions.
func (a *Above) Split() (threshold, question dp.Amount) {
	return a.config.Threshold, a.config.Question
}

// Parameters returns the exact scales of the noise of the threshold and of a question.
func (a *Above) Parameters() (threshold, question *big.Rat) {
	return a.threshold.Scale(), a.question.Scale()
}

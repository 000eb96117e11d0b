package holdout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"sort"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
)

// Config declares a holdout. All of it is public.
type Config struct {
	// Size is n, the public number of people (or rows) that scores are means over.
	Size int64
	// Steps is the weight of a score of 1: values are whole numbers from 0 to Steps. 1 where every
	// person is right or wrong.
	Steps int64
	// Threshold is T, and Noise is s, both in units of a score.
	Threshold, Noise *big.Rat
	// Answers is B: how many answers come from the holdout.
	Answers int
	// Currency is Pure or Concentrated: which claim of a charge its account counts. The noise is
	// the same.
	Currency mech.Currency
}

const (
	// maxAnswers is the largest number of answers from one holdout.
	maxAnswers = 1 << 30
	// largestSum bounds the sum of values, so that it and its noise are far from the ends of an
	// int64.
	largestSum = 1 << 60
)

// check refuses what is no holdout.
func (c Config) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", errConfig, fmt.Sprintf(format, args...))
	}
	one := big.NewRat(1, 1)
	switch {
	case c.Size < 1:
		return refuse("its size is %d; give the number of people that scores are means over", c.Size)
	case c.Steps < 1:
		return refuse("it has %d steps; write 1 if every person is right or wrong", c.Steps)
	case c.Size > largestSum/c.Steps:
		return refuse("size times steps is above 2^60; take fewer steps")
	case c.Threshold == nil || c.Threshold.Sign() < 0 || c.Threshold.Cmp(one) > 0:
		return refuse("the threshold must be from 0 to 1, such as 0.04")
	case c.Noise == nil || c.Noise.Sign() <= 0 || c.Noise.Cmp(one) > 0:
		return refuse("the noise must be above 0 and at most 1, such as 0.01")
	case c.Answers < 1 || c.Answers > maxAnswers:
		return refuse("it has %d answers; write a number from 1 to 2^30", c.Answers)
	case c.Currency != mech.Pure && c.Currency != mech.Concentrated:
		return fmt.Errorf("%w: %w", errConfig, mech.ErrCurrency)
	}
	return nil
}

// whole is the sum of values where every person has a score of 1.
func (c Config) whole() *big.Int { return new(big.Int).Mul(big.NewInt(c.Size), big.NewInt(c.Steps)) }

// onLattice is the step nearest to a score, of two the higher. The score is from 0 to 1, so it
// fits.
func (c Config) onLattice(score *big.Rat) int64 {
	x := new(big.Rat).Mul(score, new(big.Rat).SetInt(c.whole()))
	x.Add(x, big.NewRat(1, 2))
	return new(big.Int).Quo(x.Num(), x.Denom()).Int64()
}

// score is the score of a sum, clamped to 0 and 1.
func (c Config) score(sum int64) *big.Rat {
	whole := c.whole()
	return new(big.Rat).SetFrac(big.NewInt(min(max(sum, 0), whole.Int64())), whole)
}

// Question is one score to be checked.
type Question struct {
	// Key names what is scored: the same key gets the same answer again, free. Whoever makes it
	// puts into it all that the score depends on, the training value included where analysts supply
	// it: a hash, for instance. It is kept in the journal.
	Key string
	// Holdout computes the sum of values over the holdout, in steps: a sealed vector of one.
	// Nobody's value is below 0 or above Steps; that is for the caller to see to, because here it
	// is private. It is called when the round is charged and its threshold in the journal, and not
	// at all for a question that was answered before or that is refused. Its error, which must not
	// depend on the data, is that of Ask: nothing was compared, and the round stays open.
	Holdout func(context.Context) (mech.Exact, error)
	// Training is the same on the training side, as a share of 1.
	Training *big.Rat
}

// maxKeyBytes bounds a key, in bytes, because all are kept.
const maxKeyBytes = 1024

// check refuses by what is public.
func (q Question) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrQuestion, fmt.Sprintf(format, args...))
	}
	switch {
	case q.Key == "" || len(q.Key) > maxKeyBytes:
		return refuse("a key has from 1 to %d bytes; name longer things by a hash", maxKeyBytes)
	case q.Holdout == nil:
		return refuse("it has no sum over the holdout")
	case q.Training == nil || q.Training.Sign() < 0 || q.Training.Cmp(big.NewRat(1, 1)) > 0:
		return refuse("the training value must be from 0 to 1; scale the score to that")
	}
	return nil
}

// Answer is a score that stays honest.
type Answer struct {
	Score *big.Rat
	// Spent says that the score comes from the holdout, with noise; else it is the training value,
	// which the holdout confirms.
	Spent bool
	// Again says that the same question was answered before.
	Again bool
	Left  int // answers from the holdout to come
	// Cost is what this question was charged: a round, where it is the first of one.
	Cost dp.Cost
	// Receipt is that of the round that the answer belongs to.
	Receipt session.Receipt
}

// Tariff is what a holdout charges, known before it is opened.
type Tariff struct {
	Round dp.Cost // a round of tests with its one answer from the holdout
	Total dp.Cost // of all rounds
	// Mechanisms are spelled as in the ledger.
	Mechanisms string

	above  *mech.AboveThreshold
	answer *mech.Laplace

	whole, threshold float64 // for error bars; see errorbar.go
}

// Price checks a configuration and prices it. It draws nothing.
func Price(c Config) (*Tariff, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	// 1/(sn), and half of it for the threshold and for the questions.
	whole := new(big.Rat).Mul(c.Noise, new(big.Rat).SetInt64(c.Size))
	whole.Inv(whole)
	half := new(big.Rat).Mul(whole, big.NewRat(1, 2))
	t := &Tariff{}
	e1, err := dp.Floor(half)
	if err != nil {
		return nil, fmt.Errorf("%w: each round would cost an epsilon of 2/(noise x size): %w", errConfig, err)
	}
	e3, err := dp.Floor(whole)
	if err != nil {
		return nil, fmt.Errorf("%w: each round would cost an epsilon of 2/(noise x size): %w", errConfig, err)
	}
	moves := dp.NewL1(big.NewInt(c.Steps))
	if t.above, err = mech.NewAboveThreshold(mech.AboveThresholdConfig{Sensitivity: moves, Threshold: e1, Question: e1}); err != nil {
		return nil, fmt.Errorf("%w: %w", errConfig, err)
	}
	if t.answer, err = mech.NewLaplace(moves, e3); err != nil {
		return nil, fmt.Errorf("%w: %w", errConfig, err)
	}
	t.setBars(c)
	t.Round = t.above.Cost().Add(t.answer.Cost())
	t.Total = t.Round.Mul(uint64(c.Answers))
	threshold, question := t.above.Parameters()
	t.Mechanisms = fmt.Sprintf("above(%s, %s; sensitivity %v), laplace(%s)",
		threshold.RatString(), question.RatString(), moves, t.answer.Parameter().RatString())
	return t, nil
}

// How far an answer may be from the mean over the holdout. These are statements about the noise,
// made before anything is asked; privacy does not rest on them.
//
// An answer from the holdout is off by its Laplace noise. A training value t that was confirmed was
// compared: |h - t| + N < T + Z, with Z drawn for the round and N for the question. The first
// question of a round that is farther off than T + w ends it, unless its Z - N > w. So, said before
// a round begins, all that it confirms is within T + w of the holdout, however much is asked by
// whomever for what reason, but with probability P(Z - N > w):
// [mech.AboveThreshold.MissProbability] has the proof. It is no statement about a round that has
// lasted: one whose Z is large lasts longer, so after many confirmations the next one is farther
// off more often than that.

// Answered returns how far an answer from the holdout is from the exact one at most, in units of a
// score, but for a probability of beta.
func (t *Tariff) Answered(beta float64) float64 { return float64(t.answer.HalfWidth(beta)) / t.whole }

// Confirmed returns how far the training values that a round confirms are from their means over the
// holdout at most, all of them at once, in units of a score, but for a probability of beta.
func (t *Tariff) Confirmed(beta float64) float64 {
	if !(beta > 0) {
		return math.Inf(1)
	}
	_, question := t.above.Parameters()
	b, _ := question.Float64()
	// The tail falls, and is below exp(-w/b) times 2.
	most := int(min(1<<60, math.Ceil(b*(math.Log(4)-math.Log(min(beta, 1))))+4))
	w := sort.Search(most, func(w int) bool { return t.above.MissProbability(int64(w)) <= beta })
	// The threshold and the training value were rounded to steps: one step more.
	return math.Min(1, t.threshold+float64(w+1)/t.whole)
}

// setBars remembers what the bounds are made of.
func (t *Tariff) setBars(c Config) {
	t.whole, _ = new(big.Rat).SetInt(c.whole()).Float64()
	t.threshold, _ = c.Threshold.Float64()
}

var (
	// errConfig is returned when there is no such holdout.
	errConfig = errors.New("not a holdout")
	// ErrQuestion is returned for a question that cannot be asked. Nothing was charged.
	ErrQuestion = errors.New("not a question to a holdout")
	// ErrUsedUp is returned when all answers from the holdout have been given. Nothing was charged.
	// What was answered before is answered again.
	ErrUsedUp = errors.New("the holdout is used up: it has given as many answers as its owner declared. Take fresh data for a new one")
	// errJournal is returned when the journal is not that of this holdout. Its entries are secret,
	// so none is shown.
	errJournal = errors.New("the journal does not belong to this holdout: open it with the configuration that it was begun with, or " +
		"begin a new session")
)

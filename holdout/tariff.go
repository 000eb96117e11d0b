package holdout

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
)

// Tariff is what a holdout charges, known before it is opened.
type Tariff struct {
	Round dp.Cost // a round of tests with its one answer from the holdout
	Total dp.Cost // of all rounds
	// Mechanisms are spelled as in the ledger.
	Mechanisms string

	above  *mech.Above
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
		return nil, fmt.Errorf("%w: each round would cost an epsilon of 2/(noise x size): %w", ErrConfig, err)
	}
	e3, err := dp.Floor(whole)
	if err != nil {
		return nil, fmt.Errorf("%w: each round would cost an epsilon of 2/(noise x size): %w", ErrConfig, err)
	}
	moves := dp.NewL1(big.NewInt(c.Steps))
	if t.above, err = mech.NewAbove(mech.AboveConfig{Sensitivity: moves, Threshold: e1, Question: e1}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if t.answer, err = mech.NewLaplace(moves, e3); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	t.bars(c)
	t.Round = t.above.Cost().Add(t.answer.Cost())
	t.Total = t.Round.Mul(uint64(c.Answers))
	threshold, question := t.above.Parameters()
	t.Mechanisms = fmt.Sprintf("above(%s, %s; sensitivity %v), laplace(%s)",
		threshold.RatString(), question.RatString(), moves, t.answer.Parameter().RatString())
	return t, nil
}

// Package holdout is Thresholdout, the reusable holdout (Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015), and what differential privacy says about generalisation.
package holdout

import (
	"context"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/session"
)

// Config declares a holdout. All of it is public.
type Config struct {
	// Size is n, the public number of people (or rows) that scores are means over.
	Size int64
	// Steps is the weight of a score of 1: values are whole numbers from 0 to Steps. 1 where every person is right or wrong.
	Steps int64
	// Threshold is T, and Noise is s, both in units of a score.
	Threshold, Noise *big.Rat
	// Answers is B: how many answers come from the holdout.
	Answers int
	// Currency is Pure or Concentrated.
	Currency mech.Budget
}

// Tariff is what a holdout charges, known before it is opened.
type Tariff struct {
	Round dp.Cost // a round of tests with its one answer from the holdout
	Total dp.Cost // of all rounds
	// Mechanisms are spelled as in the ledger.
	Mechanisms string
}

// Price checks a configuration and prices it.
func Price(c Config) (*Tariff, error) { panic("not built") }

// Question is one score to be checked.
type Question struct {
	// Key names what is scored: the same key gets the same answer again, free.
	Key string
	// Holdout is the sum of values over the holdout, in steps: a sealed vector of one.
	Holdout mech.Exact
	// Training is the same on the training side, as a share of 1.
	Training *big.Rat
}

// Answer is a score that stays honest.
type Answer struct {
	Score *big.Rat
	// Spent says that the score comes from the holdout, with noise; else it is the training value, which the holdout confirms.
	Spent   bool
	Left    int // answers from the holdout to come
	Cost    dp.Cost
	Receipt session.Receipt
}

// Session is an open holdout. It is safe for concurrent use.
type Session struct{}

// Open opens a holdout on a host, or goes on with the one that its journal has.
func Open(ctx context.Context, c Config, r *mech.Releaser, h session.Host) (*Session, error) {
	panic("not built")
}

// Ask answers.
func (s *Session) Ask(ctx context.Context, q Question) (*Answer, error) { panic("not built") }

// Left is how many answers from the holdout are to come.
func (s *Session) Left() int { panic("not built") }

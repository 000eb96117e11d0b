// Package stream answers many correlated questions on one budget.
package stream

import (
	"context"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/session"
	"github.com/discreet-dp/discreet/stream/histogram"
	"github.com/discreet-dp/discreet/stream/linear"
	"github.com/discreet-dp/discreet/stream/predict"
)

// Config declares a stream. All of it is public.
type Config struct {
	Domain *linear.Domain
	// Size is the public number of people that Alpha is a share of, exact under substitution and nominal under add-remove.
	Size       int64
	Neighbours dp.Neighbours
	// Alpha is how far answers may be off, as a share of Size, and Beta the probability that any of them is further off.
	Alpha, Beta float64
	// Queries is for how many different questions Beta holds.
	Queries int
	// Steps is the weight that counts as one person; 1 for predicates.
	Steps int64
	// Pure or Concentrated.
	Currency mech.Budget
	// Budget is the most that the stream may cost, in epsilon or rho.
	Budget dp.Amount
	// Predictor is Auto, Halving, Ensemble, Weights or None, which is the exact-match cache.
	Predictor Kind
}

// Kind names a predictor.
type Kind string

const (
	Auto     Kind = ""
	Halving  Kind = "halving"
	Ensemble Kind = "ensemble"
	Weights  Kind = "weights"
	None     Kind = "none"
)

// Tariff is what a stream charges, known before it is opened.
type Tariff struct {
	Round dp.Cost // a round of tests with its one paid answer
	Plain dp.Cost // an answer that is paid for without a test
	// MostPaid is how many rounds fit into the budget, and MostPlain how many plain answers.
	MostPaid, MostPlain int
	Predictor           Kind
	// Mechanisms are spelled as in the ledger.
	RoundMechanisms, PlainMechanisms string
	// Error is how far answers may be off, in weights.
	Error int64
}

// Price checks a configuration and prices it. Nothing is drawn or charged.
func Price(c Config) (*Tariff, error) { panic("not built") }

// Way says how an answer was found.
type Way string

const (
	Cached    Way = "cached"    // the same question was answered before: free
	Predicted Way = "predicted" // predicted, and tested: free
	Paid      Way = "paid"      // the test found the prediction wrong
	Plain     Way = "plain"     // paid for without a test
	Unchecked Way = "unchecked" // the budget is gone; predicted without a test: free, and without the guarantee
)

// Answer is the answer to one query.
type Answer struct {
	Value   int64 // the sum of weights, rounded
	Error   int64 // it is at most this far off, all of them with probability 1 - Beta; 0 for Unchecked, where nothing is known
	Way     Way
	Cost    dp.Cost         // what it made the stream charge, zero where it was free
	Receipt session.Receipt // of the charge
}

// Session is an open stream. It is safe for concurrent use.
type Session struct{}

// Open opens a stream on a host, or goes on with the one that its journal has.
func Open(ctx context.Context, c Config, data *histogram.Table, r *mech.Releaser, h session.Host) (*Session, error) {
	panic("not built")
}

// Quote says, free and without looking at data, what Ask would do: the way and the most it can cost now.
func (s *Session) Quote(q *linear.Query) (Way, dp.Cost, error) { panic("not built") }

// Ask answers.
func (s *Session) Ask(ctx context.Context, q *linear.Query) (*Answer, error) { panic("not built") }

// Learn takes an answer into account that was released elsewhere.
func (s *Session) Learn(ctx context.Context, r predict.Released) error { panic("not built") }

// Report is the books of a stream.
type Report struct {
	Asked, Different                                   int
	Cached, Predicted, Paid, Plain, Unchecked, Refused int
	Spent                                              dp.Cost
	// Cache is what the exact-match cache would have cost, and Naive what no reuse would.
	Cache, Naive dp.Cost
}

func (s *Session) Report() Report { panic("not built") }

// Synthetic returns the current histogram in whole people, which add up to the predicted total.
func (s *Session) Synthetic() []int64 { panic("not built") }

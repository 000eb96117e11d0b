package tree

import (
	"math/big"

	"github.com/discreet-dp/discreet/policy"
)

// Holdout is a checked question to a holdout:
//
//	SELECT holdout_mean(expression [, training]) FROM table
//
// The expression has a value from 0 to 1 for every row, or is a condition, which is 1 where it holds. NULL counts as 0. Its mean is over all people of the holdout, whose
// number is public, so there is no WHERE: how many people fulfil a condition is not public.
type Holdout struct {
	// Of is the holdout of the policy that is asked.
	Of *policy.Holdout
	// Query has one measure, a sum or a count of one cell, in which a person's part is from 0 to 1. One step of it is Factor parts of 1/Of.Steps.
	Query  Query
	Factor int64
	// Training is the second argument, or nil where there is none.
	Training *big.Rat
	// Train is the same expression over the public table of training rows: its sum, in TrainStep, and after it the number of rows; nil
	// where the policy names no such table, or where Training is given.
	Train     *Query
	TrainStep *big.Rat
	// Name is what the analyst calls the answer.
	Name string

	Averaged Expr
}

// Describe writes the expression for a reader.
func (h *Holdout) Describe() string { return Describe(h.Averaged) }

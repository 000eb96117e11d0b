package stream

import (
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/session"
)

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
	Value int64 // the sum of weights, rounded
	Error int64 // it is at most this far off, all of them with probability 1 - Beta; 0 for Unchecked, where nothing is known
	Way   Way
	// Cost is what this question made the stream charge, and zero where it was free. A round is
	// charged with the first question that it tests, so that what is Paid later, with the answer
	// that the round includes, costs nothing then.
	Cost    dp.Cost
	Receipt session.Receipt // of the charge
}

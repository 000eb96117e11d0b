package render

import (
	"fmt"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// StreamPrice says in one line what an answer of a stream cost and why, and what is left.
func StreamPrice(a *api.StreamAnswer) string {
	return "price: " + streamWayWords(a) + "; left: " + Left(a.Remaining)
}

func streamWayWords(a *api.StreamAnswer) string {
	switch {
	case a.Way == "cached":
		return "free, it was asked before"
	case a.Way == "unchecked":
		return "free, predicted without a test: the budget is gone, and nobody knows how far off it is"
	case a.Way == "predicted" && a.Free:
		return "free, predicted from released answers, and the test agreed"
	case a.Way == "predicted":
		return priceTag(a.Cost, a.Remaining) + " for a round of tests; this one agreed with what was predicted, and the next are free " +
			"until one does not"
	case a.Way == "paid" && a.Free:
		return "free, the test did not agree with what was predicted, and its round was paid for"
	case a.Way == "paid":
		return priceTag(a.Cost, a.Remaining) + ", the test did not agree with what was predicted"
	}
	return priceTag(a.Cost, a.Remaining) + ", without a test"
}

// StreamQuoteWords say what a stream would do with a question.
func StreamQuoteWords(q *api.StreamQuote) string {
	switch {
	case q.Way == "cached":
		return "free: it was asked before"
	case q.Way == "unchecked":
		return "free: predicted without a test, because the budget is gone; nobody would know how far off it is"
	case q.Way == "plain":
		return "at most " + Cost(q.Cost) + ": it is paid for without a test"
	case q.Cost == dp.Cost{}:
		return "free: it is predicted and tested, in a round that was paid for"
	}
	return "at most " + Cost(q.Cost) + ": it is predicted and tested, in a new round, in which the next are free until a test " +
		"does not agree"
}

// Cost shows a cost in whichever currency it is in.
func Cost(c dp.Cost) string {
	if Claim(c) == "rho" {
		return "rho " + c.Rho.Short()
	}
	return "epsilon " + c.Epsilon.Short()
}

// Claim names the currency of a cost.
func Claim(c dp.Cost) string {
	if c.Epsilon == dp.Unbounded || c.Epsilon == 0 && c.Rho > 0 {
		return "rho"
	}
	return "epsilon"
}

// StreamValue shows the value of an answer with its error.
func StreamValue(a *api.StreamAnswer) string {
	if a.Error == nil {
		return fmt.Sprintf("%d", a.Value)
	}
	return fmt.Sprintf("%d ±%d", a.Value, *a.Error)
}

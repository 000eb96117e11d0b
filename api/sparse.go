package api

import (
	"github.com/discreet-dp/discreet/dp"
)

// SparseQuestion opens a session of the sparse vector technique: thousands of questions whether a
// count or a sum is at or above a threshold, of which only those that are answered "above" cost
// something. All of it is charged when the session is opened.
type SparseQuestion struct {
	Dataset string
	Analyst string
	Epsilon dp.Amount // of the whole session; 0 means the policy's default
	// Above is how many questions may be answered "above" before the session ends.
	Above int
	// Values says that a noisy value comes with every "above", which half of the epsilon is for.
	Values bool
	// Sensitivity is how far one person may move a question, in units of its answer: 1 for counts
	// of people. Questions that can move further are refused.
	Sensitivity int64
	// Step is the lattice of the answers, in units: 1 where it is empty, 0.01 for sums of cents.
	// All questions of a session have the same.
	Step string
	// Signed admits sums of values that can be negative, at the price of more noise.
	Signed bool
	// Request names the session. The same request never opens a second one: what the first one knew
	// is gone with it, so it is refused.
	Request string
}

// SparseVerdict is the answer to one question of a session.
type SparseVerdict struct {
	Above bool    `json:"above" doc:"Whether the number is at or above the threshold, or rather looks so"`
	Value *string `json:"value,omitempty" doc:"The noisy number, where the session has values and the answer is above"`
	Left  int     `json:"left" doc:"How many more can be above"`
	// Error is for all answers of the session so far together.
	Error float64 `json:"error" doc:"With probability 0.95, what is called above is at least the threshold less this, and what is called below at most the threshold and this"`
}

package discreet

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/dp"
)

// SparseQuestion opens a session of the sparse vector technique: any number of questions whether a count or a sum is at or above a threshold, of
// which only those that are answered "above" cost something. All of it is charged when the session is opened.
type SparseQuestion struct {
	Dataset string
	Analyst string
	Epsilon dp.Amount // of the whole session; 0 means the policy's default
	// Above is how many questions may be answered "above" before the session ends.
	Above int
	// Values says that a noisy value comes with every "above", which half of the epsilon is for.
	Values bool
	// Sensitivity is how far one person may move a question, in units of its answer: 1 for counts of people. Questions that can move further are refused.
	Sensitivity int64
	Request     string
}

// Sparse is an open session. It ends with the process; what it cost stays.
type Sparse struct{}

// SparseVerdict is the answer to one question of a session.
type SparseVerdict struct {
	Above bool
	// Value is the noisy value, where the session has values and the answer is "above".
	Value *string
	Left  int     // how many more can be "above"
	Error float64 // with probability 0.95 what is called above was at least the threshold less this, and what is called below at most the threshold and this
}

// OpenSparse charges for a session and opens it.
func (db *DB) OpenSparse(ctx context.Context, q SparseQuestion) (*Sparse, error) {
	return nil, errors.ErrUnsupported
}

// Ask asks whether the only number of a question is at or above a threshold.
func (s *Sparse) Ask(ctx context.Context, sql, threshold string) (*SparseVerdict, error) {
	return nil, errors.ErrUnsupported
}

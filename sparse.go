package discreet

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/mech"
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
	// Step is the lattice of the answers, in units: 1 where it is empty, 0.01 for sums of cents. All questions of a session have the same.
	Step string
	// Signed admits sums of values that can be negative, at the price of more noise.
	Signed bool
	// Request names the session. The same request never opens a second one: what the first one knew is gone with it, so it is refused.
	Request string
}

// How a session ends.
var (
	// ErrSessionUsed: it has given all its "above" answers.
	ErrSessionUsed = mech.ErrHalted
	// ErrSessionRun: the engine could not finish one of its questions.
	ErrSessionRun = curator.ErrSessionRun
	// ErrSessionData: the data is another.
	ErrSessionData = curator.ErrSessionData
	// ErrSessionWindow: the budget was renewed.
	ErrSessionWindow = curator.ErrSessionWindow
)

// Sparse is an open session. It ends with the process, with the data, with the window of the budget that paid for it, with its last "above", and with a question that the engine does not
// finish, which a cancelled one is; what it cost stays. It is safe for concurrent use.
type Sparse struct{ session *curator.SparseSession }

// SparseVerdict is the answer to one question of a session.
type SparseVerdict = curator.SparseVerdict

// OpenSparse charges for a session and opens it. A [*Refusal] or a [*BudgetError] spent nothing, but for the refusal of a request that
// was charged before.
func (db *DB) OpenSparse(ctx context.Context, q SparseQuestion) (*Sparse, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	if q.Request == "" {
		q.Request = db.request()
	}
	s, err := ds.OpenSparse(ctx, curator.SparseQuestion{
		Analyst: q.Analyst, Epsilon: q.Epsilon, Above: q.Above, Values: q.Values, Sensitivity: q.Sensitivity, Step: q.Step, Signed: q.Signed, Request: q.Request,
	})
	if err != nil {
		return nil, err
	}
	return &Sparse{s}, nil
}

// Ask asks whether the only number of a question is at or above a threshold. Questions are answered one after the other.
func (s *Sparse) Ask(ctx context.Context, sql, threshold string) (*SparseVerdict, error) {
	if s == nil || s.session == nil {
		return nil, errNoSession
	}
	return s.session.Ask(ctx, sql, threshold)
}

var errNoSession = errors.New("the session was not opened")

// Left returns how many questions can still be answered "above"; at 0 the session has ended.
func (s *Sparse) Left() int {
	if s == nil || s.session == nil {
		return 0
	}
	return s.session.Left()
}

// Cost returns what the session cost, and Receipt where the charge stands in the ledger.
func (s *Sparse) Cost() dp.Cost {
	if s == nil || s.session == nil {
		return dp.Cost{}
	}
	return s.session.Cost
}

// Receipt says where the charge of the session stands in the ledger.
func (s *Sparse) Receipt() curator.Receipt {
	if s == nil || s.session == nil {
		return curator.Receipt{}
	}
	return s.session.Receipt
}

// Alerts say which accounts the session took over a part of their limits.
func (s *Sparse) Alerts() []Alert {
	if s == nil || s.session == nil {
		return nil
	}
	return s.session.Alerts
}

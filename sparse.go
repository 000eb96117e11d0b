package discreet

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/sparsesession"
	"github.com/discreet-dp/discreet/ledger"
)

// Sparse is an open session. It ends with the process, with the data, with the window of the budget
// that paid for it, with its last "above", after [api.MostSparseAnswers] answers, and with a
// question that the engine does not finish, which a cancelled one is; what it cost stays. It is
// safe for concurrent use.
type Sparse struct{ session *sparsesession.Session }

// OpenSparse charges for a session and opens it. A [*api.Refusal] or a [*ledger.BudgetError] spent
// nothing, but for the refusal of a request that was charged before.
func (db *DB) OpenSparse(ctx context.Context, q api.SparseQuestion) (*Sparse, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	if q.Request == "" {
		q.Request = db.request()
	}
	s, err := ds.Sparse.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	return &Sparse{s}, nil
}

// Ask asks whether the only number of a question is at or above a threshold. Questions are answered
// one after the other.
func (s *Sparse) Ask(ctx context.Context, sql, threshold string) (*api.SparseVerdict, error) {
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
func (s *Sparse) Receipt() api.Receipt {
	if s == nil || s.session == nil {
		return api.Receipt{}
	}
	return s.session.Receipt
}

// Alerts say which accounts the session took over a part of their limits.
func (s *Sparse) Alerts() []ledger.Alert {
	if s == nil || s.session == nil {
		return nil
	}
	return s.session.Alerts
}

package discreet

import (
	"errors"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/ledger"
)

// moments are when questions that ask for the time were asked first, by the names under which they
// can be sent again: what now() is decides which question it is, and one that is sent again after a
// broken connection must be the one that was charged. They are forgotten with the process, and the
// oldest first; then such a name is refused, as one that was charged for another question.
type moments struct {
	mu    sync.Mutex
	of    map[name]time.Time
	order []moment // the oldest first; one that was forgotten counts for nothing
}

// moment is when a name was asked first.
type moment struct {
	of name
	at time.Time
}

// name is what somebody calls a question.
type name struct{ dataset, analyst, request string }

const mostMoments = 10_000

// first is the moment that is remembered for a name, or the one that is given, from now on.
func (m *moments) first(n name, now time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.of[n]; ok {
		return at
	}
	if m.of == nil {
		m.of = map[name]time.Time{}
	}
	m.of[n] = now
	if m.order = append(m.order, moment{n, now}); len(m.order) > mostMoments {
		if oldest := m.order[0]; m.of[oldest.of] == oldest.at {
			delete(m.of, oldest.of)
		}
		m.order = m.order[1:]
	}
	return now
}

// forget forgets a name under which nothing was charged.
func (m *moments) forget(n name) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, n)
}

// bindNamed is bind for a question with a name: it is asked at the moment at which it was asked
// first.
func (db *DB) bindNamed(q api.Question) (api.Question, error) {
	asked, err := syntax.Bound(q)
	if err != nil || syntax.Open(asked.SQL, asked.Parsed).Now() == "" {
		return asked, err
	}
	q.Now = db.moments.first(name{q.Dataset, q.Analyst, q.Request}, asked.Now)
	return syntax.Bound(q)
}

// unpaid forgets when a question was asked that was refused.
func (db *DB) unpaid(q api.Question, err error) {
	if errors.As(err, new(*api.Refusal)) || errors.As(err, new(*ledger.BudgetError)) {
		db.moments.forget(name{q.Dataset, q.Analyst, q.Request})
	}
}

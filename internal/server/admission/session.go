package admission

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// ErrNoSession: there is none of this name that belongs to the analyst.
var ErrNoSession = errors.New("there is no such session; it may have ended, or the server was started anew")

// Session is an interactive mechanism that an analyst has open. Kinds of sessions plug in by being
// something that can be asked.
type Session struct {
	ID      string
	Kind    string // sparse, stream or holdout
	Analyst string
	Dataset string
	Name    string // which stream or holdout of the dataset; a sparse one has no name
	Opened  time.Time
	Sparse  *discreet.Sparse

	opened bool
	left   atomic.Int64
	spent  spent
}

// Left is how many more questions can be answered "above", or from the holdout, as far as answers
// have left: the session itself knows it earlier, and with it an answer that waits for its tick. It
// is below 0 for a stream, which has no such number. Others use up a holdout too: what they took
// shows with the next answer.
func (s *Session) Left() int { return int(s.left.Load()) }

// Cost is what a session cost: all of a sparse one when it is opened, and of others what answers
// charged that have left.
func (s *Session) Cost() dp.Cost { return s.spent.sum() }

// unknown is what is left where nobody has said it.
const unknown = -1

// lower notes what an answer said that has left. Answers of questions that were asked at once may
// leave in another order.
func (s *Session) lower(left int) {
	for {
		now := s.left.Load()
		if now != unknown && now <= int64(left) || s.left.CompareAndSwap(now, int64(left)) {
			return
		}
	}
}

// OpenSparse opens a session of the sparse vector technique, which is charged for in full at once.
// Whoever has too many open gets a [*LimitError] before anything is charged.
func (d *Dispatcher) OpenSparse(ctx context.Context, q api.SparseQuestion) (*Session, error) {
	q.Dataset, q.Request = cmp.Or(q.Dataset, d.lone), Request(q.Analyst, q.Request)
	s := &Session{Kind: "sparse", Analyst: q.Analyst, Dataset: q.Dataset}
	err := d.open(ctx, s, func(ctx context.Context, e *entry) error {
		sparse, err := d.library.OpenSparse(ctx, q)
		if err != nil {
			return err
		}
		s.Sparse = sparse
		s.left.Store(int64(q.Above))
		s.spent.add(sparse.Cost())
		e.paid(sparse.Cost(), sparse.Receipt().Sequence)
		return nil
	})
	return only(&s, err)
}

// open keeps a place for a session, does what opens it, and lets it be asked.
func (d *Dispatcher) open(ctx context.Context, s *Session, work func(context.Context, *entry) error) error {
	e := &entry{kind: "open", analyst: s.Analyst, dataset: s.Dataset}
	return d.serve(ctx, e, func(ctx context.Context, e *entry) error {
		if err := d.sessions.reserve(s.Analyst); err != nil {
			return err
		}
		defer func() { d.sessions.settle(s) }() // also where there was a panic
		err := work(ctx, e)
		s.opened = err == nil
		return err
	})
}

// find finds a session of a kind, for a question to it.
func (d *Dispatcher) find(e *entry, id, kind string) *Session {
	s, err := d.sessions.find(e.analyst, id)
	if err == nil && s.Kind != kind {
		err = ErrNoSession
	}
	if e.away = err; err != nil {
		return nil
	}
	e.dataset = s.Dataset
	return s
}

// AskSparse asks a session; it takes its turn like every question. One that is stopped while it has
// its turn, by a timeout or by a cancel, ends the session, because what the engine would have said
// is not known: see [discreet.Sparse]. A session that has ended is forgotten.
func (d *Dispatcher) AskSparse(ctx context.Context, analyst, id, sql string, threshold string) (*api.SparseVerdict, error) {
	var v *api.SparseVerdict
	e := &entry{kind: "session", analyst: analyst, text: sql}
	s := d.find(e, id, "sparse")
	err := d.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		e.outcome = answered
		v, err = d.library.AskSparse(ctx, s.Sparse, sql, threshold)
		return err
	})
	if err == nil {
		s.lower(v.Left)
	}
	if err == nil && v.Left == 0 || ended(err) {
		d.sessions.remove(analyst, id)
	}
	return only(&v, err)
}

// ended says whether an error is the end of a session.
func ended(err error) bool {
	return errors.Is(err, api.ErrSessionUsed) || errors.Is(err, api.ErrSessionAsked) || errors.Is(err, api.ErrSessionRun) ||
		errors.Is(err, api.ErrSessionData) || errors.Is(err, api.ErrSessionWindow)
}

// Session returns a session of an analyst's; Sessions all of them, the oldest first; CloseSession
// ends one, which gives nothing back.
func (d *Dispatcher) Session(analyst, id string) (*Session, error) {
	return d.sessions.find(analyst, id)
}
func (d *Dispatcher) Sessions(analyst string) []*Session    { return d.sessions.list(analyst) }
func (d *Dispatcher) CloseSession(analyst, id string) error { return d.sessions.remove(analyst, id) }

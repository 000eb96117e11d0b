package desk

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet"
)

// ErrNoSession: there is none of this name that belongs to the analyst.
var ErrNoSession = errors.New("there is no such session; it may have ended, or the server was started anew")

// Session is an interactive mechanism that an analyst has open. Kinds of sessions plug in by being something that can be asked.
type Session struct {
	ID      string
	Kind    string // sparse
	Analyst string
	Dataset string
	Opened  time.Time
	Sparse  *discreet.Sparse

	left atomic.Int64
}

// Left is how many more questions can be answered "above", as far as answers have left: the session itself knows it earlier, and with it an answer that
// waits for its tick.
func (s *Session) Left() int { return int(s.left.Load()) }

// lower notes what an answer said that has left. Answers of questions that were asked at once may leave in another order.
func (s *Session) lower(left int) {
	for {
		now := s.left.Load()
		if now <= int64(left) || s.left.CompareAndSwap(now, int64(left)) {
			return
		}
	}
}

// OpenSparse opens a session of the sparse vector technique, which is charged for in full at once. Whoever has too many open gets a
// [*LimitError] before anything is charged.
func (d *Desk) OpenSparse(ctx context.Context, q discreet.SparseQuestion) (s *Session, err error) {
	q.Dataset, q.Request = cmp.Or(q.Dataset, d.lone), Request(q.Analyst, q.Request)
	e := &entry{kind: "open", analyst: q.Analyst, dataset: q.Dataset}
	err = d.serve(ctx, e, func(ctx context.Context, e *entry) error {
		if err := d.sessions.reserve(q.Analyst); err != nil {
			return err
		}
		opened := &Session{Kind: "sparse", Analyst: q.Analyst, Dataset: q.Dataset}
		defer func() { d.sessions.settle(opened) }() // also where there was a panic
		sparse, err := d.library.OpenSparse(ctx, q)
		if err != nil {
			return err
		}
		opened.Sparse, s = sparse, opened
		opened.left.Store(int64(q.Above))
		e.paid(sparse.Cost(), sparse.Receipt().Sequence)
		return nil
	})
	return only(s, err)
}

// AskSparse asks a session; it takes its turn like every question. One that is stopped while it has its turn, by a timeout or by a cancel, ends the session, because
// what the engine would have said is not known: see [discreet.Sparse]. A session that has ended is forgotten.
func (d *Desk) AskSparse(ctx context.Context, analyst, id, sql string, threshold string) (v *discreet.SparseVerdict, err error) {
	e := &entry{kind: "session", analyst: analyst, text: sql}
	s, err := d.sessions.find(analyst, id)
	if e.away = err; err == nil {
		e.dataset = s.Dataset
	}
	err = d.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		e.outcome = answered
		v, err = d.library.AskSparse(ctx, s.Sparse, sql, threshold)
		return err
	})
	v, err = only(v, err)
	if err == nil {
		s.lower(v.Left)
	}
	if err == nil && v.Left == 0 || ended(err) {
		d.sessions.remove(analyst, id)
	}
	return v, err
}

// ended says whether an error is the end of a session.
func ended(err error) bool {
	return errors.Is(err, discreet.ErrSessionUsed) || errors.Is(err, discreet.ErrSessionRun) || errors.Is(err, discreet.ErrSessionData)
}

// Session returns a session of an analyst's; Sessions all of them, the oldest first; CloseSession ends one, which gives nothing back.
func (d *Desk) Session(analyst, id string) (*Session, error) { return d.sessions.find(analyst, id) }
func (d *Desk) Sessions(analyst string) []*Session           { return d.sessions.list(analyst) }
func (d *Desk) CloseSession(analyst, id string) error        { return d.sessions.remove(analyst, id) }

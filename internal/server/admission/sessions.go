package admission

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/problem"
)

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
	spent  costSum
}

// Left is how many more questions can be answered "above", or from the holdout, as far as answers
// have left: the session itself knows it earlier, and with it an answer that waits for its tick. It
// is below 0 for a stream, which has no such number. Others use up a holdout too: what they took
// shows with the next answer.
func (s *Session) Left() int { return int(s.left.Load()) }

// Cost is what a session cost: all of a sparse one when it is opened, and of others what answers
// charged that have left.
func (s *Session) Cost() dp.Cost { return s.spent.sum() }

// leftUnknown is what is left where nobody has said it.
const leftUnknown = -1

// lower notes what an answer said that has left. Answers of questions that were asked at once may
// leave in another order.
func (s *Session) lower(left int) {
	for {
		now := s.left.Load()
		if now != leftUnknown && now <= int64(left) || s.left.CompareAndSwap(now, int64(left)) {
			return
		}
	}
}

// Sessions are the sessions of all analysts. It is safe for concurrent use.
type Sessions struct {
	library     library
	runner      *runner
	ticks       *ticks
	onlyDataset string // the only dataset, where there is one
	open        *registry
}

// OpenSparse opens a session of the sparse vector technique, which is charged for in full at once.
// Whoever has too many open gets a [*LimitError] before anything is charged.
func (all *Sessions) OpenSparse(ctx context.Context, q api.SparseQuestion) (*Session, error) {
	q.Dataset, q.Request = cmp.Or(q.Dataset, all.onlyDataset), Request(q.Analyst, q.Request)
	s := &Session{Kind: "sparse", Analyst: q.Analyst, Dataset: q.Dataset}
	err := all.start(ctx, s, func(ctx context.Context, e *entry) error {
		sparse, err := all.library.OpenSparse(ctx, q)
		if err != nil {
			return err
		}
		s.Sparse = sparse
		s.left.Store(int64(q.Above))
		s.spent.add(sparse.Cost())
		e.setCost(sparse.Cost(), sparse.Receipt().Sequence)
		return nil
	})
	return orError(&s, err)
}

// start keeps a place for a session, does what opens it, and lets it be asked.
func (all *Sessions) start(ctx context.Context, s *Session, work func(context.Context, *entry) error) error {
	e := &entry{kind: "open", analyst: s.Analyst, dataset: s.Dataset}
	return all.runner.serve(ctx, e, func(ctx context.Context, e *entry) error {
		if err := all.open.reserve(s.Analyst); err != nil {
			return err
		}
		defer func() { all.open.settle(s) }() // also where there was a panic
		err := work(ctx, e)
		s.opened = err == nil
		return err
	})
}

// find finds a session of a kind, for a question to it.
func (all *Sessions) find(e *entry, id, kind string) *Session {
	s, err := all.open.find(e.analyst, id)
	if err == nil && s.Kind != kind {
		err = ErrNoSession
	}
	if e.refusal = err; err != nil {
		return nil
	}
	e.dataset = s.Dataset
	return s
}

// AskSparse asks a session; it takes its turn like every question. One that is stopped while it has
// its turn, by a timeout or by a cancel, ends the session, because what the engine would have said
// is not known: see [discreet.Sparse]. A session that has ended is forgotten.
func (all *Sessions) AskSparse(ctx context.Context, analyst, id, sql string, threshold string) (*api.SparseVerdict, error) {
	var v *api.SparseVerdict
	e := &entry{kind: "session", analyst: analyst, text: sql}
	s := all.find(e, id, "sparse")
	err := all.runner.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		e.outcome = answered
		v, err = all.library.AskSparse(ctx, s.Sparse, sql, threshold)
		return err
	})
	if err == nil {
		s.lower(v.Left)
	}
	if err == nil && v.Left == 0 || endsSession(err) {
		all.open.remove(analyst, id)
	}
	return orError(&v, err)
}

// endsSession says whether an error is the end of a session.
func endsSession(err error) bool { return problem.Of(err).Kind == problem.Ended }

// Find returns a session of an analyst's.
func (all *Sessions) Find(analyst, id string) (*Session, error) { return all.open.find(analyst, id) }

// List returns all sessions of an analyst, the oldest first.
func (all *Sessions) List(analyst string) []*Session { return all.open.list(analyst) }

// Close ends a session, which gives nothing back.
func (all *Sessions) Close(analyst, id string) error { return all.open.remove(analyst, id) }

// registry has the open sessions. There is no goroutine that looks after them: whoever comes next
// removes what has expired, and what is left until then is bounded by the number of analysts.
type registry struct {
	maxPerAnalyst int
	idle          time.Duration

	mu    sync.Mutex
	names *entropy.Source
	open  map[string]*usedSession
	held  map[string]int // by analyst: open ones, and those that are being opened
}

// usedSession is a session and when it was last asked.
type usedSession struct {
	*Session
	used time.Time
}

func newRegistry(most int, idle time.Duration) *registry {
	return &registry{maxPerAnalyst: most, idle: idle, names: entropy.New(), open: map[string]*usedSession{}, held: map[string]int{}}
}

// reserve keeps a place for a session that is about to be paid for. Whoever has it calls settle
// once.
func (r *registry) reserve(analyst string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	if r.held[analyst] >= r.maxPerAnalyst {
		return &LimitError{fmt.Sprintf("you have %d sessions open, which is the most allowed; nothing was charged; close one of "+
			"them", r.maxPerAnalyst), r.idle}
	}
	r.held[analyst]++
	return nil
}

// settle names a session and lets it be asked, or gives its place back where it was not opened.
func (r *registry) settle(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !s.opened {
		r.release(s.Analyst)
		return
	}
	s.ID, s.Opened = r.names.Name(), time.Now()
	r.open[s.ID] = &usedSession{s, s.Opened}
}

// find returns a session of an analyst's, which counts as using it. Somebody else's is none.
func (r *registry) find(analyst, id string) (*Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	k := r.open[id]
	if k == nil || k.Analyst != analyst {
		return nil, ErrNoSession
	}
	k.used = time.Now()
	return k.Session, nil
}

func (r *registry) list(analyst string) []*Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	var all []*Session
	for _, k := range r.open {
		if k.Analyst == analyst {
			all = append(all, k.Session)
		}
	}
	slices.SortFunc(all, func(a, b *Session) int { return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID)) })
	return all
}

func (r *registry) remove(analyst, id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	k := r.open[id]
	if k == nil || k.Analyst != analyst {
		return ErrNoSession
	}
	r.drop(k)
	return nil
}

func (r *registry) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	return len(r.open)
}

// sweep removes what has expired. The lock is held.
func (r *registry) sweep() {
	for _, k := range r.open {
		if time.Since(k.used) >= r.idle {
			r.drop(k)
		}
	}
}

func (r *registry) drop(k *usedSession) {
	delete(r.open, k.ID)
	r.release(k.Analyst)
}

func (r *registry) release(analyst string) {
	if r.held[analyst]--; r.held[analyst] == 0 {
		delete(r.held, analyst)
	}
}

// costSum adds up what the answers of a session cost.
type costSum struct {
	mu   sync.Mutex
	cost dp.Cost
}

func (s *costSum) add(c dp.Cost) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cost = s.cost.Add(c)
}

func (s *costSum) sum() dp.Cost {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cost
}

// OpenStream opens a session on a stream of a dataset; the only one, where it is not named. Opening
// charges nothing. What a stream knows is in the ledger and not in the session: a stream that is
// opened again, by whomever and after whatever, goes on where it was.
func (all *Sessions) OpenStream(ctx context.Context, analyst, dataset, name string) (*Session, error) {
	s := &Session{Kind: "stream", Analyst: analyst, Dataset: cmp.Or(dataset, all.onlyDataset)}
	s.left.Store(leftUnknown)
	err := all.start(ctx, s, func(_ context.Context, e *entry) error {
		infos, err := all.library.Streams(s.Dataset)
		if err != nil {
			return err
		}
		var names []string
		for _, one := range infos {
			names = append(names, one.Name)
		}
		e.outcome = free
		s.Name, err = chooseName("stream", s.Dataset, name, names)
		return err
	})
	return orError(&s, err)
}

// AskStream asks a stream. The question's analyst and dataset are the session's.
func (all *Sessions) AskStream(ctx context.Context, analyst, id string, q api.StreamQuestion) (*api.StreamAnswer, error) {
	var a *api.StreamAnswer
	s, e := all.streamEntry(analyst, id, "session", &q)
	err := all.runner.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		q.AsOf = all.ticks.last(e.dataset)
		if a, err = all.library.AskStream(ctx, q); err == nil {
			e.setCost(a.Cost, a.Receipt.Sequence)
		}
		return err
	})
	if err == nil {
		s.spent.add(a.Cost)
	}
	return orError(&a, err)
}

// QuoteStream says, free, what a stream would do with a question. It counts like one.
func (all *Sessions) QuoteStream(ctx context.Context, analyst, id string, q api.StreamQuestion) (*api.StreamQuote, error) {
	var x *api.StreamQuote
	_, e := all.streamEntry(analyst, id, "explain", &q)
	err := all.runner.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		e.outcome = priced
		q.AsOf = all.ticks.last(e.dataset)
		x, err = all.library.QuoteStream(ctx, q)
		return err
	})
	return orError(&x, err)
}

// streamEntry finds the session of a question and fills in what the question has of it.
func (all *Sessions) streamEntry(analyst, id, kind string, q *api.StreamQuestion) (*Session, *entry) {
	e := &entry{kind: kind, analyst: analyst, text: q.SQL}
	s := all.find(e, id, "stream")
	if s != nil {
		q.Analyst, q.Dataset, q.Stream, q.Request = analyst, s.Dataset, s.Name, Request(analyst, q.Request)
	}
	return s, e
}

// Synthetic is the table that a stream predicts. It is free, and counts and waits like a question:
// making it can be work.
func (d *Dispatcher) Synthetic(ctx context.Context, user, dataset, stream string) (*api.SyntheticTable, error) {
	var t *api.SyntheticTable
	e := &entry{kind: "synthetic", analyst: user, dataset: cmp.Or(dataset, d.onlyDataset)}
	err := d.runner.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		e.outcome = free
		t, err = d.library.Synthetic(ctx, e.dataset, stream, user)
		return err
	})
	return orError(&t, err)
}

// StreamReport is the accounts of a stream, for the owner. It counts and waits like a question.
func (d *Dispatcher) StreamReport(ctx context.Context, user, dataset, name string) (*stream.Report, error) {
	var r *stream.Report
	e := &entry{kind: "report", analyst: user, dataset: cmp.Or(dataset, d.onlyDataset)}
	err := d.runner.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		e.outcome = free
		r, err = d.library.StreamReport(ctx, e.dataset, name)
		return err
	})
	return orError(&r, err)
}

// chooseName finds the stream or holdout that is meant: the only one, where none is named. It looks
// at the policy alone.
func chooseName(what, dataset, name string, names []string) (string, error) {
	switch {
	case len(names) == 0:
		return "", &api.Refusal{Reason: fmt.Sprintf("the dataset %s has no %s", dataset, what),
			Instead: fmt.Sprintf("the owner can add one to the policy, under %ss:", what), Position: -1}
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "":
		return "", &api.Refusal{Reason: fmt.Sprintf("the dataset %s has several %ss", dataset, what),
			Instead: "name one of " + strings.Join(names, ", "), Position: -1}
	case !slices.Contains(names, name):
		return "", &api.Refusal{Reason: fmt.Sprintf("the dataset %s has no such %s", dataset, what),
			Instead: "name one of " + strings.Join(names, ", "), Position: -1}
	}
	return name, nil
}

// OpenHoldout opens a session on a holdout of a dataset; the only one, where it is not named.
// Opening charges nothing, and what a holdout knows is in the ledger, as with streams.
func (all *Sessions) OpenHoldout(ctx context.Context, analyst, dataset, name string) (*Session, error) {
	s := &Session{Kind: "holdout", Analyst: analyst, Dataset: cmp.Or(dataset, all.onlyDataset)}
	s.left.Store(leftUnknown)
	err := all.start(ctx, s, func(ctx context.Context, e *entry) error {
		infos, err := all.library.Holdouts(s.Dataset)
		if err != nil {
			return err
		}
		var names []string
		for _, one := range infos {
			names = append(names, one.Name)
		}
		if s.Name, err = chooseName("holdout", s.Dataset, name, names); err != nil {
			return err
		}
		now, err := all.library.HoldoutStatus(ctx, s.Dataset, s.Name)
		if err != nil {
			return err
		}
		s.left.Store(int64(now.Left))
		e.outcome = free
		return nil
	})
	return orError(&s, err)
}

// AskHoldout has something scored. The question's analyst and dataset are the session's.
func (all *Sessions) AskHoldout(ctx context.Context, analyst, id string, q api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
	var a *api.HoldoutAnswer
	e := &entry{kind: "session", analyst: analyst, text: q.SQL}
	s := all.find(e, id, "holdout")
	if s != nil {
		q.Analyst, q.Dataset, q.Holdout, q.Request = analyst, s.Dataset, s.Name, Request(analyst, q.Request)
	}
	err := all.runner.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		if a, err = all.library.AskHoldout(ctx, q); err == nil {
			e.setCost(a.Cost, a.Receipt.Sequence)
		}
		return err
	})
	if err == nil {
		s.spent.add(a.Cost)
		s.lower(a.Left)
	}
	return orError(&a, err)
}

// Board is the list of released scores of a holdout, the best first. It counts and waits like a
// question.
func (d *Dispatcher) Board(ctx context.Context, user, dataset, holdout string) ([]api.BoardLine, error) {
	var lines []api.BoardLine
	e := &entry{kind: "board", analyst: user, dataset: cmp.Or(dataset, d.onlyDataset)}
	err := d.runner.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		e.outcome = free
		lines, err = d.library.Board(ctx, e.dataset, holdout)
		return err
	})
	if err != nil {
		return nil, err
	}
	return lines, nil
}

package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/predict"
)

// Session is an open stream. It is safe for concurrent use.
type Session struct {
	host  session.Host
	fetch Loader
	*sharedState
}

// sharedState is what is one for a session, however many pay for it; see [Session.WithHost].
type sharedState struct {
	config   Config
	releaser *mech.Releaser

	mu    sync.Mutex
	data  *histogram.Table // nil until it is needed
	state *state
	round *mech.AboveRound // the open one, where state has its secret
	read  int              // entries of the journal that are in the state
	// stale says that an entry may or may not be in the journal, so that it has to be read again.
	stale bool
	// Questions that leave no trace in the journal, since this Session was opened.
	cached, unchecked, refused int
	unanswered                 map[key]bool // those that were not answered, or unchecked
}

// Loader reads the data of a stream. It is called once, by the first question that has to look at
// data, after a charge of the stream is durable. Where it fails nothing was compared and nothing
// drawn, the error is passed on, and the next question calls it again.
type Loader func(context.Context) (*histogram.Table, error)

// Open opens a stream on a host, or goes on with the one that its journal has. It does not look at
// the data.
func Open(ctx context.Context, c Config, data Loader, r *mech.Releaser, h session.Host) (*Session, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if data == nil || r == nil || h == nil {
		return nil, fmt.Errorf("%w: it needs data, noise and a host", ErrConfig)
	}
	s := &Session{h, data, &sharedState{config: c, releaser: r, unanswered: map[key]bool{}}}
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// WithHost returns the same session for somebody else who pays: on a host with the same journal,
// whose charges are theirs, and with a loader that runs for them.
func (s *Session) WithHost(h session.Host, data Loader) *Session {
	return &Session{h, data, s.sharedState}
}

// table returns the data. Something was charged before.
func (s *Session) table(ctx context.Context) (*histogram.Table, error) {
	if s.data != nil {
		return s.data, nil
	}
	t, err := s.fetch(ctx)
	if err != nil {
		return nil, err
	}
	if t == nil || t.Domain() != s.config.Domain {
		return nil, fmt.Errorf("%w: the data is over another domain", ErrConfig)
	}
	s.data = t
	return t, nil
}

func (s *Session) load(ctx context.Context) error {
	c := s.config
	entries, err := s.host.Entries(ctx)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		t, err := Price(c)
		if err != nil {
			return err
		}
		fresh, err := newState(c, t)
		if err != nil {
			return err
		}
		first, err := writeHead(c, t.prices)
		if err != nil {
			return err
		}
		err = session.AppendAfter(ctx, s.host, 0, first)
		if errors.Is(err, session.ErrBehind) { // somebody else has opened it, and it has entries now
			return s.load(ctx)
		}
		if err != nil {
			return err
		}
		s.state, s.round, s.read, s.stale = fresh, nil, 1, false
		return nil
	}
	t, err := readHead(c, entries[0])
	if err != nil {
		return err
	}
	fresh, err := newState(c, t)
	if err != nil {
		return err
	}
	for _, e := range entries[1:] {
		if err := fresh.replay(e); err != nil {
			return err
		}
	}
	var round *mech.AboveRound
	if fresh.secret != nil {
		if round, err = s.releaser.ResumeAbove(t.above, fresh.secret); err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
	}
	s.state, s.round, s.read, s.stale = fresh, round, len(entries), false
	return nil
}

// readNewEntries takes in what others have written since.
func (s *Session) readNewEntries(ctx context.Context) error {
	if s.stale {
		return s.load(ctx)
	}
	more, err := session.EntriesAfter(ctx, s.host, s.read)
	if err != nil || len(more) == 0 {
		return err
	}
	s.stale = true // until all of it is in the state
	for _, e := range more {
		if err := s.state.replay(e); err != nil {
			return err
		}
	}
	s.round = nil
	if s.state.secret != nil {
		if s.round, err = s.releaser.ResumeAbove(s.state.tariff.above, s.state.secret); err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
	}
	s.read, s.stale = s.read+len(more), false
	return nil
}

// Tariff is what the stream charges. A stream that was opened by an earlier version keeps its own.
func (s *Session) Tariff() Tariff {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.state.tariff
}

// Renew ends the round that is open, where it was paid for in another period of the host's budget.
// Ask does it by itself; it is for those who want a Quote that holds.
func (s *Session) Renew(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.retryIfBehind(ctx, func() error { return s.renew(ctx) })
}

// retryIfBehind does something with all that the journal has, and once more where somebody else was
// first.
func (s *Session) retryIfBehind(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := s.readNewEntries(ctx)
		if err == nil {
			err = do()
		}
		if !errors.Is(err, session.ErrBehind) || try == session.MaxTries {
			return err
		}
	}
}

func (s *Session) renew(ctx context.Context) error {
	now, err := session.PeriodOf(ctx, s.host)
	if err != nil || now <= s.state.period {
		return err
	}
	s.round = nil
	return s.appendEntry(ctx, newEntry(periodEntry).number(int64(now)))
}

// Learn takes an answer into account that was released elsewhere.
func (s *Session) Learn(ctx context.Context, r predict.Released) error {
	if err := s.check(r.Query); err != nil {
		return err
	}
	if !(r.Scale >= 0) || math.IsInf(r.Scale, 0) {
		return fmt.Errorf("%w: the noise of what is to be learned has the deviation %v", ErrConfig, r.Scale)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.retryIfBehind(ctx, func() error {
		if s.state.predictor == nil {
			return nil
		}
		return s.appendEntry(ctx, newEntry(learnedEntry).answer(r.Query, r.Answer).number(int64(math.Float64bits(r.Scale))))
	})
}

// Way says how an answer was found.
type Way = api.StreamWay

const (
	Cached    Way = "cached"    // the same question was answered before: free
	Predicted Way = "predicted" // predicted, and tested: free
	Paid      Way = "paid"      // the test found the prediction wrong
	Plain     Way = "plain"     // paid for without a test
	Unchecked Way = "unchecked" // the budget is gone; predicted without a test: free, and without the guarantee
)

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

// Report says what a stream has spent, and on what.
type Report = api.StreamReport

func (s *Session) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state
	r := st.count
	r.Cached, r.Unchecked, r.Refused = s.cached, s.unchecked, s.refused
	r.Different = len(st.answers)
	for k := range s.unanswered {
		if _, ok := st.answers[k]; !ok {
			r.Different++
		}
	}
	r.Asked = len(st.answers) + r.Cached + r.Unchecked + r.Refused
	r.Marginals = st.bonuses
	r.Spent = st.spent
	r.Cache = st.tariff.Cache.Mul(uint64(r.Different))
	r.Naive = st.tariff.Cache.Mul(uint64(r.Asked))
	return r
}

// Synthetic returns the current histogram in whole people, which add up to the predicted total, and
// nil for a cache, which has none. It was made of released answers alone, so that it costs nothing.
// Every cell gets its estimate rounded down, and the people that are left go to the cells with the
// largest remainders, those that come first where these are equal: a cell is off by less than one
// from its estimate.
func (s *Session) Synthetic() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.predictor == nil {
		return nil
	}
	return roundToIntegers(s.state.predictor.Histogram())
}

func roundToIntegers(h []float64) []int64 {
	out := make([]int64, len(h))
	var total float64
	var sum int64
	for i, x := range h {
		if !(x > 0) || math.IsInf(x, 1) {
			h[i] = 0
			continue
		}
		total += x
		out[i] = int64(math.Floor(x))
		sum += out[i]
	}
	left := int(int64(math.Round(total)) - sum)
	if left <= 0 {
		return out
	}
	order := make([]int32, 0, len(h))
	for i, x := range h {
		if x > math.Floor(x) {
			order = append(order, int32(i))
		}
	}
	remainder := func(i int32) float64 { return h[i] - math.Floor(h[i]) }
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(remainder(b), remainder(a)) })
	for _, i := range order[:min(left, len(order))] {
		out[i]++
	}
	return out
}

package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/session"
	"github.com/discreet-dp/discreet/stream/histogram"
	"github.com/discreet-dp/discreet/stream/linear"
	"github.com/discreet-dp/discreet/stream/predict"
)

// Session is an open stream. It is safe for concurrent use.
type Session struct {
	config Config
	r      *mech.Releaser
	h      session.Host

	mu    sync.Mutex
	fetch Loader
	data  *histogram.Table // nil until it is needed
	state *state
	round *mech.AboveRound // the open one, where state has its secret
	// stale says that an entry may or may not be in the journal, so that it has to be read again.
	stale bool
	// Questions that leave no trace in the journal, since this Session was opened.
	cached, unchecked, refused int
	unanswered                 map[key]bool // those that were not answered, or unchecked
}

// Loader reads the data of a stream. It is called once, by the first question that has to look at data, after a charge of the stream is durable. Where it fails nothing was
// compared and nothing drawn, the error is passed on, and the next question calls it again.
type Loader func(context.Context) (*histogram.Table, error)

// Open opens a stream on a host, or goes on with the one that its journal has. It does not look at the data.
func Open(ctx context.Context, c Config, data Loader, r *mech.Releaser, h session.Host) (*Session, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if data == nil || r == nil || h == nil {
		return nil, fmt.Errorf("%w: it needs data, noise and a host", ErrConfig)
	}
	s := &Session{config: c, fetch: data, r: r, h: h, unanswered: map[key]bool{}}
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	return s, nil
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

// load makes the state from the journal.
func (s *Session) load(ctx context.Context) error {
	c := s.config
	entries, err := s.h.Entries(ctx)
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
		if err := s.h.Append(ctx, first); err != nil {
			return err
		}
		s.state, s.round, s.stale = fresh, nil, false
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
		if round, err = s.r.ResumeAbove(t.above, fresh.secret); err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
	}
	s.state, s.round, s.stale = fresh, round, false
	return nil
}

// Tariff is what the stream charges. A stream that was opened by an earlier version keeps its own.
func (s *Session) Tariff() Tariff {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.state.tariff
}

// check refuses a question that is not one of this stream.
func (s *Session) check(q *linear.Query) error {
	c := s.config
	switch {
	case q == nil:
		return fmt.Errorf("%w: there is no query", linear.ErrQuery)
	case q.Domain() != c.Domain:
		return fmt.Errorf("%w: it is over another domain; make it with the domain of the stream", linear.ErrQuery)
	case q.Steps() != c.Steps:
		return fmt.Errorf("%w: its weights are in steps of 1/%d and those of the stream in 1/%d", linear.ErrQuery, q.Steps(), c.Steps)
	}
	return nil
}

// Quote says, free and without looking at data, what Ask would do: the way and the most it can cost now.
func (s *Session) Quote(q *linear.Query) (Way, dp.Cost, error) {
	if err := s.check(q); err != nil {
		return "", dp.Cost{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state
	if _, ok := st.answers[keyOf(q)]; ok {
		return Cached, dp.Cost{}, nil
	}
	switch st.rule(st.spread(q)) {
	case testIt:
		return Predicted, dp.Cost{}, nil
	case openRound:
		return Predicted, st.tariff.Round, nil
	case payPlain:
		return Plain, st.tariff.Plain, nil
	case buyBonus:
		// What comes after a marginal cannot be known before it is bought. At most all of them and a round.
		cost := st.tariff.Round
		for _, set := range st.wanted.sets[st.bonuses:] {
			cost = cost.Add(st.tariff.marginal(set).Cost())
		}
		return Predicted, cost, nil
	}
	if _, ok := st.unchecked(q); ok {
		return Unchecked, dp.Cost{}, nil
	}
	return "", dp.Cost{}, st.spentError()
}

// Ask answers. What has to be paid is charged before the data is looked at, and all that an answer depends on is in the journal before it is
// returned.
func (s *Session) Ask(ctx context.Context, q *linear.Query) (*Answer, error) {
	if err := s.check(q); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stale {
		if err := s.load(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.renew(ctx); err != nil {
		return nil, err
	}
	a := &Answer{Error: s.state.tariff.Error}
	if v, ok := s.state.answers[keyOf(q)]; ok {
		s.cached++
		a.Value, a.Way = v, Cached
		return a, nil
	}
	if err := s.answer(ctx, q, a); err != nil {
		return nil, err
	}
	return a, nil
}

// Renew ends the round that is open, where it was paid for in another period of the host's budget. Ask does it by itself; it is for those who want a Quote that holds.
func (s *Session) Renew(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stale {
		if err := s.load(ctx); err != nil {
			return err
		}
	}
	return s.renew(ctx)
}

func (s *Session) renew(ctx context.Context) error {
	now, err := session.PeriodOf(ctx, s.h)
	if err != nil || now <= s.state.period {
		return err
	}
	s.round = nil
	return s.append(ctx, newEntry(periodEntry).number(int64(now)))
}

func (s *Session) answer(ctx context.Context, q *linear.Query, a *Answer) error {
	for {
		st := s.state
		switch st.rule(st.spread(q)) {
		case testIt:
			return s.test(ctx, q, a)
		case openRound:
			err := s.open(ctx, a)
			if err == nil {
				return s.test(ctx, q, a)
			}
			if !errors.Is(err, session.ErrBudget) || !st.affords(st.tariff.Plain) {
				return s.without(q, a, err)
			}
			// The host has less than the stream was promised. A plain answer may still fit.
			fallthrough
		case payPlain:
			if err := s.plain(ctx, q, a); err != nil {
				return s.without(q, a, err)
			}
			return nil
		case buyBonus:
			if err := s.bonus(ctx, a); err != nil {
				return s.without(q, a, err)
			}
		case giveUp:
			return s.without(q, a, st.spentError())
		}
	}
}

// mostUnanswered bounds the memory of those who ask for what is refused.
const mostUnanswered = 1 << 20

// without answers where nothing could be bought: unchecked where candidates agree, and else not at all.
func (s *Session) without(q *linear.Query, a *Answer, err error) error {
	if !errors.Is(err, ErrSpent) && !errors.Is(err, session.ErrBudget) {
		return err
	}
	if len(s.unanswered) < mostUnanswered {
		s.unanswered[keyOf(q)] = true
	}
	if v, ok := s.state.unchecked(q); ok {
		s.unchecked++
		a.Value, a.Error, a.Way = v, 0, Unchecked
		return nil
	}
	s.refused++
	return err
}

// unchecked returns a prediction that candidates agree on.
func (s *state) unchecked(q *linear.Query) (int64, bool) {
	if s.predictor == nil {
		return 0, false
	}
	v, spread := s.predict(q)
	return v, spread <= float64(s.tariff.Error)
}

func (s *state) spentError() error {
	if len(s.answers) >= s.config.Queries {
		return fmt.Errorf("%w: it was declared for %d different questions, and has answered as many; ask what was asked before, or have the owner open a stream for more", ErrSpent, s.config.Queries)
	}
	return fmt.Errorf("%w: %v of %v is spent; ask what was asked before, or for what the answers so far agree on, or have the owner open a stream with a larger budget", ErrSpent,
		s.config.amount(s.spent), s.tariff.Limit)
}

// charge buys something, once for each name.
func (s *Session) charge(ctx context.Context, name, mechanisms string, cost dp.Cost, a *Answer) error {
	r, err := s.h.Charge(ctx, session.Charge{Name: name, Mechanisms: mechanisms, Cost: cost})
	if err != nil {
		return err
	}
	if a.Receipt = r; !r.Again {
		a.Cost = a.Cost.Add(cost)
	}
	return nil
}

// append writes an entry and takes it into the state. Where it fails it is not known whether the entry is there, so the state is read anew before anything else.
func (s *Session) append(ctx context.Context, e *entry) error {
	if err := s.h.Append(ctx, e.b); err != nil {
		s.stale = true
		return err
	}
	return s.state.replay(e.b)
}

// open buys a round. Its threshold's noise is in the journal before anything is compared to it.
func (s *Session) open(ctx context.Context, a *Answer) error {
	t := s.state.tariff
	if err := s.charge(ctx, fmt.Sprintf("round %d", s.state.rounds+1), t.RoundMechanisms, t.Round, a); err != nil {
		return err
	}
	round := s.r.OpenAbove(t.above)
	if err := s.append(ctx, newEntry(openedEntry).number(int64(s.state.rounds+1)).bytes(round.Secret())); err != nil {
		return err
	}
	s.round = round
	return nil
}

// test compares a prediction with the truth in the open round.
func (s *Session) test(ctx context.Context, q *linear.Query, a *Answer) error {
	t, guess := s.state.tariff, s.state.guess(q)
	data, err := s.table(ctx)
	if err != nil {
		return err
	}
	exact := data.Answer(q)
	far, err := s.round.AskDistance(exact, guess, t.Threshold)
	if err != nil {
		return err
	}
	// Both entries are of the same length: whoever sees that one did not fit on a disk must not know which it was.
	if !far {
		a.Value, a.Way = guess, Predicted
		return s.append(ctx, newEntry(freeEntry).answer(q, guess))
	}
	v := s.r.Release(exact, t.paid)[0]
	a.Value, a.Way = max(0, v), Paid
	// Whatever becomes of the entry, this round is over.
	s.round = nil
	return s.append(ctx, newEntry(firedEntry).answer(q, v))
}

// plain buys an answer.
func (s *Session) plain(ctx context.Context, q *linear.Query, a *Answer) error {
	t := s.state.tariff
	if err := s.charge(ctx, fmt.Sprintf("plain %d", s.state.plains+1), t.PlainMechanisms, t.Plain, a); err != nil {
		return err
	}
	data, err := s.table(ctx)
	if err != nil {
		return err
	}
	v := s.r.Release(data.Answer(q), t.plain)[0]
	a.Value, a.Way = max(0, v), Plain
	return s.append(ctx, newEntry(plainEntry).answer(q, v).number(int64(s.state.plains+1)))
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
	if s.stale {
		if err := s.load(ctx); err != nil {
			return err
		}
	}
	if s.state.predictor == nil {
		return nil
	}
	return s.append(ctx, newEntry(learnedEntry).answer(r.Query, r.Answer).number(int64(math.Float64bits(r.Scale))))
}

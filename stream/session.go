package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/discreet-dp/discreet/internal/stream/histogram"
	"github.com/discreet-dp/discreet/internal/stream/predict"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/session"
)

// Session is an open stream. It is safe for concurrent use.
type Session struct {
	h     session.Host
	fetch Loader
	*opened
}

// opened is what is one for a session, however many pay for it; see [Session.With].
type opened struct {
	config Config
	r      *mech.Releaser

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
	s := &Session{h, data, &opened{config: c, r: r, unanswered: map[key]bool{}}}
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// With returns the same session for somebody else who pays: on a host with the same journal, whose
// charges are theirs, and with a loader that runs for them.
func (s *Session) With(h session.Host, data Loader) *Session { return &Session{h, data, s.opened} }

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
		err = session.AppendAfter(ctx, s.h, 0, first)
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
		if round, err = s.r.ResumeAbove(t.above, fresh.secret); err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
	}
	s.state, s.round, s.read, s.stale = fresh, round, len(entries), false
	return nil
}

// follow takes in what others have written since.
func (s *Session) follow(ctx context.Context) error {
	if s.stale {
		return s.load(ctx)
	}
	more, err := session.EntriesAfter(ctx, s.h, s.read)
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
		if s.round, err = s.r.ResumeAbove(s.state.tariff.above, s.state.secret); err != nil {
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
	return s.anew(ctx, func() error { return s.renew(ctx) })
}

// anew does something with all that the journal has, and once more where somebody else was first.
func (s *Session) anew(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := s.follow(ctx)
		if err == nil {
			err = do()
		}
		if !errors.Is(err, session.ErrBehind) || try == session.Tries {
			return err
		}
	}
}

func (s *Session) renew(ctx context.Context) error {
	now, err := session.PeriodOf(ctx, s.h)
	if err != nil || now <= s.state.period {
		return err
	}
	s.round = nil
	return s.append(ctx, newEntry(periodEntry).number(int64(now)))
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
	return s.anew(ctx, func() error {
		if s.state.predictor == nil {
			return nil
		}
		return s.append(ctx, newEntry(learnedEntry).answer(r.Query, r.Answer).number(int64(math.Float64bits(r.Scale))))
	})
}

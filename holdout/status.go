package holdout

import (
	"context"

	"github.com/discreet-dp/discreet/session"
)

// Status is what can be said before a question is asked. It follows from what was released.
type Status struct {
	// Known says that the question was answered before, and is free.
	Known bool
	// Open says that a round is open, so that a new question is charged nothing.
	Open bool
	Left int
	// Told is how many different questions were answered. All of them are in the journal.
	Told int
	// Receipt is that of the round that the answer belongs to, where it is known.
	Receipt session.Receipt
}

// Status says what a question with a key would meet. It charges nothing and compares nothing.
func (s *Session) Status(ctx context.Context, key string) (Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.current(ctx); err != nil {
		return Status{}, err
	}
	period, err := session.PeriodOf(ctx, s.host)
	if err != nil {
		return Status{}, err
	}
	out := Status{Open: s.state.open != nil && period <= s.state.period, Left: s.left(), Told: len(s.state.answers)}
	if g, known := s.state.answers[key]; known {
		out.Known, out.Receipt = true, s.state.receipts[g.round-1]
	}
	return out, nil
}

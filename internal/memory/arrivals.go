package memory

import (
	"context"
	"sync"
	"time"
)

// arrivals knows when the latest answers were kept, for questions that must not see them yet. When
// an answer is there depends on how long it took, and that can depend on the data. Where answers
// leave on a tick, whoever prices the same question, or one that is made of it, in between would
// see from the price whether it is there, to the microsecond. So such questions name a moment, the
// last tick, and what was kept after it does not exist for them.
type arrivals struct {
	mu   sync.Mutex
	kept map[uint64]time.Time // by the charge; zero while it is being kept
}

// Memorable is how long it is known when an answer was kept. No tick is longer than half of it.
const Memorable = 2 * time.Minute

// note says that the answer of a charge will be there any moment; what it returns, that it is.
func (f *arrivals) note(sequence uint64) (done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		f.kept = map[uint64]time.Time{}
	}
	for s, at := range f.kept {
		if !at.IsZero() && time.Since(at) > Memorable {
			delete(f.kept, s)
		}
	}
	f.kept[sequence] = time.Time{}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.kept[sequence] = time.Now()
	}
}

// learn takes in when an answer was kept that is found in the ledger: by another server, or by
// the process before. Their clocks may differ from ours by less than it is known for; ticks stay
// what is seen of it.
func (f *arrivals) learn(sequence uint64, kept time.Time) {
	if time.Since(kept).Abs() > Memorable {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.kept[sequence]; known {
		return
	}
	if f.kept == nil {
		f.kept = map[uint64]time.Time{}
	}
	f.kept[sequence] = kept
}

// hides reports whether the answer of a charge was not there at a moment. A zero moment is now.
func (f *arrivals) hides(sequence uint64, at time.Time) bool {
	if at.IsZero() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	kept, known := f.kept[sequence]
	return known && (kept.IsZero() || kept.After(at))
}

// Hides reports whether the answer of a charge was not there at a moment. A zero moment is now.
func (m *Memory) Hides(sequence uint64, at time.Time) bool { return m.arrivals.hides(sequence, at) }

// KeepText stores an answer of another kind under its key.
func (m *Memory) KeepText(ctx context.Context, sequence uint64, key string, text []byte) error {
	defer m.arrivals.note(sequence)()
	return m.ledger.Keep(ctx, sequence, key, text)
}

// RecallText returns an answer of another kind, where it was kept and may be seen.
func (m *Memory) RecallText(ctx context.Context, key string, see Horizon) (text []byte, sequence uint64, found bool, err error) {
	text, sequence, found, err = m.ledger.Recall(ctx, key)
	return text, sequence, found && !(see.Spoken && m.Hides(sequence, see.AsOf)), err
}

// Answer returns what was kept for a request.
func (m *Memory) Answer(ctx context.Context, request string) (text []byte, found bool, err error) {
	return m.ledger.Answer(ctx, request)
}

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
//
// What a server keeps it keeps on a tick (package pace), so this is a second wall.
type arrivals struct {
	mu   sync.Mutex
	kept map[uint64]arrival // by the charge
}

type arrival struct {
	at        time.Time // zero while it is being kept
	elsewhere bool      // by another server, or by the process before
}

// Memorable is how long it is known when an answer was kept. No tick is longer than half of it.
const Memorable = 2 * time.Minute

// lag is how much later than an answer says an answer of another server may be there: it says when
// it was to be kept, by that server's clock, and not when it could be read. Prices wait for so much
// longer.
const lag = 2 * time.Second

// put notes an arrival, and forgets those that no tick is about any more.
func (f *arrivals) put(sequence uint64, a arrival) {
	if f.kept == nil {
		f.kept = map[uint64]arrival{}
	}
	for s, a := range f.kept {
		if !a.at.IsZero() && time.Since(a.at) > Memorable {
			delete(f.kept, s)
		}
	}
	f.kept[sequence] = a
}

// note says that the answer of a charge will be there any moment; what it returns, that it is.
func (f *arrivals) note(sequence uint64) (done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(sequence, arrival{})
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.put(sequence, arrival{at: time.Now()})
	}
}

// learn takes in when an answer was kept that is found in the ledger.
func (f *arrivals) learn(sequence uint64, kept time.Time) {
	if time.Since(kept).Abs() > Memorable {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.kept[sequence]; !known {
		f.put(sequence, arrival{kept, true})
	}
}

// hides reports whether the answer of a charge was not there at the moment of a question.
func (f *arrivals) hides(sequence uint64, see Horizon) bool {
	if see.AsOf.IsZero() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a, known := f.kept[sequence]
	if a.elsewhere && see.Spoken {
		a.at = a.at.Add(lag)
	}
	return known && (a.at.IsZero() || a.at.After(see.AsOf))
}

// hidesSame is hides for an answer to the same question. One that is asked gets an answer of its
// own that is there in any case: whoever asked it first here was waited for, and on another server
// it is there from a tick on.
func (f *arrivals) hidesSame(sequence uint64, see Horizon) bool {
	return see.Spoken && f.hides(sequence, see)
}

// KeepText stores an answer of another kind under its key. It says when, for [Memory.Shows].
func (m *Memory) KeepText(ctx context.Context, sequence uint64, key string, text []byte) error {
	defer m.arrivals.note(sequence)()
	return m.ledger.Keep(ctx, sequence, key, text)
}

// RecallText returns an answer of another kind, where it was kept.
func (m *Memory) RecallText(ctx context.Context, key string) (text []byte, sequence uint64, found bool, err error) {
	return m.ledger.Recall(ctx, key)
}

// Shows reports whether an answer of another kind may be seen, which says that it was kept at a
// moment.
func (m *Memory) Shows(sequence uint64, kept time.Time, see Horizon) bool {
	m.arrivals.learn(sequence, kept)
	return !m.arrivals.hidesSame(sequence, see)
}

// Answer returns what was kept for a request.
func (m *Memory) Answer(ctx context.Context, request string) (text []byte, found bool, err error) {
	return m.ledger.Answer(ctx, request)
}

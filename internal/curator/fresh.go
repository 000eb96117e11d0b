package curator

import (
	"sync"
	"time"
)

// fresh knows when the latest answers were kept, for questions that must not see them yet. When an answer is there depends on how long it
// took, and that can depend on the data. Where answers leave on a tick, whoever prices the same question, or one that is made of it, in between would
// see from the price whether it is there, to the microsecond. So such questions name a moment, the last tick, and what was kept after it does not
// exist for them.
type fresh struct {
	mu   sync.Mutex
	kept map[uint64]time.Time // by the charge; zero while it is being kept
}

// memorable is how long it is known when an answer was kept. No tick is longer than half of it.
const memorable = 2 * time.Minute

// begin says that the answer of a charge will be there any moment; what it returns, that it is.
func (f *fresh) begin(sequence uint64) (done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		f.kept = map[uint64]time.Time{}
	}
	for s, at := range f.kept {
		if !at.IsZero() && time.Since(at) > memorable {
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

// hides reports whether the answer of a charge was not there at a moment. A zero moment is now.
func (f *fresh) hides(sequence uint64, at time.Time) bool {
	if at.IsZero() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	kept, known := f.kept[sequence]
	return known && (kept.IsZero() || kept.After(at))
}

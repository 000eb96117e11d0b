package admission

import (
	"sync"
)

// Stats are what the dispatcher counts, none of which depends on data: how many questions came,
// were refused for their text, for the budget, for limits, and how many are there. Of time there is
// nothing, and of failures only those that the text or the ledger decides.
//
// Questions are counted when they come, and prices and descriptions among them; what came of them
// when it leaves. Running and Waiting share out the questions whose answers have not left, in as
// many as can have a turn and the rest: who really is with the engine would show how long questions
// take.
type Stats struct {
	Questions, Answered, Free, Refused, Exhausted, Closed, Limited uint64
	// refused because two checks of ours do not agree: something to look at
	Disputed         uint64
	Running, Waiting int
	Sessions         int
}

// counts are the part of Stats that only grows.
type counts struct {
	mu sync.Mutex
	Stats
}

func (c *counts) came() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Questions++
}

func (c *counts) left(o outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch o {
	case answered:
		c.Answered++
	case free:
		c.Answered++
		c.Free++
	case refused:
		c.Refused++
	case disputed:
		c.Disputed++
	case exhausted:
		c.Exhausted++
	case closed:
		c.Closed++
	case limited:
		c.Limited++
	}
}

// Stats returns what was counted since the start.
func (d *Dispatcher) Stats() Stats {
	d.counts.mu.Lock()
	s := d.counts.Stats
	d.counts.mu.Unlock()
	s.Running, s.Waiting = d.queue.count()
	s.Sessions = d.sessions.count()
	return s
}

package releaseclock

import (
	"context"
	"runtime"
	"time"
)

// A server also works on what is public: it plans and prices questions, and computes queries over
// answers. How long that takes depends on what else the machine does, and so on how long a question
// on private data works beside it: whoever looks at the clock of one learns about the other. And it
// takes processors away from questions that have a public time.
//
// So it is on the schedule too. While it goes on it has its part of the machine like all others,
// and what comes of it leaves when the schedule has given it more than the processor time that it
// took. That time is a thread's own, and nearly the same on a machine that is idle or busy.

// Begin opens the work on what is public, which goes on until the question looks at private data.
// The calling goroutine keeps its thread until End.
//
// With ticks alone there is no schedule to put it on. Then it is counted, see [Clock.Planned].
func (c *Clock) Begin() {
	runtime.LockOSThread()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.thread = thisThread()
	c.openPublic()
}

// openPublic puts an open job on the schedule, where there is one. The lock is held.
func (c *Clock) openPublic() {
	if c.thread == (thread{}) {
		return
	}
	c.plain, c.used = true, c.thread.worked()
	if c.schedule != nil {
		c.job = &job{}
		c.schedule.open(c.job)
	}
}

// closePublic ends the work on what is public, where it is open, and gives the job so much to do on
// what is private. It returns for how long the first is on the schedule. The lock is held.
func (c *Clock) closePublic(private time.Duration) (plain time.Duration, closed bool) {
	if !c.plain {
		return 0, false
	}
	c.plain = false
	worked := c.thread.worked() - c.used
	if c.leaveAside == nil {
		c.planned += plainTime(worked, 0)
	}
	if c.schedule == nil {
		return 0, true
	}
	return c.schedule.close(c.job, worked, private), true
}

// plainTime is for how long work on what is public is on the schedule, where a processor worked
// for so long and so much of the schedule has gone by. It is told in few steps, and what is usual
// is none of them.
func plainTime(worked, gone time.Duration) time.Duration {
	takes := usualPlain
	if worked <= usualPlanning && gone <= takes {
		return 0
	}
	for takes < worked+worked/2 || takes < gone {
		takes *= 2
	}
	return takes
}

// usualPlanning is what planning a question takes a processor at most, usually, and usualPlain for
// how long that is on the schedule.
const (
	usualPlanning = 2 * time.Millisecond
	usualPlain    = 2 * usualPlanning
)

// Leave waits until all that the question did may be seen, also where it looked at nothing private.
// With ticks alone whoever asked waits for the next one.
func (c *Clock) Leave() {
	c.mu.Lock()
	takes, _ := c.closePublic(0)
	j, looked := c.job, c.unsettled && c.schedule != nil
	if !looked && takes == 0 {
		c.job = nil
	}
	c.mu.Unlock()
	if looked {
		c.Settle()
	} else if takes > 0 {
		c.schedule.wait(j)
		c.endAside()
		c.wait()
		c.mu.Lock()
		c.waited, c.job = true, nil
		c.mu.Unlock()
	}
}

// End gives back what Begin took.
func (c *Clock) End() {
	c.endAside()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closePublic(0)
	c.job, c.thread = nil, thread{}
	runtime.UnlockOSThread()
}

// Planned is what the question has worked on what is public, in the steps of the schedule: what is
// usual counts for nothing, and queries over answers do not count.
func (c *Clock) Planned() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.planned
}

// Beside does what is public beside questions: it has its part of the machine while it goes on.
// Where it is paced it returns when the schedule has given it its time. It returns how long a
// processor worked for it.
func (s *Schedule) Beside(ctx context.Context, paced bool, do func(context.Context) error) (worked time.Duration, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	j, t := &job{}, thisThread()
	before := t.worked()
	s.open(j)
	plain := time.Duration(0)
	func() {
		defer func() { // also where there was a panic
			if worked = t.worked() - before; paced {
				plain = s.close(j, worked, 0)
			} else {
				s.close(j, 0, 0)
			}
		}()
		err = do(ctx)
	}()
	if plain > 0 {
		s.wait(j)
	}
	return worked, err
}

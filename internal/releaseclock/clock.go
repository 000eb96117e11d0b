// Package releaseclock decides when what comes of a question may be seen, from the moment on at
// which the question has looked at private data.
//
// How long that took can depend on the data: on how many rows pass a condition, and on whether one
// of them does, where one row switches on work for all others. What is written into the ledger is
// seen by others too: in what is left of a budget, in the numbers of receipts, in prices, on every
// server that shares it. So nothing is written, and nothing leaves, when it happens to be done.
//
// With ticks alone it waits for the next tick, and then the clock tells how many ticks it was. With
// a [Schedule] every run of the engine has a public time, which everybody can compute, and what
// comes of it waits until the schedule says that this time is over. The schedule is made of public
// times and of when questions began, so when an answer leaves is a public function. A run that is
// not done by then is the one thing that is left to tell; see [Run].
package releaseclock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrLate: a question worked for longer than its public time, alone on the machine. It is a failure
// like others, and counted as one.
var ErrLate = errors.New("the question worked for longer than its public time")

// Clock is that of one question.
type Clock struct {
	wait       func()        // for the tick
	schedule   *Schedule     // nil where there are ticks alone
	limit      time.Duration // of the public time of the question
	began      chan struct{} // closed when it has looked for the first time, where it is on a schedule
	turns      Turns         // nil where there are none
	leaveAside func()        // leaves the place that it has beside those who have turns; nil where it has none

	mu         sync.Mutex
	unsettled  bool // it has looked since the last time that it settled
	sawPrivate bool // it has looked at all
	waited     bool
	job        *job          // in the schedule since then, or nil
	thread     thread        // that works on what is public; none where nobody began that
	plain      bool          // it works on what is public
	used       time.Duration // what it had worked when that began
	planned    time.Duration // what it has worked on what is public, in steps
}

// New returns the pace of a question that waits for ticks by a function.
func New(wait func()) *Clock { return &Clock{wait: wait} }

// SetSchedule puts the question on a schedule, where its public time may be so long. Began is
// closed when it looks at private data for the first time: from then on nobody stops it.
func (c *Clock) SetSchedule(s *Schedule, limit time.Duration, began chan struct{}) {
	c.schedule, c.limit, c.began = s, limit, began
}

// Shield returns a context for the question that ends with ctx until the question has looked at
// private data, and never after that: what comes of it must not depend on whether the work was done
// when somebody stopped it. The function gives back what it takes.
func (c *Clock) Shield(ctx context.Context) (context.Context, func()) {
	shielded, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.sawPrivate {
			end(context.Cause(ctx))
		}
	})
	return shielded, func() {
		stop()
		end(nil)
	}
}

type clockKey struct{}

// WithClock returns a context of the question.
func (c *Clock) WithClock(ctx context.Context) context.Context {
	return context.WithValue(ctx, clockKey{}, c)
}

func clockOf(ctx context.Context) *Clock {
	c, _ := ctx.Value(clockKey{}).(*Clock)
	return c
}

// Settled reports whether all that the question looked at lies before a moment that it has waited
// for: what it did since takes as long whatever the data is.
func (c *Clock) Settled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waited && !c.unsettled
}

// Limit is how long the public time of the question of a context may be, and false where there is
// no schedule.
func Limit(ctx context.Context) (time.Duration, bool) {
	if c := clockOf(ctx); c != nil && c.schedule != nil {
		return c.limit, true
	}
	return 0, false
}

// BeginPrivateWork says that the question of a context begins to look at private data that is in
// memory, which takes no time to speak of. A context without a pace is that of somebody who waits
// for nothing.
func BeginPrivateWork(ctx context.Context) {
	if c := clockOf(ctx); c != nil {
		c.startPrivate(0)
	}
}

// AddPublicTime says that the question takes so much more time, by public numbers, without doing
// anything.
func AddPublicTime(ctx context.Context, takes time.Duration) {
	if c := clockOf(ctx); c != nil {
		c.startPrivate(takes)
	}
}

// startPrivate begins to look, and returns what is closed when the public time is over.
func (c *Clock) startPrivate(takes time.Duration) (over <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsettled, c.sawPrivate = true, true
	if c.schedule == nil {
		c.closePublic(0)
		return nil
	}
	if c.began != nil {
		close(c.began)
		c.began = nil
	}
	if _, closed := c.closePublic(takes); closed {
		return c.job.over
	}
	if c.job == nil {
		c.job = &job{}
	}
	return c.schedule.add(c.job, takes)
}

// Run looks at private data by a function, which takes at most so long alone on the machine, by
// public numbers. It may call it several times.
//
// Where the question is on a schedule, nobody who asked stops the work: whoever could would learn
// whether it was done by then. Load is no failure: where the machine does other work it goes on,
// and what comes of it leaves at a doubling of its time. When it has worked for its public time, by
// what the processors did for this process, it is stopped, and runs once more with the machine to
// itself, or up to three times where that time is short: then a pause of the machine, to collect
// garbage or for a disk, is all of it. Where it works for longer each time, the error is [ErrLate].
func Run(ctx context.Context, takes time.Duration, do func(context.Context) error) error {
	c := clockOf(ctx)
	if c == nil || c.schedule == nil {
		BeginPrivateWork(ctx)
		return do(ctx)
	}
	over := c.startPrivate(takes)
	err, stopped := c.schedule.runBeside(ctx, c.job, over, takes, do)
	if !stopped {
		return err
	}
	for try := 1; ; try++ {
		if err = c.schedule.runAlone(ctx, takes, do); !errors.Is(err, ErrLate) || takes >= machinePause || try == 3 {
			return err
		}
	}
}

// RunOnce is Run for work that cannot be done twice, because noise is drawn in it. Where it has
// worked for longer than its public time the error is [ErrLate] at once.
func RunOnce(ctx context.Context, takes time.Duration, do func(context.Context) error) error {
	c := clockOf(ctx)
	if c == nil || c.schedule == nil {
		BeginPrivateWork(ctx)
		return do(ctx)
	}
	over := c.startPrivate(takes)
	err, stopped := c.schedule.runBeside(ctx, c.job, over, takes, do)
	if stopped {
		return ErrLate
	}
	return err
}

// machinePause is how long a machine may stand still.
const machinePause = 100 * time.Millisecond

// Settle waits until what the question of a context has looked at may be seen: before anything is
// written that others can see.
func Settle(ctx context.Context) {
	if c := clockOf(ctx); c != nil {
		c.Settle()
	}
}

// Settle waits where the question has looked since it waited last.
func (c *Clock) Settle() {
	c.mu.Lock()
	looked, j := c.unsettled, c.job
	c.mu.Unlock()
	if !looked {
		return
	}
	if j != nil {
		c.schedule.wait(j)
	}
	c.wait()
	c.mu.Lock()
	c.unsettled, c.waited, c.job = false, true, nil
	c.openPublic()
	c.mu.Unlock()
}

// RunElsewhere is Run for an engine on other machines, which says itself for how long their
// processors have worked for the question; see [Work].
//
// Waiting is no failure: in a queue, or for processors that others have. So a question that is not
// done by its public time goes on, up to the limit of all questions, and leaves at a doubling of
// its time. But one that has worked for half of its public time by then, or does so afterwards, is
// late by itself, and the error is [ErrLate], whether it gets done or not. The public time is that
// of one processor, so however few of them the question keeps busy, what is late and has worked for
// less has waited for longer than it worked. The other half is for what is no work and not others'
// either: to plan, to start, to send rows, to collect garbage.
func RunElsewhere(ctx context.Context, takes time.Duration, do func(context.Context) error) error {
	c := clockOf(ctx)
	if c == nil || c.schedule == nil {
		BeginPrivateWork(ctx)
		return do(ctx)
	}
	over := c.startPrivate(takes)
	ctx, end := context.WithTimeoutCause(context.WithoutCancel(ctx), c.limit, ErrLate)
	defer end()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, work := CountWork(ctx)
	late := func() bool { return work.Done() >= takes/2 }
	err, stopped := stopWhen(ctx, stop, over, nil, takes/20, late, func(ctx context.Context) error {
		err := do(ctx)
		if err == nil && !work.isReported() {
			work.Worked("", takes) // all time counts as work where nobody says what does
		}
		return err
	})
	if stopped {
		return ErrLate
	}
	return err
}

// Work is for how long other machines have worked for something.
type Work struct {
	mu sync.Mutex
	by map[string]time.Duration // by statement
}

type workKey struct{}

// CountWork returns a context in which it is counted for how long other machines work.
func CountWork(ctx context.Context) (context.Context, *Work) {
	w := &Work{by: map[string]time.Duration{}}
	return context.WithValue(ctx, workKey{}, w), w
}

// WorkOf returns what counts in a context, or nil.
func WorkOf(ctx context.Context) *Work {
	w, _ := ctx.Value(workKey{}).(*Work)
	return w
}

// Worked says for how long processors have worked for a statement so far.
func (w *Work) Worked(statement string, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.by[statement] = max(w.by[statement], d)
}

// Done is the work of all statements.
func (w *Work) Done() (sum time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.by {
		sum += d
	}
	return sum
}

// isReported reports whether there was a word of any statement.
func (w *Work) isReported() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.by) > 0
}

// Reset forgets what was done: it was in vain, for a reason that is not the question's, and is done
// once more.
func (w *Work) Reset() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.by)
}

// Turns are what a question has of a server's queues.
type Turns interface {
	// Give gives the turn back, where the question has one; Take waits for one again.
	Give()
	Take(context.Context) error
	// Aside waits for a place for work on what was released. The function gives it back.
	Aside(context.Context) (leave func(), err error)
}

// Turns sets where the question has its turn.
func (c *Clock) Turns(t Turns) { c.turns = t }

// Await waits, by a function, for somebody else who does what the question of a context was about
// to do. It has no turn meanwhile and no part of the machine, so others need not wait for it.
func Await(ctx context.Context, wait func(context.Context) error) error {
	c := clockOf(ctx)
	if c == nil || c.turns == nil {
		return wait(ctx)
	}
	return c.waitWithoutPart(func() error {
		c.turns.Give()
		c.endAside()
		if err := wait(ctx); err != nil {
			return err
		}
		return c.turns.Take(ctx)
	})
}

// RunOnReleased works by a function on what was released, which needs no turn of those who run on
// private data: a long query over an answer does not keep them waiting. The question has its place
// until the time of that work is over: else many that are done would each keep a part of the
// machine.
func RunOnReleased(ctx context.Context, do func(context.Context) error) error {
	c := clockOf(ctx)
	if c == nil || c.turns == nil {
		return do(ctx)
	}
	err := c.waitWithoutPart(func() error {
		c.turns.Give()
		c.endAside()
		leave, err := c.turns.Aside(ctx)
		if err == nil {
			c.mu.Lock()
			c.leaveAside = leave
			c.mu.Unlock()
		}
		return err
	})
	if err != nil {
		return err
	}
	return do(ctx)
}

// endAside gives a place back that the question has for work on what was released.
func (c *Clock) endAside() {
	c.mu.Lock()
	leave := c.leaveAside
	c.leaveAside = nil
	c.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// waitWithoutPart waits by a function, without a part of the machine.
func (c *Clock) waitWithoutPart(wait func() error) error {
	c.mu.Lock()
	_, open := c.closePublic(0)
	c.mu.Unlock()
	err := wait()
	if open {
		c.mu.Lock()
		c.openPublic()
		c.mu.Unlock()
	}
	return err
}

package admission

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/policy"
)

// ticks are the clocks by which answers about datasets leave.
type ticks struct {
	policy   *policy.Policy
	clock    clock
	schedule *releaseclock.Schedule
	dataset  atomic.Pointer[map[string]time.Duration]
}

func newTicks(p *policy.Policy, chosen map[string]time.Duration) *ticks {
	t := &ticks{policy: p, clock: newClock()}
	t.schedule = releaseclock.NewSchedule(t.clock.over)
	t.set(chosen)
	return t
}

// set sets the ticks: those of the policy, and those that it leaves to be chosen.
func (t *ticks) set(chosen map[string]time.Duration) {
	all := map[string]time.Duration{}
	for name, ds := range t.policy.Datasets {
		all[name] = ds.Release.Tick
		if ds.Release.Chosen() {
			all[name] = cmp.Or(chosen[name], policy.UsualTick)
		}
	}
	t.dataset.Store(&all)
}

func (t *ticks) of(dataset string) time.Duration { return (*t.dataset.Load())[dataset] }

// last is the last tick of a dataset: what was answered after it is not there yet.
func (t *ticks) last(dataset string) time.Time { return t.clock.last(t.of(dataset)) }

// deadline reports whether answers about a dataset leave at a deadline.
func (t *ticks) deadline(dataset string) bool {
	ds := t.policy.Datasets[dataset]
	return ds != nil && ds.Release.Deadline()
}

// anyDeadline reports whether answers about a dataset leave at deadlines, which work beside them
// must not tell apart.
func (t *ticks) anyDeadline() bool {
	for name := range t.policy.Datasets {
		if t.deadline(name) {
			return true
		}
	}
	return false
}

// roundDeadline rounds when an answer leaves up to a tick.
func (t *ticks) roundDeadline(x *api.Explanation, dataset string) {
	tick := t.of(dataset)
	if x == nil || x.Deadline == nil || tick <= 0 {
		return
	}
	takes := max(1, time.Duration(*x.Deadline*float64(time.Second)))
	seconds := ((takes + tick - 1) / tick * tick).Seconds()
	x.Deadline = &seconds
}

// clock says when answers may leave. It runs on the monotonic clock from when the dispatcher was
// made: nobody can set it. Ticks are multiples since 1970, by what the time was then, so that those
// of servers that share a ledger are the same: what is seen of an answer at several of them, by
// ticks between each other, would tell more exactly when it was there than any of them does.
type clock struct {
	begin time.Time
	epoch time.Duration // of the beginning, since 1970
	over  chan struct{} // closed when the server ends and waits no longer
	once  *sync.Once
}

func newClock() clock {
	now := time.Now()
	return clock{now, time.Duration(now.UnixNano()), make(chan struct{}), new(sync.Once)}
}

// end lets go of all who wait for a tick, and of all who come. It is for when the time of the
// owner's shutdown is over: that moment is chosen by nobody who asks, and is the same for
// everybody.
func (c clock) end() { c.once.Do(func() { close(c.over) }) }

// next is how long it is to the next multiple of a tick: 0 where it is one now, or where there is
// no tick.
func (c clock) next(tick time.Duration) time.Duration {
	if tick <= 0 {
		return 0
	}
	at := c.epoch + time.Since(c.begin)
	return (at+tick-1)/tick*tick - at
}

// last is the last multiple of a tick; zero where there is no tick.
func (c clock) last(tick time.Duration) time.Time {
	if tick <= 0 {
		return time.Time{}
	}
	return c.begin.Add((c.epoch+time.Since(c.begin))/tick*tick - c.epoch)
}

// wait waits for the next multiple of a tick. Nothing cuts it short but the end of the server.
func (c clock) wait(tick time.Duration) {
	until := time.Now().Add(c.next(tick))
	for left := time.Until(until); left > 0; left = time.Until(until) {
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-c.over:
			timer.Stop()
			return
		}
	}
}

// holdUntilTick returns a context that ends at the first tick at or after the end of ctx, for the
// same cause. Who could stop a question at any moment would learn from what comes of it whether it
// was done by then, to the microsecond. The function gives back what it takes.
func (c clock) holdUntilTick(ctx context.Context, tick time.Duration) (context.Context, func()) {
	if tick <= 0 {
		return ctx, func() {}
	}
	held, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(c.next(tick))
		defer timer.Stop()
		select {
		case <-timer.C:
			end(context.Cause(ctx))
		case <-c.over:
			end(context.Cause(ctx))
		case <-held.Done():
		}
	})
	return held, func() {
		stop()
		end(nil)
	}
}

// gate holds questions back while the data is being opened. What is made from the policy alone goes
// past it.
type gate struct {
	patience time.Duration // for which a question waits
	open     chan struct{} // closed when the data is open
	over     chan struct{} // closed when the server ends
	opened   sync.Once
	ended    sync.Once
}

// openingPatience is shorter than what clients and what is between usually wait for.
const openingPatience = 20 * time.Second

func newGate(opening bool) *gate {
	g := &gate{patience: openingPatience, open: make(chan struct{}), over: make(chan struct{})}
	if !opening {
		g.lift()
	}
	return g
}

func (g *gate) lift() { g.opened.Do(func() { close(g.open) }) }
func (g *gate) end()  { g.ended.Do(func() { close(g.over) }) }

// wait waits until the data is open, or says why a question does not get in.
func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.open:
		return nil
	default:
	}
	timer := time.NewTimer(g.patience)
	defer timer.Stop()
	select {
	case <-g.open:
		return nil
	case <-timer.C:
		return ErrOpening
	case <-g.over:
		return ErrEnding
	case <-ctx.Done():
		return ErrWithdrawn
	}
}

// closed reports whether questions are held back.
func (g *gate) closed() bool {
	select {
	case <-g.open:
		return false
	default:
		return true
	}
}

// Opened lets questions in that were held back by [Options.Opening], with the ticks that were
// chosen by the data.
func (d *Dispatcher) Opened(ticks map[string]time.Duration) {
	d.ticks.set(ticks)
	d.runner.gate.lift()
}

// Stopped reports whether a question has found that the ledger does no more work, which it never
// does again before it is opened anew.
func (d *Dispatcher) Stopped() bool { return d.runner.stopped.Load() }

// Opening reports whether questions are held back.
func (d *Dispatcher) Opening() bool { return d.runner.gate.closed() }

// Tick returns by which clock answers about a dataset leave; 0 is at once, or not known before the
// data is open.
func (d *Dispatcher) Tick(dataset string) time.Duration { return d.ticks.of(dataset) }

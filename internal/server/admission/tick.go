package admission

import (
	"context"
	"sync"
	"time"
)

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

// hold returns a context that ends at the first tick at or after the end of ctx, for the same
// cause. Who could stop a question at any moment would learn from what comes of it whether it was
// done by then, to the microsecond. The function gives back what it takes.
func (c clock) hold(ctx context.Context, tick time.Duration) (context.Context, func()) {
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

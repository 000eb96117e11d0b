package desk

import (
	"context"
	"time"
)

// clock says when answers may leave. It runs from when the desk was made, on the monotonic clock: nobody can set it.
type clock struct{ begin time.Time }

// next is how long it is to the next multiple of a tick: 0 where it is one now, or where there is no tick.
func (c clock) next(tick time.Duration) time.Duration {
	if tick <= 0 {
		return 0
	}
	at := time.Since(c.begin)
	return (at+tick-1)/tick*tick - at
}

// last is the last multiple of a tick; zero where there is no tick.
func (c clock) last(tick time.Duration) time.Time {
	if tick <= 0 {
		return time.Time{}
	}
	return c.begin.Add(time.Since(c.begin) / tick * tick)
}

// wait waits for the next multiple of a tick. Nothing cuts it short.
func (c clock) wait(tick time.Duration) {
	until := time.Now().Add(c.next(tick))
	for left := time.Until(until); left > 0; left = time.Until(until) {
		time.Sleep(left)
	}
}

// hold returns a context that ends at the first tick at or after the end of ctx, for the same cause. Who could stop a question at any
// moment would learn from what comes of it whether it was done by then, to the microsecond. The function gives back what it takes.
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
		case <-held.Done():
		}
	})
	return held, func() {
		stop()
		end(nil)
	}
}

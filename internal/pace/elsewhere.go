package pace

import (
	"context"
	"sync"
	"time"
)

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
	p := of(ctx)
	if p == nil || p.schedule == nil {
		Looks(ctx)
		return do(ctx)
	}
	over := p.look(takes)
	ctx, end := context.WithTimeoutCause(context.WithoutCancel(ctx), p.limit, ErrLate)
	defer end()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, work := Count(ctx)
	late := func() bool { return work.Done() >= takes/2 }
	err, stopped := stopWhen(ctx, stop, over, nil, takes/20, late, func(ctx context.Context) error {
		err := do(ctx)
		if err == nil && !work.told() {
			work.Worked("", takes) // all time counts as work where nobody says what does
		}
		return err
	})
	if stopped || err != nil && context.Cause(ctx) == ErrLate {
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

// Count returns a context in which it is counted for how long other machines work.
func Count(ctx context.Context) (context.Context, *Work) {
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

// told reports whether there was a word of any statement.
func (w *Work) told() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.by) > 0
}

// Anew forgets what was done: it was in vain, for a reason that is not the question's, and is done
// once more.
func (w *Work) Anew() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.by)
}

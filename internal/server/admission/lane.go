package admission

import (
	"context"
	"errors"
	"time"

	"github.com/discreet-dp/discreet/internal/pace"
)

// A question that needs nothing but what was kept is answered while others of its analyst wait for
// the engine: it goes by a lane of its own, and takes no turn. Whoever gets a turn at once does not
// look, and a question without a turn looks once, on a tick, for what was there by then: that is
// what a price says too. So the lane tells nothing that a tick hides, and what goes by it begins
// and leaves on a tick like everything else. The lane has turns by analyst too: to plan what is
// priced or described can take a second.

// look answers a question from memory, in the lane. Skip ends the wait for the lane.
func (d *Dispatcher) look(ctx context.Context, skip <-chan error, e *entry) (found bool, turn error, came bool) {
	who := d.limits.who(e.analyst)
	if d.lane.enter(who) != nil {
		return false, nil, false
	}
	defer d.lane.exit(who)
	w, err := d.lane.stand(ctx, who)
	if err != nil {
		return false, nil, false // which is said when the turn comes
	}
	if w != nil {
		select {
		case <-w.turn: // the lane never ends
		case turn = <-skip:
			d.lane.leave(who, w)
			return false, turn, true
		case <-ctx.Done():
			d.lane.leave(who, w)
			return false, nil, false
		}
	}
	defer d.lane.done(who)
	if ctx.Err() != nil || still(ctx) != nil {
		return false, nil, false // which is said when the turn comes
	}
	ctx, stop := context.WithTimeoutCause(ctx, d.options.Timeout, ErrTimeout)
	defer stop()
	p := pace.New(func() {}) // the tick is waited for by who looks
	if d.deadline(e.dataset) {
		p = d.pace(func() {}, nil)
	}
	p.Begin()
	defer p.End()
	defer func() {
		p.Leave() // also where nothing is found: from then on it waits for a turn
		d.limits.add(e.analyst, int(p.Planned()/planWorth), 1)
	}()
	ctx = p.Set(ctx)
	defer d.underway.Begin(e.dataset, e.analyst)()
	err = d.guard(ctx, e, func(ctx context.Context, e *entry) error {
		found = e.recall(ctx)
		return nil
	})
	return found && err == nil, nil, false
}

// await waits for a turn in line. A question that is found in memory meanwhile needs none.
func (d *Dispatcher) await(ctx context.Context, tick time.Duration, who string, e *entry, w *waiter) (found bool, err error) {
	if e.recall == nil {
		return false, d.queue.await(ctx, who, w)
	}
	begin := time.NewTimer(d.clock.next(tick))
	defer begin.Stop()
	select {
	case err := <-w.turn:
		return false, err
	case <-ctx.Done():
		return false, d.queue.await(ctx, who, w)
	case <-begin.C:
	}
	found, err, came := d.look(ctx, w.turn, e)
	switch {
	case came:
		return false, err
	case !found:
		return false, d.queue.await(ctx, who, w)
	}
	d.queue.leave(who, w)
	return true, nil
}

// squeeze is for a question of somebody who has as many as may wait: where it is in memory it is
// answered nevertheless, and else it is turned away, both on a tick.
func (d *Dispatcher) squeeze(ctx context.Context, e *entry, full error) error {
	var limit *LimitError
	if e.recall == nil || !errors.As(full, &limit) || d.Opening() {
		return full
	}
	tick := d.tick(e.dataset)
	d.clock.wait(tick)
	found, _, _ := d.look(ctx, nil, e)
	d.clock.wait(tick)
	if !found {
		return full
	}
	return nil
}

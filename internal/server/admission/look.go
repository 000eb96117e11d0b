package admission

import (
	"context"
	"fmt"
	"time"
)

// What looking at the catalogue may take. It is no question: it costs nothing, sees no data, and
// needs no tick. But clients look often, and hostile ones can make each look cost seconds.
const (
	lookPlaces  = 2   // at once, and one for each user
	lookWaiting = 200 // of one user, who may have a hundred connections
	lookFactor  = 10  // so many times as often as questions
	lookTimeout = 10 * time.Second
)

// Look waits for a turn and looks: at something that is made from the policy. Errors are those of
// the look, a [*LimitError], which one that takes too long gets too, ErrWithdrawn and ErrEnding.
func (d *Dispatcher) Look(ctx context.Context, user string, look func(context.Context) error) error {
	if err := d.glances.wait(ctx, user, 1, d.options.Patience, d.queue.gone); err != nil {
		return err
	}
	who := d.glances.who(user)
	if err := d.looks.enter(who); err != nil {
		return err
	}
	defer d.looks.exit(who)
	if err := d.looks.wait(ctx, who); err != nil {
		return err
	}
	defer d.looks.done(who)
	defer d.underway.Begin("", user)()
	ctx, stop := context.WithTimeoutCause(ctx, lookTimeout, ErrTimeout)
	defer stop()
	worked, err := d.schedule.Beside(ctx, look)
	d.glances.add(user, int(worked/lookWorth), 2) // one can take longer than what may come at once is worth
	if err == nil || ctx.Err() == nil || context.Cause(ctx) != ErrTimeout {
		return err
	}
	return &LimitError{Reason: fmt.Sprintf("what is made from the policy alone has %v, and this takes longer; it is free; "+
		"ask for less", lookTimeout)}
}

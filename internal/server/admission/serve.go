package admission

import (
	"context"
	"errors"
	"time"

	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/ledger"
)

// serve takes one question from coming in to leaving: the limit, the queue, the data being opened,
// the work, the tick, in this order. The line in the log is written before the tick, which the
// writing may take some of.
func (d *Dispatcher) serve(ctx context.Context, e *entry, work func(context.Context, *entry) error) error {
	e.begin = time.Now()
	d.counts.came()
	who := d.limits.who(e.analyst)
	err := d.limits.wait(ctx, e.analyst, 1, d.options.Patience, d.queue.gone)
	switch {
	case err != nil:
	case e.away != nil:
		err = e.away
	case ctx.Err() != nil:
		err = ErrWithdrawn
	default:
		if err = d.queue.enter(who); err != nil {
			err = d.squeeze(ctx, e, err)
			break
		}
		if err = d.gate.wait(ctx); err == nil { // else no tick: nothing that is private is open
			return d.inside(ctx, who, e, work)
		}
		d.queue.exit(who)
	}
	if err != nil {
		e.outcome = outcomeOf(err)
	}
	d.log(e)
	d.counts.left(e.outcome)
	return err
}

// inside is for a question that was let in. One that leaves at its deadline goes on when whoever
// asked stops it, and they are told so on the next tick, whether it is done by then or not.
func (d *Dispatcher) inside(ctx context.Context, who string, e *entry, work func(context.Context, *entry) error) error {
	tick := d.tick(e.dataset)
	if tick <= 0 || !d.deadline(e.dataset) {
		return d.through(ctx, tick, who, e, work, nil)
	}
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- d.through(ctx, tick, who, e, work, began) }()
	select {
	case err := <-ended:
		return err
	case <-began:
	}
	// The public time of the question has begun.
	held, release := d.clock.hold(ctx, tick)
	defer release()
	select {
	case err := <-ended:
		return err
	case <-held.Done():
		return ErrCanceled
	}
}

// through takes a question through its turn, and waits until what came of it may leave. Began is
// closed when it looks at data, where it is on the schedule.
func (d *Dispatcher) through(
	ctx context.Context, tick time.Duration, who string, e *entry, work func(context.Context, *entry) error, began chan struct{},
) error {
	defer d.queue.exit(who)
	err := d.do(ctx, tick, who, e, work, began)
	if err != nil {
		e.outcome = outcomeOf(err)
	}
	errors.As(err, &e.dispute)
	errors.As(err, &e.data)
	e.books = booksOf(err)
	if write := (*ledger.WriteError)(nil); errors.As(err, &write) && write.Broken {
		d.stopped.Store(true)
	}
	d.log(e)
	if e.outcome != ending && !e.settled {
		d.clock.wait(tick)
	}
	d.counts.left(e.outcome)
	return err
}

// do waits for a turn and does the work in it. The turn is given back whatever happens. What
// stops the question does so on a tick.
func (d *Dispatcher) do(
	ctx context.Context, tick time.Duration, who string, e *entry, work func(context.Context, *entry) error, began chan struct{},
) error {
	patient, release := d.clock.hold(ctx, tick)
	defer release()
	if e.heavy {
		leave, err := place(patient, d.heavy, who)
		if err != nil {
			return err
		}
		defer leave()
	}
	w, err := d.queue.stand(patient, who)
	if w != nil {
		var found bool
		if found, err = d.await(patient, tick, who, e, w); found {
			return nil
		}
	}
	if err != nil {
		return err
	}
	t := &turn{queue: d.queue, aside: d.aside, slow: d.slow, who: who, held: true}
	defer t.Give()
	// The work begins on a tick too. Otherwise whoever asks chooses how much of a tick is left for
	// it, asks a few times, and reads how long it took to the millisecond, however long the tick
	// is.
	d.clock.wait(tick)
	if ctx.Err() != nil {
		return ErrWithdrawn // before anything was charged, as who is still in the queue
	}
	if err := still(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithTimeoutCause(ctx, d.options.Timeout, ErrTimeout)
	defer stop()
	ctx, let := d.clock.hold(ctx, tick)
	defer let()
	// What it writes down once it has looked at data waits for a tick as well. The engine is done
	// with it by then, and others may have the turn.
	wait := func() {
		t.Give()
		d.clock.wait(tick)
	}
	p := pace.New(wait)
	if began != nil {
		p = d.pace(wait, began)
		var unshield func()
		ctx, unshield = p.Shield(ctx)
		defer unshield()
	}
	p.Turns(t)
	p.Begin()
	defer p.End()
	defer d.underway.Begin(e.dataset, e.analyst)()
	err = translate(ctx, e, d.guard(p.Set(ctx), e, work))
	p.Leave()
	d.limits.add(e.analyst, int(p.Planned()/planWorth), 1)
	e.settled = p.Settled()
	return err
}

// pace is that of a question that leaves at its deadline.
func (d *Dispatcher) pace(wait func(), began chan struct{}) *pace.Pace {
	p := pace.New(wait)
	p.On(d.schedule, d.options.Timeout, began)
	return p
}

// guard does the work. A panic shows nothing of what it was about.
func (d *Dispatcher) guard(ctx context.Context, e *entry, work func(context.Context, *entry) error) (err error) {
	defer func() {
		if recover() != nil {
			d.panicked()
			err = ErrInternal
		}
	}()
	return work(ctx, e)
}

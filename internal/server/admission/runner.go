package admission

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/underway"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

type runner struct {
	options   Options
	ticks     *ticks
	gate      *gate
	queue     *queue
	trainings *queue      // for trainings, before they stand in the other one
	aside     *queue      // for queries over answers, after they stood there
	slow      *slowAsides // whose queries over answers take long
	lane      *queue      // for who looks for an answer in memory, or plans
	limits    *limits
	counts    counts
	underway  *underway.File // whose questions are; nil where nobody notes it
	stopped   atomic.Bool    // the ledger does no more work before it is opened again
}

func newRunner(p *policy.Policy, o Options) *runner {
	r := &runner{
		options: o, ticks: newTicks(p, o.Ticks), gate: newGate(o.Opening), queue: newQueue(o.Running, o.Waiting),
		trainings: newQueue(o.Training, o.Waiting), aside: newQueue(maxAsideAtOnce, o.Running+o.Waiting),
		lane:   newQueue(max(2, runtime.GOMAXPROCS(0)), math.MaxInt32), // who waits there was let in elsewhere
		limits: newLimits(p, "questions", o.Rate), slow: &slowAsides{last: map[string]time.Time{}},
	}
	r.aside.isSuspect = r.slow.has
	return r
}

// serveFree serves what charges nothing and runs nothing on private data, so that it need not wait
// for those who do.
func (r *runner) serveFree(ctx context.Context, e *entry, work func(context.Context, *entry) error) error {
	e.recall = func(ctx context.Context) bool { return work(ctx, e) == nil }
	return r.serve(ctx, e, work)
}

// serve takes one question from coming in to leaving: the limit, the queue, the data being opened,
// the work, the tick, in this order. The line in the log is written before the tick, which the
// writing may take some of.
func (r *runner) serve(ctx context.Context, e *entry, work func(context.Context, *entry) error) error {
	e.begin = time.Now()
	r.counts.addQuestion()
	who := r.limits.nameOf(e.analyst)
	err := r.limits.wait(ctx, e.analyst, 1, r.options.Patience, r.queue.closing)
	switch {
	case err != nil:
	case e.refusal != nil:
		err = e.refusal
	case ctx.Err() != nil:
		err = ErrWithdrawn
	default:
		if err = r.queue.enter(who); err != nil {
			err = r.answerIfKnown(ctx, e, err)
			break
		}
		if err = r.gate.wait(ctx); err == nil { // else no tick: nothing that is private is open
			return r.serveInside(ctx, who, e, work)
		}
		r.queue.exit(who)
	}
	if err != nil {
		e.outcome = outcomeOf(err)
	}
	r.log(e)
	r.counts.addOutcome(e.outcome)
	return err
}

// serveInside is for a question that was let in. One that leaves at its deadline goes on when
// whoever asked stops it, and they are told so on the next tick, whether it is done by then or not.
func (r *runner) serveInside(ctx context.Context, who string, e *entry, work func(context.Context, *entry) error) error {
	tick := r.ticks.of(e.dataset)
	if tick <= 0 || !r.ticks.deadline(e.dataset) {
		return r.takeTurn(ctx, tick, who, e, work, nil)
	}
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- r.takeTurn(ctx, tick, who, e, work, began) }()
	select {
	case err := <-ended:
		return err
	case <-began:
	}
	// The public time of the question has begun.
	held, release := r.ticks.clock.holdUntilTick(ctx, tick)
	defer release()
	select {
	case err := <-ended:
		return err
	case <-held.Done():
		return ErrCanceled
	}
}

// takeTurn takes a question through its turn, and waits until what came of it may leave. Began is
// closed when it looks at data, where it is on the schedule.
func (r *runner) takeTurn(
	ctx context.Context, tick time.Duration, who string, e *entry, work func(context.Context, *entry) error, began chan struct{},
) error {
	defer r.queue.exit(who)
	err := r.work(ctx, tick, who, e, work, began)
	if err != nil {
		e.outcome = outcomeOf(err)
	}
	errors.As(err, &e.dispute)
	errors.As(err, &e.dataProblem)
	e.ledgerProblem = ledgerProblem(err)
	if write := (*ledger.WriteError)(nil); errors.As(err, &write) && write.Broken {
		r.stopped.Store(true)
	}
	r.log(e)
	if e.outcome != ending && !e.settled {
		r.ticks.clock.wait(tick)
	}
	r.counts.addOutcome(e.outcome)
	return err
}

// work waits for a turn and does the work in it. The turn is given back whatever happens. What
// stops the question does so on a tick.
func (r *runner) work(
	ctx context.Context, tick time.Duration, who string, e *entry, work func(context.Context, *entry) error, began chan struct{},
) error {
	patient, release := r.ticks.clock.holdUntilTick(ctx, tick)
	defer release()
	if e.training {
		leave, err := takePlace(patient, r.trainings, who)
		if err != nil {
			return err
		}
		defer leave()
	}
	w, err := r.queue.enqueue(patient, who)
	if w != nil {
		var found bool
		if found, err = r.awaitTurn(patient, tick, who, e, w); found {
			return nil
		}
	}
	if err != nil {
		return err
	}
	t := &turn{queue: r.queue, aside: r.aside, slow: r.slow, who: who, held: true}
	defer t.Give()
	// The work begins on a tick too. Otherwise whoever asks chooses how much of a tick is left for
	// it, asks a few times, and reads how long it took to the millisecond, however long the tick
	// is.
	r.ticks.clock.wait(tick)
	if ctx.Err() != nil {
		return ErrWithdrawn // before anything was charged, as who is still in the queue
	}
	if err := checkAgain(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithTimeoutCause(ctx, r.options.Timeout, ErrTimeout)
	defer stop()
	ctx, let := r.ticks.clock.holdUntilTick(ctx, tick)
	defer let()
	// What it writes down once it has looked at data waits for a tick as well. The engine is done
	// with it by then, and others may have the turn.
	wait := func() {
		t.Give()
		r.ticks.clock.wait(tick)
	}
	p := releaseclock.New(wait)
	if began != nil {
		p = r.pace(wait, began)
		var unshield func()
		ctx, unshield = p.Shield(ctx)
		defer unshield()
	}
	p.Turns(t)
	p.Begin()
	defer p.End()
	defer r.underway.Begin(e.dataset, e.analyst)()
	err = translate(ctx, e, r.withoutPanic(p.WithClock(ctx), e, work))
	p.Leave()
	r.limits.add(e.analyst, int(p.Planned()/planTimePerQuestion), 1)
	e.settled = p.Settled()
	return err
}

// pace is that of a question that leaves at its deadline.
func (r *runner) pace(wait func(), began chan struct{}) *releaseclock.Clock {
	p := releaseclock.New(wait)
	p.SetSchedule(r.ticks.schedule, r.options.Timeout, began)
	return p
}

// withoutPanic does the work. A panic shows nothing of what it was about.
func (r *runner) withoutPanic(ctx context.Context, e *entry, work func(context.Context, *entry) error) (err error) {
	defer func() {
		if recover() != nil {
			r.logPanic()
			err = ErrInternal
		}
	}()
	return work(ctx, e)
}

// A question that needs nothing but what was kept is answered while others of its analyst wait for
// the engine: it goes by a lane of its own, and takes no turn. Whoever gets a turn at once does not
// look, and a question without a turn looks once, on a tick, for what was there by then: that is
// what a price says too. So the lane tells nothing that a tick hides, and what goes by it begins
// and leaves on a tick like everything else. The lane has turns by analyst too: to plan what is
// priced or described can take a second.

// answerFromMemory answers a question from memory, in the lane. Skip ends the wait for the lane.
func (r *runner) answerFromMemory(ctx context.Context, skip <-chan error, e *entry) (found bool, turn error, came bool) {
	who := r.limits.nameOf(e.analyst)
	if r.lane.enter(who) != nil {
		return false, nil, false
	}
	defer r.lane.exit(who)
	w, err := r.lane.enqueue(ctx, who)
	if err != nil {
		return false, nil, false // which is said when the turn comes
	}
	if w != nil {
		select {
		case <-w.turn: // the lane never ends
		case turn = <-skip:
			r.lane.leave(who, w)
			return false, turn, true
		case <-ctx.Done():
			r.lane.leave(who, w)
			return false, nil, false
		}
	}
	defer r.lane.endTurn(who)
	if ctx.Err() != nil || checkAgain(ctx) != nil {
		return false, nil, false // which is said when the turn comes
	}
	ctx, stop := context.WithTimeoutCause(ctx, r.options.Timeout, ErrTimeout)
	defer stop()
	p := releaseclock.New(func() {}) // the tick is waited for by who looks
	if r.ticks.deadline(e.dataset) {
		p = r.pace(func() {}, nil)
	}
	p.Begin()
	defer p.End()
	defer func() {
		p.Leave() // also where nothing is found: from then on it waits for a turn
		r.limits.add(e.analyst, int(p.Planned()/planTimePerQuestion), 1)
	}()
	ctx = p.WithClock(ctx)
	defer r.underway.Begin(e.dataset, e.analyst)()
	err = r.withoutPanic(ctx, e, func(ctx context.Context, e *entry) error {
		found = e.recall(ctx)
		return nil
	})
	return found && err == nil, nil, false
}

// awaitTurn waits for a turn in line. A question that is found in memory meanwhile needs none.
func (r *runner) awaitTurn(ctx context.Context, tick time.Duration, who string, e *entry, w *waiter) (found bool, err error) {
	if e.recall == nil {
		return false, r.queue.await(ctx, who, w)
	}
	begin := time.NewTimer(r.ticks.clock.next(tick))
	defer begin.Stop()
	select {
	case err := <-w.turn:
		return false, err
	case <-ctx.Done():
		return false, r.queue.await(ctx, who, w)
	case <-begin.C:
	}
	found, err, came := r.answerFromMemory(ctx, w.turn, e)
	switch {
	case came:
		return false, err
	case !found:
		return false, r.queue.await(ctx, who, w)
	}
	r.queue.leave(who, w)
	return true, nil
}

// answerIfKnown is for a question of somebody who has as many as may wait: where it is in memory it
// is answered nevertheless, and else it is turned away, both on a tick.
func (r *runner) answerIfKnown(ctx context.Context, e *entry, full error) error {
	var limit *LimitError
	if e.recall == nil || !errors.As(full, &limit) || r.gate.closed() {
		return full
	}
	tick := r.ticks.of(e.dataset)
	r.ticks.clock.wait(tick)
	found, _, _ := r.answerFromMemory(ctx, nil, e)
	r.ticks.clock.wait(tick)
	if !found {
		return full
	}
	return nil
}

type checkKey struct{}

// Checked returns a context for the questions of somebody who was let in. The check is made
// again when the turn of a question comes, which can be long after: who is revoked while they wait
// is charged nothing and told nothing. It returns nil, [ErrRevoked], or another error where the
// users cannot be read.
func Checked(ctx context.Context, check func(context.Context) error) context.Context {
	return context.WithValue(ctx, checkKey{}, check)
}

func checkAgain(ctx context.Context) error {
	check, ok := ctx.Value(checkKey{}).(func(context.Context) error)
	if !ok {
		return nil
	}
	err := check(ctx)
	switch {
	case err == nil || errors.Is(err, ErrRevoked):
		return err
	case ctx.Err() != nil:
		return ErrWithdrawn // the users can be read: nobody waits for it any more
	}
	return ErrUnchecked
}

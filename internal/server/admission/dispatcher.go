package admission

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/internal/underway"
	"github.com/discreet-dp/discreet/policy"
)

// Dispatcher takes questions. It is safe for concurrent use.
type Dispatcher struct {
	db       *discreet.DB
	library  library
	options  Options
	policy   *policy.Policy
	ticks    atomic.Pointer[map[string]time.Duration] // by dataset
	gate     *gate
	lone     string // the only dataset, where there is one; it need not be named
	queue    *queue
	heavy    *queue // for trainings, before they stand in the other one
	aside    *queue // for queries over answers, after they stood there
	slow     *slow  // whose queries over answers take long
	limits   *limits
	looks    *queue  // for the catalogue
	glances  *limits // of looks
	reads    *queue  // for texts that are not read yet
	texts    *limits // of these
	lane     *queue  // for who looks for an answer in memory, or plans
	clock    clock
	schedule *pace.Schedule
	counts   counts
	sessions *registry
	underway *underway.File // whose questions are; nil where nobody notes it
	stopped  atomic.Bool    // the ledger does no more work before it is opened again
}

// New returns the dispatcher of an open policy.
func New(db *discreet.DB, o Options) *Dispatcher {
	d := newDispatcher(db.Policy(), opened{db}, o)
	d.db, d.underway = db, db.Underway()
	d.queue.apart = d.underway.Suspected
	return d
}

func newDispatcher(p *policy.Policy, l library, o Options) *Dispatcher {
	o = o.filled()
	d := &Dispatcher{
		library: l, options: o, policy: p, gate: newGate(o.Opening), queue: newQueue(o.Running, o.Waiting),
		heavy: newQueue(o.Training, o.Waiting), aside: newQueue(asidePlaces, o.Running+o.Waiting),
		lane:   newQueue(max(2, runtime.GOMAXPROCS(0)), math.MaxInt32), // who waits there was let in elsewhere
		limits: newLimits(p, "questions", o.Rate), clock: newClock(),
		looks: newQueue(lookPlaces, lookWaiting), glances: newLimits(p, "looks at the catalogue", lookFactor*o.Rate),
		reads: newQueue(readPlaces, readWaiting), texts: newLimits(p, "texts", max(readFactor*o.Rate, readLeast)),
		sessions: newRegistry(o.Sessions, o.Idle), slow: &slow{last: map[string]time.Time{}},
	}
	d.aside.apart = d.slow.is
	d.schedule = pace.NewSchedule(d.clock.over)
	d.setTicks(o.Ticks)
	for name := range p.Datasets {
		if len(p.Datasets) == 1 {
			d.lone = name
		}
	}
	return d
}

// setTicks sets the ticks: those of the policy, and those that it leaves to be chosen.
func (d *Dispatcher) setTicks(chosen map[string]time.Duration) {
	ticks := map[string]time.Duration{}
	for name, ds := range d.policy.Datasets {
		ticks[name] = ds.Release.Tick
		if ds.Release.Chosen() {
			ticks[name] = cmp.Or(chosen[name], policy.UsualTick)
		}
	}
	d.ticks.Store(&ticks)
}

// DB is the policy that the dispatcher is for; asking it directly goes around the queue.
func (d *Dispatcher) DB() *discreet.DB { return d.db }

// Ask waits for a turn, asks, and waits for the tick where the policy has one. Errors are those of
// [discreet.DB.Ask] and those of this package.
func (d *Dispatcher) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	var a *api.Answer
	if q.Free {
		return d.askFree(ctx, q)
	}
	q.Request = Request(q.Analyst, q.Request)
	e := d.entry("ask", q)
	e.recall = func(ctx context.Context) (found bool) {
		q := q
		q.AsOf = d.clock.last(d.tick(e.dataset))
		if a, found = d.library.Remembered(ctx, q); found {
			e.paid(a.Cost, a.Receipt.Sequence)
		}
		return found
	}
	err := d.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		q.AsOf = d.clock.last(d.tick(e.dataset))
		if a, err = d.library.Ask(ctx, q); err == nil {
			e.paid(a.Cost, a.Receipt.Sequence)
		}
		return err
	})
	return only(&a, err)
}

// Explain prices a question. It counts as a question in what an analyst may ask in a minute, and
// waits for a turn and for the tick: the state of the data is looked at, to say what would be free.
func (d *Dispatcher) Explain(ctx context.Context, q api.Question) (*api.Explanation, error) {
	var x *api.Explanation
	q.Request = Request(q.Analyst, q.Request) // or what others call theirs could be named
	err := d.freely(ctx, d.entry("explain", q), func(ctx context.Context, e *entry) (err error) {
		e.outcome = priced
		q.AsOf = d.clock.last(d.tick(e.dataset))
		x, err = d.library.Explain(ctx, q)
		return err
	})
	if err == nil {
		d.roundDeadline(x, cmp.Or(q.Dataset, d.lone))
	}
	return only(&x, err)
}

// Describe says what an answer would look like. It counts, and waits, like Explain.
func (d *Dispatcher) Describe(ctx context.Context, q api.Question) (*api.Description, error) {
	var x *api.Description
	err := d.freely(ctx, d.entry("describe", q), func(ctx context.Context, e *entry) (err error) {
		e.outcome = described
		x, err = d.library.Describe(ctx, q)
		return err
	})
	return only(&x, err)
}

// freely serves what charges nothing and runs nothing on private data, so that it need not wait for
// those who do.
func (d *Dispatcher) freely(ctx context.Context, e *entry, work func(context.Context, *entry) error) error {
	e.recall = func(ctx context.Context) bool { return work(ctx, e) == nil }
	return d.serve(ctx, e, work)
}

func (d *Dispatcher) entry(kind string, q api.Question) *entry {
	return &entry{kind: kind, analyst: q.Analyst, dataset: cmp.Or(q.Dataset, d.lone), text: q.SQL}
}

// only makes sure that nobody gets something beside an error. What there is is not looked at then:
// the work on a question that was stopped goes on until its deadline.
func only[T any](x **T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return *x, nil
}

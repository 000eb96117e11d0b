package admission

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// ErrOpening: the data is not open yet. Nothing was charged.
var ErrOpening = errors.New("the data is still being opened, and nothing was charged; ask again in a while")

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

// Opened lets questions in that were held back by [Options.Opening], with the ticks that were
// chosen by the data.
func (d *Dispatcher) Opened(ticks map[string]time.Duration) {
	d.setTicks(ticks)
	d.gate.lift()
}

// Stopped reports whether a question has found that the ledger does no more work, which it never
// does again before it is opened anew.
func (d *Dispatcher) Stopped() bool { return d.stopped.Load() }

// Opening reports whether questions are held back.
func (d *Dispatcher) Opening() bool {
	select {
	case <-d.gate.open:
		return false
	default:
		return true
	}
}

// Tick returns by which clock answers about a dataset leave; 0 is at once, or not known before the
// data is open.
func (d *Dispatcher) Tick(dataset string) time.Duration { return d.tick(dataset) }

// tick returns the tick of a dataset.
func (d *Dispatcher) tick(dataset string) time.Duration { return (*d.ticks.Load())[dataset] }

// deadline reports whether answers about a dataset leave at a deadline.
func (d *Dispatcher) deadline(dataset string) bool {
	ds := d.policy.Datasets[dataset]
	return ds != nil && ds.Release.Deadline()
}

// roundDeadline rounds when an answer leaves up to a tick.
func (d *Dispatcher) roundDeadline(x *api.Explanation, dataset string) {
	tick := d.tick(dataset)
	if x == nil || x.Deadline == nil || tick <= 0 {
		return
	}
	takes := max(1, time.Duration(*x.Deadline*float64(time.Second)))
	seconds := ((takes + tick - 1) / tick * tick).Seconds()
	x.Deadline = &seconds
}

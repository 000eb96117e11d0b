package desk

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/ledger"
)

// request is a call that wants to write, while it waits.
type request struct {
	ctx    context.Context
	decide func(*Group) (ledger.Receipt, error)
	size   int           // bytes of its answer
	done   chan struct{} // closed when the rest is set

	receipt ledger.Receipt
	err     error
}

// What is written together is bounded, so that nobody waits for long and memory stays small.
const (
	MaxGroup      = 1024     // requests
	maxGroupBytes = 16 << 20 // of answers
)

// queue is the requests that wait, in the order in which they came.
type queue struct {
	mu  sync.Mutex
	all []*request
}

// Waiting returns how many wait.
func (d *Desk) Waiting() int {
	d.waiting.mu.Lock()
	defer d.waiting.mu.Unlock()
	return len(d.waiting.all)
}

func (q *queue) add(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = append(q.all, r)
}

// take returns the next requests to be written together. From here on they cannot be withdrawn.
func (q *queue) take() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.all) && n < MaxGroup && (n == 0 || size+q.all[n].size <= maxGroupBytes) {
		size += q.all[n].size
		n++
	}
	taken := q.all[:n:n]
	q.all = q.all[n:]
	if len(q.all) == 0 {
		q.all = nil
	}
	return taken
}

// withdraw takes a request back and reports whether it was still there.
func (q *queue) withdraw(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.all, r)
	if i < 0 {
		return false
	}
	q.all = slices.Concat(q.all[:i], q.all[i+1:]) // what was taken before shares the memory
	return true
}

// submit waits until a request was decided, and what it wrote is on stable storage. Whoever gets
// the turn first serves all that wait, so there is no goroutine that would have to be stopped, and
// a single caller waits for nobody.
func (d *Desk) submit(ctx context.Context, r *request) (ledger.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return ledger.Receipt{}, err
	}
	r.ctx, r.done = ctx, make(chan struct{})
	d.waiting.add(r)
	over := ctx.Done()
	for {
		select {
		case <-r.done:
			return r.receipt, r.err
		case d.turn <- struct{}{}:
			// Those who were answered last are about to ask again. They are let in first, which
			// costs nothing when there are none.
			runtime.Gosched()
			d.serveNext()
		case <-over:
			if d.waiting.withdraw(r) {
				return ledger.Receipt{}, ctx.Err()
			}
			over = nil // it was taken, and its fate is known soon
		}
	}
}

// serveNext serves those who wait, and gives the turn back whatever happens. What panics here is a
// place of anchors, which is somebody else's code, or a bug: the fate of the last write is not
// known then, and the ledger is stopped.
func (d *Desk) serveNext() {
	defer d.Leave()
	requests := d.waiting.take()
	defer func() {
		if p := recover(); p != nil {
			d.Broken = &ledger.WriteError{Path: d.Path, Broken: true, Err: fmt.Errorf("something went wrong in this program: %v", p)}
			for _, r := range requests {
				r.fail(d.Stopped())
			}
		}
	}()
	d.serve(requests)
}

// fail answers a request that was not answered yet.
func (r *request) fail(err error) {
	select {
	case <-r.done:
	default:
		r.receipt, r.err = ledger.Receipt{}, err
		close(r.done)
	}
}

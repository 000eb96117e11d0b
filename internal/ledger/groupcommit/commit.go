package groupcommit

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
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

func (c *Committer) Waiting() int {
	q := &c.batches.waiting
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.all)
}

// batcher lets those who write wait, and makes what they write durable together.
type batcher struct {
	committer *Committer
	waiting   queue
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
// the lock first serves all that wait, so there is no goroutine that would have to be stopped, and
// a single caller waits for nobody.
func (b *batcher) submit(ctx context.Context, r *request) (ledger.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return ledger.Receipt{}, err
	}
	r.ctx, r.done = ctx, make(chan struct{})
	b.waiting.add(r)
	over := ctx.Done()
	for {
		select {
		case <-r.done:
			return r.receipt, r.err
		case b.committer.lock <- struct{}{}:
			// Those who were answered last are about to ask again. They are let in first, which
			// costs nothing when there are none.
			runtime.Gosched()
			b.serveNext()
		case <-over:
			if b.waiting.withdraw(r) {
				return ledger.Receipt{}, ctx.Err()
			}
			over = nil // it was taken, and its fate is known soon
		}
	}
}

// serveNext serves those who wait, and gives the lock back whatever happens. What panics here is a
// place of anchors, which is somebody else's code, or a bug: the fate of the last write is not
// known then, and the ledger is stopped.
func (b *batcher) serveNext() {
	defer b.committer.Unlock()
	requests := b.waiting.take()
	defer func() {
		if p := recover(); p != nil {
			cause := fmt.Errorf("something went wrong in this program: %v", p)
			b.committer.Broken = &ledger.WriteError{Path: b.committer.Path, Broken: true, Err: cause}
			for _, r := range requests {
				r.fail(b.committer.StopCause())
			}
		}
	}()
	b.serve(requests)
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

// Group is what is written in one transaction.
type Group struct {
	*Committer
	Sequence uint64 // the head before it
	Hash     string
	Links    []*chain.Link
	Answers  [][]byte // by link

	err        error // why it must not be written
	unanchored error // why nothing may be charged, although it could be written
}

func (c *Committer) NewGroup() *Group {
	g := &Group{Committer: c}
	g.Sequence, g.Hash = c.State.Head()
	return g
}

// serve decides requests one after the other, makes their records durable together, and only then
// answers any of them. Also a refusal waits: it may rest on a record that the disk does not take.
// The caller holds the lock.
func (b *batcher) serve(requests []*request) {
	b.work(requests)
	for _, r := range requests {
		close(r.done)
	}
	b.committer.store.Served()
}

// work is serve without its last step, the answers.
func (b *batcher) work(requests []*request) {
	if b.committer.StopCause() != nil {
		for _, r := range requests {
			r.err = b.committer.StopCause() // an error of its own for each
		}
		return
	}
	// An anchor that could not be stored is tried again before anybody else has to wait for us.
	unanchored := b.committer.store.Anchor(nil)
	if failure := b.committer.store.Begin(); failure != nil {
		refuse(requests, failure)
		return
	}
	g := b.committer.NewGroup()
	g.unanchored = unanchored
	var decided []*request
	for _, r := range requests {
		if r.err = r.ctx.Err(); r.err == nil {
			g.decide(r)
			decided = append(decided, r)
		}
	}
	err := g.err
	if err == nil {
		err = b.committer.store.Write(g)
	}
	if err != nil {
		refuse(decided, b.committer.store.Failed(g, err))
		return
	}
	if err := b.committer.store.Anchor(g.Links); err != nil {
		for _, r := range decided {
			if r.err == nil {
				r.receipt, r.err = ledger.Receipt{}, &ledger.WriteError{Path: b.committer.Path, Charged: true, Err: err}
			}
		}
	}
}

// refuse gives everybody the same failure, in an error of their own.
func refuse(requests []*request, failure *ledger.WriteError) {
	for _, r := range requests {
		own := *failure
		r.receipt, r.err = ledger.Receipt{}, &own
	}
}

// decide lets a request make its records. A signer of the owner's is somebody else's code, and may
// panic.
func (g *Group) decide(r *request) {
	records := len(g.Links)
	defer func() {
		if p := recover(); p != nil {
			r.receipt, r.err = ledger.Receipt{}, fmt.Errorf("the entry could not be made: %v", p)
			if len(g.Links) != records {
				g.err = r.err
			}
		}
	}()
	r.receipt, r.err = r.decide(g)
}

// Add puts records at the end of the group. The state knows them from here on, so that the next
// request is decided after them. The answer, where there is one, belongs to the only record.
func (g *Group) Add(answer []byte, links ...*chain.Link) error {
	for _, k := range links {
		// What is written is read as it will be read at the next Open.
		var written ledger.Record
		err := written.Decode(k.Body)
		if err == nil {
			err = g.State.Check(&written)
		}
		if err != nil {
			g.err = fmt.Errorf("the ledger refuses its own record %d: %w", k.Record.Sequence, err)
			return g.err
		}
		g.State.Apply(&written, k.Hash)
		g.Links = append(g.Links, k)
		g.Answers = append(g.Answers, answer)
	}
	return nil
}

// read returns a record and its hash, also one of this group.
func (g *Group) read(sequence uint64) (*ledger.Record, string, error) {
	if sequence > g.Sequence {
		k := g.Links[sequence-g.Sequence-1]
		return k.Record.Clone(), k.Hash, nil
	}
	record, hash, _, err := g.store.Read(sequence)
	return record, hash, err
}

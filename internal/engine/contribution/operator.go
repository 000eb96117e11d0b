package contribution

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
)

// BatchReader reads all rows, and calls take with each batch, from as many goroutines as it likes.
// It is called once for every pass, and gives the same rows each time. An error of take must end
// it.
type BatchReader func(take func(*Batch) error) error

// Run computes the totals: for each measure, one integer for each group. Where groups are Private,
// a last vector has how many people are in each combination.
func Run(ctx context.Context, s Spec, source BatchReader) ([][]int64, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, err
	}
	if l.triesOrder() {
		out, err := newOperator(ctx, l).runInOrder(source)
		if err != errOrder {
			return out, err
		}
	}
	o := newOperator(ctx, l)
	o.limit = l.share()
	out, err := o.run(source)
	if o.pool.most.Load() > 1<<26 {
		runtime.GC() // so that what no question takes again is free after the next time
	}
	return out, err
}

// runInOrder takes rows that are stored by person, and returns errOrder where they are not.
func (o *operator) runInOrder(source BatchReader) ([][]int64, error) {
	o.clustered = true
	err := source(o.take)
	switch {
	case o.ctx.Err() != nil:
		return nil, o.ctx.Err()
	case o.failed() != nil:
		return nil, o.failed()
	case err != nil: // the source's own
		return nil, err
	case !o.inOrder():
		return nil, errOrder
	}
	o.finish()
	return o.result()
}

// run takes rows in any order, in as many passes as it needs.
func (o *operator) run(source BatchReader) ([][]int64, error) {
	for {
		if err := source(o.take); err != nil {
			return nil, err
		}
		if err := o.failed(); err != nil {
			return nil, err
		}
		if again := o.finish(); !again || o.ctx.Err() != nil || o.failed() != nil {
			return o.result()
		}
	}
}

// result returns the totals, or why there are none.
func (o *operator) result() ([][]int64, error) {
	if err := o.ctx.Err(); err != nil {
		return nil, err
	}
	if err := o.failed(); err != nil {
		return nil, err
	}
	var out [][]int64
	if o.Pick == nil {
		out = o.totals()
	}
	o.pool.leave()
	return out, nil
}

type operator struct {
	*layout
	ctx       context.Context
	pool      *pool
	clustered bool
	sink      Sink // of rows that are picked

	// busy is held for reading while a batch is taken, and for writing while partitions are
	// compacted.
	busy sync.RWMutex
	// The partitions of this pass are those from first up to limit.
	first, limit int
	text         bool
	kept         [partCount][]block // of a compaction
	gain         bool               // whether the last compaction was worth it

	mu      sync.Mutex // guards what follows
	err     error
	idle    []*worker
	workers []*worker
}

// worker is what one goroutine needs at a time.
type worker struct {
	scatter   *scatter
	reducer   *reducer
	clustered *clustered
	names     Batch // a batch with names
}

// named returns a batch in which rows have who they are about, where they have numbers.
func (w *worker) named(names func(int64) []byte, b *Batch, from, to int) *Batch {
	if names == nil {
		return b
	}
	n := len(b.Groups)
	texts := slices.Grow(w.names.Texts[:0], n)[:n]
	for i := from; i < to; i++ {
		texts[i] = names(b.Ints[i])
	}
	w.names = Batch{Texts: texts, Groups: b.Groups, Values: b.Values}
	return &w.names
}

func newOperator(ctx context.Context, l *layout) *operator {
	o := &operator{layout: l, ctx: ctx, pool: newPool(l.lanes), limit: partCount, gain: true}
	if l.Pick != nil {
		o.sink = l.Pick.Sink()
	}
	return o
}

func (o *operator) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *operator) fail(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	return o.err
}

// hire returns a worker that nobody else has.
func (o *operator) hire() *worker {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.idle); n > 0 {
		w := o.idle[n-1]
		o.idle = o.idle[:n-1]
		return w
	}
	w := &worker{scatter: newScatter(o.layout, o.pool), reducer: newReducer(o.layout, o.pool)}
	w.reducer.kernel.picker.sink = o.sink
	w.clustered = newClustered(o.layout, w.reducer.kernel)
	o.workers = append(o.workers, w)
	return w
}

func (o *operator) leave(w *worker) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.idle = append(o.idle, w)
}

func (o *operator) take(b *Batch) error {
	whole, err := o.check(b)
	if err != nil {
		return o.fail(err)
	}
	if err := o.ctx.Err(); err != nil {
		return o.fail(err)
	}
	if err := o.failed(); err != nil {
		return err
	}
	o.busy.RLock()
	if len(b.Groups) > 0 {
		o.mu.Lock()
		o.text = b.Ints == nil || o.Names != nil
		o.mu.Unlock()
	}
	o.recoverPanic(func() { err = o.put(b, whole) })
	o.busy.RUnlock()
	if err != nil {
		return o.fail(err)
	}
	if o.full() {
		return o.relieve()
	}
	return nil
}

// put gives a batch to a worker. A batch is whole where all of its rows have a group.
func (o *operator) put(b *Batch, whole bool) (err error) {
	w := o.hire()
	if o.clustered {
		if !whole {
			b = w.clustered.compact(b)
		}
		err = w.clustered.add(b, func(b *Batch, from, to int) { w.scatter.add(w.named(o.Names, b, from, to), from, to, 0, o.limit) })
	} else {
		w.scatter.add(w.named(o.Names, b, 0, len(b.Groups)), 0, len(b.Groups), o.first, o.limit)
	}
	o.leave(w)
	return err
}

// full reports whether rows take more memory than they may. A share is left for what a compaction
// makes before it frees anything.
func (o *operator) full() bool { return 8*o.pool.used.Load() > o.Memory-o.Memory/8 }

// relieve makes room: it compacts the partitions, and where that is not enough, it drops
// half of them, for another pass.
func (o *operator) relieve() error {
	o.busy.Lock()
	defer o.busy.Unlock()
	if !o.full() { // somebody else was faster
		return nil
	}
	if o.gain {
		before := o.pool.used.Load()
		o.each(func(w *worker, p int) { o.kept[p] = w.reducer.compact(p, o.blocks(p), o.text) })
		o.gain = o.pool.used.Load() < before/2
	}
	for 16*o.pool.used.Load() > o.Memory && o.limit-o.first > 1 {
		if o.clustered {
			// Which people are in the middle of a stretch is not the same in another pass.
			return o.fail(errOrder)
		}
		o.limit = o.first + (o.limit-o.first)/2
		for p := o.limit; p < partCount; p++ {
			o.pool.put(o.blocks(p))
		}
	}
	if o.limit-o.first == 1 {
		o.gain = true // all that is left to do
	}
	return nil
}

// blocks removes and returns the blocks of a partition.
func (o *operator) blocks(p int) []block {
	out := o.kept[p]
	o.kept[p] = nil
	for _, w := range o.workers {
		out = append(out, w.scatter.take(p)...)
	}
	return out
}

// each calls do for every partition of this pass, on all processors.
func (o *operator) each(do func(w *worker, p int)) {
	var group sync.WaitGroup
	next := make(chan int)
	n := min(runtime.GOMAXPROCS(0), o.limit-o.first)
	workers := make([]*worker, n)
	for i := range workers {
		workers[i] = o.hire()
	}
	for _, w := range workers {
		group.Go(func() {
			for p := range next {
				o.recoverPanic(func() { do(w, p) })
			}
		})
	}
	for p := o.first; p < o.limit && o.ctx.Err() == nil; p++ {
		next <- p
	}
	close(next)
	group.Wait()
	for _, w := range workers {
		o.leave(w)
	}
}

// errPanic says that something is wrong here or in who takes rows. It must not end the process, in
// which other questions are answered.
var errPanic = errors.New("contribution: a panic")

func (o *operator) recoverPanic(do func()) {
	defer func() {
		if recover() != nil {
			_ = o.fail(errPanic)
		}
	}()
	do()
}

// finish adds the partitions of this pass to the totals. It reports whether there are others left.
func (o *operator) finish() bool {
	o.each(func(w *worker, p int) { w.reducer.finish(p, o.blocks(p), o.text) })
	// The next pass is as large as this one could be.
	o.first, o.limit = o.limit, min(partCount, 2*o.limit-o.first)
	return o.first < partCount
}

func (o *operator) inOrder() bool {
	var all []stretch
	for _, w := range o.workers {
		all = append(all, w.clustered.stretches...)
	}
	return inOrder(all)
}

func (o *operator) totals() [][]int64 {
	out := make([][]int64, len(o.fields))
	if o.slim {
		for _, w := range o.workers {
			w.reducer.kernel.slim.out.spill()
		}
	}
	for m := range out {
		out[m] = make([]int64, o.Groups)
		for g := range out[m] {
			var t wide
			for _, w := range o.workers {
				x := w.reducer.kernel.totals.sums[m][g]
				t.add(x.hi, x.lo)
			}
			out[m][g] = t.final()
		}
	}
	if o.Private != nil {
		out = append(out, o.persons())
	}
	return out
}

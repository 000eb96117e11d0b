package duckdb

import (
	"context"
	"errors"
	"sync"

	"github.com/discreet-dp/discreet/internal/engine/contribution"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
)

// job is one of several computations in package contribution that read the same rows.
type job struct {
	spec    contribution.Spec
	carried carrier // what it reads; nil for counts and sums
	run     computation
}

type computation = func(ctx context.Context, s contribution.Spec, source contribution.BatchReader) error

// sharing runs jobs whose rows are read once for all of them, or once more for those that need it:
// where all that have not ended wait for rows.
type sharing struct {
	read func(all []*reader) error

	mu      sync.Mutex
	running int
	waiting []*reader
}

// reader is a job that waits for rows.
type reader struct {
	job  int
	take func(*contribution.Batch) error
	done chan error

	mu  sync.Mutex
	err error // why it takes no more
}

func (r *reader) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// give hands a batch over. A reader that fails gets no other.
func (r *reader) give(b *contribution.Batch) {
	if err := r.take(b); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = err
	}
}

var (
	errJob  = errors.New("duckdb: a panic")
	errDone = errors.New("duckdb: nobody is taking rows")
)

// runJobs runs jobs on the rows of b.
func (b *boundedQuery) runJobs(ctx context.Context, source chunks.Database, jobs []*job) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &sharing{running: len(jobs), read: func(all []*reader) error { return b.readFor(ctx, source, jobs, all) }}
	errs := make([]error, len(jobs))
	var all sync.WaitGroup
	var first sync.Once
	var failed error
	for i, j := range jobs {
		all.Go(func() {
			defer t.end()
			errs[i] = errJob // where there is a panic
			defer func() {
				if recover() != nil || errs[i] != nil {
					first.Do(func() { failed = errs[i] })
					cancel()
				}
			}()
			j.spec.Memory /= int64(len(jobs))
			errs[i] = j.run(ctx, j.spec, t.source(i))
		})
	}
	all.Wait()
	return failed
}

// source reads rows for a job, when the others want some too.
func (t *sharing) source(job int) contribution.BatchReader {
	return func(take func(*contribution.Batch) error) error {
		r := &reader{job: job, take: take, done: make(chan error, 1)}
		t.mu.Lock()
		t.waiting = append(t.waiting, r)
		t.start()
		t.mu.Unlock()
		return <-r.done
	}
}

func (t *sharing) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	t.start()
}

// start reads rows where everybody waits for them.
func (t *sharing) start() {
	if len(t.waiting) < t.running || t.running == 0 {
		return
	}
	all := t.waiting
	t.waiting = nil
	go func() {
		err := errJob
		defer func() {
			_ = recover()
			for _, r := range all {
				if own := r.failed(); own != nil {
					r.done <- own
				} else {
					r.done <- err
				}
			}
		}()
		err = t.read(all)
	}()
}

func (b *boundedQuery) readFor(ctx context.Context, source chunks.Database, jobs []*job, all []*reader) error {
	pool := sync.Pool{New: func() any { return &batch{rooms: make([][][]int64, len(jobs))} }}
	return source.Each(ctx, b.query, func(c *chunks.Chunk) error {
		w := pool.Get().(*batch)
		defer pool.Put(w)
		if !w.readRows(b, c) {
			return errNotBulk
		}
		active := 0
		for _, r := range all {
			if r.failed() != nil {
				continue
			}
			if !w.readJob(b, c, jobs[r.job], r.job) {
				return errNotBulk
			}
			r.give(&w.Batch)
			active++
		}
		if active == 0 {
			return errDone
		}
		return nil
	})
}

// readJob reads what one of several jobs has of the rows.
func (w *batch) readJob(b *boundedQuery, c *chunks.Chunk, j *job, at int) bool {
	if j.carried == nil {
		return w.readValues(b, c)
	}
	w.rooms[at] = w.carry(c, j.carried, w.rooms[at])
	return w.Values != nil
}

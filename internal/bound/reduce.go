package bound

import "slices"

// reducer groups a partition's records by person and runs the kernel on them. It belongs to one
// goroutine at a time.
type reducer struct {
	*layout
	kernel *kernel
	sorter sorter
	people *people
	pool   *pool
	person []uint32 // of each record of texts
	next   []int32  // where the next row of a person goes
	cols   columns
}

func newReducer(l *layout, p *pool) *reducer {
	return &reducer{layout: l, kernel: newKernel(l), sorter: sorter{layout: l}, people: newPeople(), pool: p, cols: newColumns(l)}
}

// round is how many words of records are sorted at once, so that a partition
// of any size takes little besides itself.
const round = 1 << 21

// finish adds what a partition's people contribute to the totals, and frees it.
func (r *reducer) finish(p int, blocks []block, text bool) {
	if len(blocks) == 0 {
		return // as most partitions of few people are
	}
	blocks = r.shrink(p, blocks, text, round)
	r.run(p, blocks, text, nil)
	r.pool.put(blocks)
}

// compact replaces a partition by the partials that its people keep.
func (r *reducer) compact(p int, blocks []block, text bool) []block {
	return r.shrink(p, blocks, text, 0)
}

// shrink compacts a partition, a round at a time, until it is no larger than limit or all compact.
// A round that starts with the partials of the last one is the same as if all rows had been there
// at once: see the package.
func (r *reducer) shrink(p int, blocks []block, text bool, limit int) []block {
	size := 0
	for _, b := range blocks {
		size += len(b.words)
	}
	if size <= limit {
		return blocks
	}
	var done []block
	for len(blocks) > 0 {
		n, words := 0, 0
		for n < len(blocks) && (n == 0 || words < round) {
			words += len(blocks[n].words)
			n++
		}
		take := append(done, blocks[:n]...)
		blocks = blocks[n:]
		done = r.partials(p, take, text)
		r.pool.put(take)
	}
	return done
}

// partials runs the kernel and writes what people keep into new blocks.
func (r *reducer) partials(p int, blocks []block, text bool) []block {
	var out []block
	var w []uint64
	r.run(p, blocks, text, func(person, pair int) {
		key := 1
		if text {
			key = len(r.people.texts[person])
		}
		if cap(w)-len(w) < key+r.partial {
			if len(w) > 0 {
				out = append(out, block{form: partials, words: w})
			}
			w = r.pool.room(key + r.partial)
		}
		if text {
			w = append(w, r.people.texts[person]...)
		} else {
			w = append(w, r.cols.seeds[person])
		}
		w = append(w, uint64(r.kernel.group[pair]))
		for m, f := range r.fields {
			if f.kind == People {
				continue
			}
			w = append(w, uint64(r.kernel.lo[m][pair]))
			if f.wide {
				w = append(w, uint64(r.kernel.hi[m][pair]))
			}
		}
	})
	if len(w) > 0 {
		out = append(out, block{form: partials, words: w})
	}
	return out
}

// run groups records by person and runs the kernel on them.
func (r *reducer) run(p int, blocks []block, text bool, emit func(person, pair int)) {
	some := slices.ContainsFunc(blocks, func(b block) bool { return b.form == partials })
	if !text && !some && r.slim && !r.groupLane && emit == nil {
		r.sorter.sort(blocks, true)
		r.kernel.runKeys(r.sorter.keys, r.sorter.with, p)
		return
	}
	if text {
		r.groupTexts(blocks, some)
	} else {
		r.sorter.sort(blocks, false)
		r.sorter.people(&r.cols, p)
		r.gather(blocks, some)
	}
	r.kernel.run(&r.cols, emit)
}

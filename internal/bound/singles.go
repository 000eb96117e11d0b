package bound

import (
	"context"
	"math"
	"sync"
)

// Singles computes the totals of rows of which nobody has more than one, so that no person has to
// be looked for: each row is clamped to its measure's interval as a partial is, and added to the
// total of its group. Batches have no Ints and no Texts, and MaxGroups and Salt are not used.
func Singles(ctx context.Context, s Spec, source Source) ([][]int64, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, err
	}
	if s.Pick != nil || s.Private != nil {
		return nil, errSpec
	}
	t := &singles{layout: l}
	if err := source(t.take); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return t.totals(), nil
}

// singles is such a computation under way.
type singles struct {
	*layout
	mu   sync.Mutex
	idle []*tallies
	all  []*tallies
}

// tallies are the totals of one goroutine at a time, for each measure two sums a group: of the
// upper halves of its values, and of the lower ones, which are not negative. Each is below 2^32 in
// magnitude, so 2^31 rows fit into 64 bits. The first group is that of rows which are left out.
type tallies struct {
	upper, lower [][]int64
	rows         int64
}

const (
	mostRows  = 1 << 31
	mostBatch = 1 << 20
)

func (t *singles) worker() *tallies {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.idle); n > 0 {
		w := t.idle[n-1]
		t.idle = t.idle[:n-1]
		return w
	}
	w := &tallies{}
	for range t.fields {
		w.upper, w.lower = append(w.upper, make([]int64, t.Groups+1)), append(w.lower, make([]int64, t.Groups+1))
	}
	t.all = append(t.all, w)
	return w
}

func (t *singles) put(w *tallies, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.rows += int64(rows); w.rows < mostRows-mostBatch {
		t.idle = append(t.idle, w) // and otherwise it is full, and stays among all
	}
}

func (t *singles) take(b *Batch) error {
	if len(b.Groups) > mostBatch || b.Ints != nil || b.Texts != nil {
		return errBatch
	}
	if err := t.checkColumns(b); err != nil {
		return err
	}
	w := t.worker()
	defer t.put(w, len(b.Groups))
	for m := range t.fields {
		f := &t.fields[m]
		ok := false
		switch {
		case f.kind == People:
			ok = addRows(b.Groups, w.lower[m], 1)
		case f.kind == Rows:
			ok = addRows(b.Groups, w.lower[m], min(max(1, f.low), f.high))
		case f.low >= 0 && f.high <= math.MaxUint32:
			ok = addSmall(b.Groups, b.Values[m], w.lower[m], f.low, f.high)
		default:
			ok = addLarge(b.Groups, b.Values[m], w.upper[m], w.lower[m], f.low, f.high)
		}
		if !ok {
			return errBatch
		}
	}
	return nil
}

// The additions report whether every group is one: to look at them before takes as long as to add.

func addRows(groups []int32, lower []int64, one int64) bool {
	if len(lower) == 2 { // one group, and no row has to wait until the one before is stored
		n := int64(len(groups))
		for _, g := range groups {
			if uint32(g+1) > 1 {
				return false
			}
			n += int64(g)
		}
		lower[1] += n * one
		return true
	}
	for _, g := range groups {
		i := uint32(g + 1)
		if i >= uint32(len(lower)) {
			return false
		}
		lower[i] += one
	}
	return true
}

// addSmall adds values whose upper half is zero.
func addSmall(groups []int32, values, lower []int64, low, high int64) bool {
	values = values[:len(groups)]
	for k, g := range groups {
		i := uint32(g + 1)
		if i >= uint32(len(lower)) {
			return false
		}
		lower[i] += min(max(values[k], low), high)
	}
	return true
}

func addLarge(groups []int32, values, upper, lower []int64, low, high int64) bool {
	values, upper = values[:len(groups)], upper[:len(lower)]
	for k, g := range groups {
		i := uint32(g + 1)
		if i >= uint32(len(lower)) {
			return false
		}
		x := min(max(values[k], low), high)
		upper[i] += x >> 32
		lower[i] += x & math.MaxUint32
	}
	return true
}

func (t *singles) totals() [][]int64 {
	out := make([][]int64, len(t.fields))
	for m := range t.fields {
		out[m] = make([]int64, t.Groups)
		for g := range out[m] {
			var sum wide
			for _, w := range t.all {
				up, low := w.upper[m][g+1], w.lower[m][g+1]
				sum.add(up>>32, uint64(up)<<32)
				sum.add(0, uint64(low))
			}
			out[m][g] = sum.final()
		}
	}
	return out
}

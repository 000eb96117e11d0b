package contribution

import (
	"context"
	"math"
	"sync"
)

// Singles computes the totals of rows of which nobody has more than one, so that no person has to
// be looked for: each row is clamped to its measure's interval as a partial is, and added to the
// total of its group. Batches have no Ints and no Texts, and MaxGroups and Salt are not used.
func Singles(ctx context.Context, s Spec, source BatchReader) ([][]int64, error) {
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

type singles struct {
	*layout
	mu   sync.Mutex
	idle []*tallies
	all  []*tallies
}

// tallies are the totals of one goroutine at a time, for each measure two sums a group: of the
// upper halves of its values, and of the lower ones, or of the values themselves where they are
// small. Each is below 2^32 in magnitude, so 2^31 rows fit into 64 bits. The first group is that of
// rows which are left out.
type tallies struct {
	upper, lower [][]int64
	rows         int64
}

const (
	maxTallyRows = 1 << 31
	maxBatchRows = 1 << 20
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
	if w.rows += int64(rows); w.rows < maxTallyRows-maxBatchRows {
		t.idle = append(t.idle, w) // and otherwise it is full, and stays among all
	}
}

func (t *singles) take(b *Batch) error {
	if len(b.Groups) > maxBatchRows || b.Ints != nil || b.Texts != nil || !t.fits(b) {
		return errBatch
	}
	w := t.worker()
	defer t.put(w, len(b.Groups))
	if !w.add(t.fields, b) {
		return errBatch
	}
	return nil
}

// fits reports whether every measure that has values has one column of them, and no other has any.
func (t *singles) fits(b *Batch) bool {
	if b.Stored != nil && len(b.Stored) != len(t.fields) || len(b.Values) != len(t.fields) {
		return false
	}
	for m, f := range t.fields {
		var s Stored
		if b.Stored != nil {
			s = b.Stored[m]
		}
		columns := 0
		if s.Ones {
			columns++
		}
		for _, c := range [...]struct {
			there bool
			rows  int
		}{{b.Values[m] != nil, len(b.Values[m])}, {s.Full != nil, len(s.Full)}, {s.Half != nil, len(s.Half)}} {
			if c.there && c.rows != len(b.Groups) {
				return false
			}
			if c.there {
				columns++
			}
		}
		want := 0
		if f.kind == Values || f.kind == Sum {
			want = 1
		}
		if columns != want || s.Lo > s.Hi {
			return false
		}
	}
	return true
}

// add adds a batch, and reports whether every group is one: to look at them before takes as long as
// to add. A measure that counts rows is added in one pass with the next one that adds up values.
func (w *tallies) add(fields []field, b *Batch) bool {
	counts := -1 // the one that waits for that
	var one int64
	count := func() bool { return counts < 0 || addRows(b.Groups, w.lower[counts], one) }
	for m := range fields {
		f := &fields[m]
		var s Stored
		if b.Stored != nil {
			s = b.Stored[m]
		}
		if s.Half == nil && s.Full == nil {
			s.Full, s.Lo, s.Hi = b.Values[m], math.MinInt64, math.MaxInt64
		}
		// To clamp to one interval and then to another is to clamp to where its ends come to lie.
		low, high := f.clamp(s.Lo), f.clamp(s.Hi)
		var ok bool
		switch {
		case f.kind == People || f.kind == Rows || s.Ones:
			ok = count()
			counts, one = m, f.clamp(1)
		case !f.small() && s.Half != nil:
			ok = addLarge(b.Groups, s.Half, w.upper[m], w.lower[m], low, high)
		case !f.small():
			ok = addLarge(b.Groups, s.Full, w.upper[m], w.lower[m], low, high)
		case counts < 0 && s.Half != nil:
			ok = addSmall(b.Groups, s.Half, w.lower[m], low, high)
		case counts < 0:
			ok = addSmall(b.Groups, s.Full, w.lower[m], low, high)
		case s.Half != nil:
			ok = addBoth(b.Groups, s.Half, w.lower[counts], w.lower[m], one, low, high)
			counts = -1
		default:
			ok = addBoth(b.Groups, s.Full, w.lower[counts], w.lower[m], one, low, high)
			counts = -1
		}
		if !ok {
			return false
		}
	}
	return count()
}

// clamp brings what one row adds into what noise is calibrated to. One person is one, whatever the
// interval.
func (f *field) clamp(x int64) int64 {
	if f.kind == People {
		return 1
	}
	return min(max(x, f.low), f.high)
}

// small says that one sum is enough: 2^31 rows fit into 64 bits, below zero too.
func (f *field) small() bool { return f.low >= math.MinInt32 && f.high <= math.MaxUint32 }

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

func addSmall[T int32 | int64](groups []int32, values []T, lower []int64, low, high int64) bool {
	values = values[:len(groups)]
	if len(lower) == 2 {
		sum := int64(0)
		for k, g := range groups {
			if uint32(g+1) > 1 {
				return false
			}
			sum += min(max(int64(values[k]), low), high) &^ int64(g) // nothing where it is -1
		}
		lower[1] += sum
		return true
	}
	for k, g := range groups {
		i := uint32(g + 1)
		if i >= uint32(len(lower)) {
			return false
		}
		lower[i] += min(max(int64(values[k]), low), high)
	}
	return true
}

// addBoth is addRows and addSmall in one.
func addBoth[T int32 | int64](groups []int32, values []T, counts, sums []int64, one, low, high int64) bool {
	if len(counts) == 2 {
		return addRows(groups, counts, one) && addSmall(groups, values, sums, low, high)
	}
	values, sums = values[:len(groups)], sums[:len(counts)]
	for k, g := range groups {
		i := uint32(g + 1)
		if i >= uint32(len(counts)) {
			return false
		}
		counts[i] += one
		sums[i] += min(max(int64(values[k]), low), high)
	}
	return true
}

func addLarge[T int32 | int64](groups []int32, values []T, upper, lower []int64, low, high int64) bool {
	values, upper = values[:len(groups)], upper[:len(lower)]
	for k, g := range groups {
		i := uint32(g + 1)
		if i >= uint32(len(lower)) {
			return false
		}
		x := min(max(int64(values[k]), low), high)
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
				sum.add(low>>63, uint64(low))
			}
			out[m][g] = sum.final()
		}
	}
	return out
}

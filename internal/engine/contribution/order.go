package contribution

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sort"
	"sync"
)

// Order is how rows are stored by person, but for strays: ranges of people that do not overlap, in
// their order. All rows of theirs are partitioned, wherever they are, so one row that is out of
// order costs what its person's rows cost, or those of a batch, and not those of all others.
type Order struct {
	strays []stretch
	// lasts are the last people of the batches in which all rows come, in their order. Where a
	// condition leaves few rows, those of several batches may come in one, and are taken apart
	// again: who is in the middle of a batch as it was has all rows there.
	lasts []personKey
	rows  int64 // of strays
}

func (o *Order) rowsOfStrays() int64 {
	if o == nil {
		return 0
	}
	return o.rows
}

func (o *Order) hasStrays() bool { return o != nil && len(o.strays) > 0 }

// firstStray returns the first range of strays that does not end before somebody.
func (o *Order) firstStray(w personKey) int {
	return sort.Search(len(o.strays), func(i int) bool { return o.strays[i].last.compare(w) >= 0 })
}

// hasNoStray reports whether there is no stray in a stretch, which is given by its rows.
func (o *Order) hasNoStray(b *Batch, from, to int) bool {
	if !o.hasStrays() {
		return true
	}
	at := o.firstStray(b.personAt(from))
	return at == len(o.strays) || o.strays[at].first.compare(b.personAt(to-1)) > 0
}

// batchEnd returns where a stretch, which is given by its rows, leaves the batch as it was.
func (o *Order) batchEnd(b *Batch, from, to int) int {
	if o == nil {
		return to
	}
	first := b.personAt(from)
	at := sort.Search(len(o.lasts), func(i int) bool { return o.lasts[i].compare(first) >= 0 })
	if at == len(o.lasts) || o.lasts[at].compare(b.personAt(to-1)) >= 0 {
		return to
	}
	return from + sort.Search(to-from, func(i int) bool { return b.personAt(from+i).compare(o.lasts[at]) > 0 })
}

// each calls do for the rows of strays, which follow each other, from a row on.
func (o *Order) each(b *Batch, start int, do func(from, to int)) {
	n := len(b.Groups)
	for start < n {
		end := start + 1
		for end < n && b.personAt(end-1).compare(b.personAt(end)) <= 0 {
			end++
		}
		last := b.personAt(end - 1)
		for at := o.firstStray(b.personAt(start)); at < len(o.strays) && o.strays[at].first.compare(last) <= 0; at++ {
			r := o.strays[at]
			from := start + sort.Search(end-start, func(i int) bool { return b.personAt(start+i).compare(r.first) >= 0 })
			to := from + sort.Search(end-from, func(i int) bool { return b.personAt(from+i).compare(r.last) > 0 })
			if from < to {
				do(from, to)
			}
		}
		start = end
	}
}

// part hands the rows of strays to the partitions, from a row on, and returns the other rows from
// there on.
func (c *clustered) part(b *Batch, start int, others func(b *Batch, from, to int)) *Batch {
	c.groups = append(c.groups[:0], b.Groups...)
	for i := range start {
		c.groups[i] = -1
	}
	c.Order.each(b, start, func(from, to int) {
		others(b, from, to)
		for i := from; i < to; i++ {
			c.groups[i] = -1
		}
		c.strays += int64(to - from)
	})
	rest := *b
	rest.Groups, rest.Values = c.groups, slices.Clone(b.Values) // which compact may write over
	return c.compact(&rest)
}

// What is still an order: strays have at most one in minRowsPerStray of all rows, and they are at
// most one range in minRowsPerStrayRange rows, or some in any case. There a question takes about as
// long in both ways, so that the row which decides it is no switch.
const (
	minRowsPerStray      = 8
	minRowsPerStrayRange = 256
	allowedStrayRanges   = 1 << 12
)

// FindOrder reads the people of all rows, three times at most, and returns how they are stored by
// person. It returns nil where they are not, or where there are too many strays.
//
// Batches are looked at one by one, because they come in no order. In the middle of its people each
// has one who is at home there, as long as fewer than half of its rows are out of order. Where the
// middles of all batches are known, so is where the others of a batch must lie: between those
// before and after its own. Who does not is a stray, and so is who is not in the longest ascending
// row of those who do. Where two batches still overlap, all people there are. That this is right is
// seen in a reading of the kind that questions do.
func FindOrder(ctx context.Context, s Spec, source BatchReader) (*Order, error) {
	s.Order, s.Unordered = nil, false
	l, err := newLayout(s)
	if err != nil {
		return nil, err
	}
	f := &finder{layout: l, ctx: ctx}
	f.compactors.New = func() any { return newClustered(l, nil) }
	if err := f.readBatches(source, f.survey); err != nil {
		return nil, dropOrderError(err)
	}
	if f.falls == 0 && inOrder(f.stretches) {
		return &Order{lasts: lastsOf(f.stretches)}, nil
	}
	slices.SortFunc(f.middles, personKey.compare)
	f.middles = slices.CompactFunc(f.middles, func(a, b personKey) bool { return a.compare(b) == 0 })
	f.stretches = nil
	if err := f.readBatches(source, f.search); err != nil {
		return nil, dropOrderError(err)
	}
	lasts := lastsOf(f.stretches)
	f.ranges = append(f.ranges, overlaps(f.stretches)...)
	if err := f.merge(); err != nil {
		return nil, dropOrderError(err)
	}
	l.Order = &Order{strays: f.ranges, lasts: lasts}
	o := newOperator(ctx, l)
	if _, err := o.runInOrder(source); err != nil {
		return nil, dropOrderError(err)
	}
	for _, w := range o.workers {
		l.Order.rows += w.clustered.strays
	}
	if minRowsPerStray*l.Order.rows > f.rows {
		return nil, nil
	}
	return l.Order, nil
}

// lastsOf returns the last people of stretches, in their order.
func lastsOf(all []stretch) []personKey {
	out := make([]personKey, len(all))
	for i, s := range all {
		out[i] = s.last
	}
	slices.SortFunc(out, personKey.compare)
	return slices.CompactFunc(out, func(a, b personKey) bool { return a.compare(b) == 0 })
}

// dropOrderError returns an error that is not about the order.
func dropOrderError(err error) error {
	if errors.Is(err, errOrder) {
		return nil
	}
	return err
}

type finder struct {
	*layout
	ctx        context.Context
	compactors sync.Pool
	middles    []personKey // of the batches, in their order when all have been seen

	mu        sync.Mutex // guards what follows
	rows      int64
	falls     int64 // rows whose person comes before that of the row before
	stretches []stretch
	ranges    []stretch // of strays
}

func (f *finder) readBatches(source BatchReader, look func(b *Batch) error) error {
	err := source(func(b *Batch) error {
		whole, err := f.check(b)
		if err != nil {
			return err
		}
		if !whole {
			c := f.compactors.Get().(*clustered)
			defer f.compactors.Put(c)
			b = c.compact(b)
		}
		if len(b.Groups) == 0 {
			return f.ctx.Err()
		}
		return errors.Join(f.ctx.Err(), look(b))
	})
	if f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	return err
}

// survey is the first look at a batch.
func (f *finder) survey(b *Batch) error {
	n, falls := len(b.Groups), b.falls()
	middle := b.middle(falls == 0).clone()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows, f.falls = f.rows+int64(n), f.falls+falls
	f.middles = append(f.middles, middle)
	f.stretches = append(f.stretches, stretch{b.personAt(0).clone(), b.personAt(n - 1).clone()})
	if f.falls > allowedStrayRanges+f.rows/(minRowsPerStrayRange/4) {
		return errOrder // long before the end, where there is none
	}
	return nil
}

// falls counts the rows whose person comes before that of the row before.
func (b *Batch) falls() (out int64) {
	for i := 1; i < len(b.Ints); i++ {
		if b.Ints[i-1] > b.Ints[i] {
			out++
		}
	}
	for i := 1; i < len(b.Texts) && b.Ints == nil; i++ {
		if bytes.Compare(b.Texts[i-1], b.Texts[i]) > 0 {
			out++
		}
	}
	return out
}

// middle returns who is in the middle of a batch's people.
func (b *Batch) middle(sorted bool) personKey {
	if sorted {
		return b.personAt(len(b.Groups) / 2)
	}
	all := make([]personKey, len(b.Groups))
	for i := range all {
		all[i] = b.personAt(i)
	}
	slices.SortFunc(all, personKey.compare)
	return all[len(all)/2]
}

// search is the second look at a batch, when the middles of all are known.
func (f *finder) search(b *Batch) error {
	sorted := b.falls() == 0
	middle := b.middle(sorted)
	before := sort.Search(len(f.middles), func(i int) bool { return f.middles[i].compare(middle) >= 0 }) - 1
	after := sort.Search(len(f.middles), func(i int) bool { return f.middles[i].compare(middle) > 0 })
	inside := func(w personKey) bool {
		return (before < 0 || w.compare(f.middles[before]) >= 0) && (after == len(f.middles) || w.compare(f.middles[after]) <= 0)
	}
	if n := len(b.Groups); sorted && inside(b.personAt(0)) && inside(b.personAt(n-1)) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.stretches = append(f.stretches, stretch{b.personAt(0).clone(), b.personAt(n - 1).clone()})
		return nil
	}
	return f.searchRows(b, inside)
}

// searchRows looks at the rows of a batch that has strays.
func (f *finder) searchRows(b *Batch, inside func(w personKey) bool) error {
	var home []int
	var found []stretch
	stray := func(row int) { found = append(found, stretch{b.personAt(row), b.personAt(row)}) }
	for i := range b.Groups {
		if inside(b.personAt(i)) {
			home = append(home, i)
		} else {
			stray(i)
		}
	}
	kept := b.ascending(home)
	at := 0
	for _, i := range home {
		if at < len(kept) && kept[at] == i {
			at++
		} else {
			stray(i)
		}
	}
	found = union(found)
	for i := range found {
		found[i] = stretch{found[i].first.clone(), found[i].last.clone()}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(kept) > 0 {
		f.stretches = append(f.stretches, stretch{b.personAt(kept[0]).clone(), b.personAt(kept[len(kept)-1]).clone()})
	}
	if f.ranges = append(f.ranges, found...); len(f.ranges) > 2*f.maxRanges() {
		return f.merge()
	}
	return nil
}

func (f *finder) maxRanges() int { return allowedStrayRanges + int(f.rows/minRowsPerStrayRange) }

// merge leaves each stray once. It returns errOrder where there are too many.
func (f *finder) merge() error {
	if f.ranges = union(f.ranges); len(f.ranges) > f.maxRanges() {
		return errOrder
	}
	return nil
}

// ascending returns the most of some rows, in the order of rows and of people.
func (b *Batch) ascending(rows []int) []int {
	var ends []int                   // by length less one, the row with which such rows end, as a place in rows
	before := make([]int, len(rows)) // which one comes before it
	for i, row := range rows {
		w := b.personAt(row)
		at := sort.Search(len(ends), func(k int) bool { return b.personAt(rows[ends[k]]).compare(w) > 0 })
		if at > 0 {
			before[i] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, i)
		}
		ends[at] = i
	}
	out := make([]int, len(ends))
	for k := len(ends) - 1; k >= 0; k-- {
		at := ends[len(ends)-1]
		out[k], ends[len(ends)-1] = rows[at], before[at]
	}
	return out
}

// overlaps returns where stretches overlap, which may touch, and writes over them.
func overlaps(all []stretch) []stretch {
	sortStretches(all)
	var out []stretch
	for i := 1; i < len(all); i++ {
		last := all[i-1].last // the largest so far
		if last.compare(all[i].first) > 0 {
			out = append(out, stretch{all[i].first, earlierOf(last, all[i].last)})
		}
		if all[i].last.compare(last) < 0 {
			all[i].last = last
		}
	}
	return out
}

func earlierOf(a, b personKey) personKey {
	if a.compare(b) < 0 {
		return a
	}
	return b
}

// union returns ranges that have the same people and do not overlap, in their order.
func union(all []stretch) []stretch {
	sortStretches(all)
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && s.first.compare(out[n-1].last) <= 0 {
			if s.last.compare(out[n-1].last) > 0 {
				out[n-1].last = s.last
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

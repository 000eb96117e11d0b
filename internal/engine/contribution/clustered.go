package contribution

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
)

// errOrder says that rows are not stored by person.
var errOrder = errors.New("contribution: the rows are not sorted by person")

// personKey is a person as a batch has them: a number, or a text.
type personKey struct {
	number int64
	text   []byte
}

func (b *Batch) personAt(row int) personKey {
	if b.Ints != nil {
		return personKey{number: b.Ints[row]}
	}
	return personKey{text: b.Texts[row]}
}

func (a personKey) compare(b personKey) int {
	return cmp.Or(cmp.Compare(a.number, b.number), bytes.Compare(a.text, b.text))
}

// clone returns somebody who outlives the batch.
func (a personKey) clone() personKey { return personKey{a.number, bytes.Clone(a.text)} }

// stretch is people who follow each other in their order: the first and the last of them.
type stretch struct{ first, last personKey }

// clustered takes batches of rows that are stored by person. It belongs to one goroutine at a time.
type clustered struct {
	*layout
	kernel    *kernel
	cols      columns
	own       Batch // a batch without the rows that are left out
	kept      []int64
	groups    []int32 // of a batch, without those of strays
	strays    int64   // rows of theirs
	batches   int
	ascents   int // stretches, before they are taken apart
	stretches []stretch
}

func newClustered(l *layout, k *kernel) *clustered {
	return &clustered{layout: l, kernel: k, cols: newColumns(l)}
}

// add takes a batch whose rows all have a group. Strays are handed to the partitions. People who
// are in the middle of a stretch of the others are all here; the first and the last may go on in
// another batch, and are handed to the partitions too.
func (c *clustered) add(b *Batch, others func(b *Batch, from, to int)) error {
	if len(b.Groups) == 0 {
		return nil
	}
	c.batches++
	slim := c.slim && (c.Names == nil || c.keepsFewGroups()) && b.Ints != nil
	sorted := slim && slices.IsSorted(b.Ints)
	if sorted && c.Order.hasNoStray(b, 0, len(b.Groups)) {
		c.addSlim(b, others)
		return nil
	}
	parted := sorted || slim && c.Order.hasStrays()
	if parted {
		if b = c.part(b, 0, others); slices.IsSorted(b.Ints) {
			c.addSlim(b, others)
			return nil
		}
	}
	for start := 0; start < len(b.Groups); {
		end := c.people(b, start, len(b.Groups))
		if !parted && !c.Order.hasNoStray(b, start, end) {
			b, start, parted = c.part(b, start, others), 0, true
			continue
		}
		for start < end {
			until := c.Order.batchEnd(b, start, end)
			if until < end || start > int(c.cols.starts[0]) {
				c.people(b, start, until)
			}
			c.addStretch(b, others)
			start = until
		}
		// More stretches than batches by far: this is no order.
		if c.ascents++; c.ascents > 64+4*c.batches {
			return errOrder
		}
	}
	return nil
}

// addSlim takes a batch of people who ascend.
func (c *clustered) addSlim(b *Batch, others func(b *Batch, from, to int)) {
	n := len(b.Groups)
	for start := 0; start < n; {
		end := c.Order.batchEnd(b, start, n)
		first, last := ends(b.Ints[start:end])
		first, last = start+first, start+last
		c.keep(b, start, last)
		others(b, start, first)
		if first <= last {
			others(b, last, end)
			c.kernel.slim.runRows(b, first, last)
		}
		start = end
	}
}

// addStretch takes the stretch whose people were found.
func (c *clustered) addStretch(b *Batch, others func(b *Batch, from, to int)) {
	starts := c.cols.starts // of each person, and the end
	last := len(starts) - 2
	c.keep(b, int(starts[0]), int(starts[last]))
	others(b, int(starts[0]), int(starts[1]))
	if last > 0 {
		others(b, int(starts[last]), int(starts[last+1]))
	}
	if last > 1 {
		c.cols.groups, c.cols.lo = b.Groups, b.Values
		c.cols.starts = starts[1 : last+1]
		c.seedPeople(b)
		c.kernel.run(&c.cols, nil)
		c.cols.starts = starts
	}
}

// ends returns where the first person ends, and where the last one starts.
func ends(people []int64) (first, last int) {
	for first = 1; first < len(people) && people[first] == people[0]; first++ {
	}
	for last = len(people) - 1; last > 0 && people[last-1] == people[last]; last-- {
	}
	return first, last
}

// seedPeople says who the people between the first and the last are.
func (c *clustered) seedPeople(b *Batch) {
	seeds := c.cols.seeds[:0]
	for _, at := range c.cols.starts[:len(c.cols.starts)-1] {
		switch {
		case c.Names != nil:
			seeds = append(seeds, c.seedText(c.Names(b.Ints[at])))
		case b.Ints != nil:
			seeds = append(seeds, c.seedInt(b.Ints[at]))
		default:
			seeds = append(seeds, c.seedText(b.Texts[at]))
		}
	}
	c.cols.seeds = seeds
}

// people finds where each person of a stretch starts, and returns where it ends, n at the latest.
func (c *clustered) people(b *Batch, start, n int) int {
	c.cols.starts = append(c.cols.starts[:0], int32(start))
	i := start + 1
	if b.Ints != nil {
		// Without a branch that depends on where a person ends.
		starts := slices.Grow(c.cols.starts[:0], n-start+2)[:n-start+2]
		starts[0] = int32(start)
		count, now := 1, b.Ints[start]
		for ; i < n; i++ {
			x := b.Ints[i]
			if x < now {
				break
			}
			starts[count] = int32(i)
			d := uint64(x ^ now)
			count += int((d | -d) >> 63) // 1 where they differ
			now = x
		}
		c.cols.starts = starts[:count]
	} else {
		for ; i < n; i++ {
			if order := bytes.Compare(b.Texts[i-1], b.Texts[i]); order > 0 {
				break
			} else if order < 0 {
				c.cols.starts = append(c.cols.starts, int32(i))
			}
		}
	}
	c.cols.starts = append(c.cols.starts, int32(i))
	return i
}

// keep remembers a stretch from the person at one row to that at another.
func (c *clustered) keep(b *Batch, first, last int) {
	c.stretches = append(c.stretches, stretch{b.personAt(first).clone(), b.personAt(last).clone()})
}

// compact leaves out the rows that have no group.
func (c *clustered) compact(b *Batch) *Batch {
	o := &c.own
	if o.Values == nil {
		o.Values = make([][]int64, len(b.Values))
	}
	o.Groups, o.Texts = o.Groups[:0], o.Texts[:0]
	o.Ints = nil
	if b.Ints != nil {
		o.Ints = slices.Grow(c.kept[:0], len(b.Ints))
		c.kept = o.Ints
	}
	for m := range b.Values {
		o.Values[m] = slices.Grow(o.Values[m][:0], len(b.Groups))
		if b.Values[m] == nil {
			o.Values[m] = nil
		}
	}
	for i, g := range b.Groups {
		if g < 0 {
			continue
		}
		o.Groups = append(o.Groups, g)
		if b.Ints != nil {
			o.Ints = append(o.Ints, b.Ints[i])
		} else {
			o.Texts = append(o.Texts, b.Texts[i])
		}
		for m, v := range b.Values {
			if v != nil {
				o.Values[m] = append(o.Values[m], v[i])
			}
		}
	}
	return o
}

// inOrder reports whether no stretch reaches into another: then a person in the middle of one is in
// no other. They may touch, in people who were handed to the partitions.
func inOrder(all []stretch) bool {
	sortStretches(all)
	for i := 1; i < len(all); i++ {
		if all[i-1].last.compare(all[i].first) > 0 {
			return false
		}
	}
	return true
}

func sortStretches(all []stretch) {
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Or(a.first.compare(b.first), a.last.compare(b.last)) })
}

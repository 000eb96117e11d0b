package bound

import (
	"slices"
	"sort"
)

// Order is how rows are stored by person, but for strays: ranges of people that do not overlap, in
// their order. All rows of theirs are partitioned, wherever they are, so one row that is out of
// order costs what its person's rows cost, or those of a batch, and not those of all others.
type Order struct {
	strays []stretch
	// lasts are the last people of the batches in which all rows come, in their order. Where a
	// condition leaves few rows, those of several batches may come in one, and are taken apart
	// again: who is in the middle of a batch as it was has all rows there.
	lasts []who
	rows  int64 // of strays
}

// rowsOfStrays is how many rows strays have.
func (o *Order) rowsOfStrays() int64 {
	if o == nil {
		return 0
	}
	return o.rows
}

// some reports whether there are strays.
func (o *Order) some() bool { return o != nil && len(o.strays) > 0 }

// from returns the first range of strays that does not end before somebody.
func (o *Order) from(w who) int {
	return sort.Search(len(o.strays), func(i int) bool { return o.strays[i].last.compare(w) >= 0 })
}

// none reports whether there is no stray in a stretch, which is given by its rows.
func (o *Order) none(b *Batch, from, to int) bool {
	if !o.some() {
		return true
	}
	at := o.from(b.who(from))
	return at == len(o.strays) || o.strays[at].first.compare(b.who(to-1)) > 0
}

// until returns where a stretch, which is given by its rows, leaves the batch as it was.
func (o *Order) until(b *Batch, from, to int) int {
	if o == nil {
		return to
	}
	first := b.who(from)
	at := sort.Search(len(o.lasts), func(i int) bool { return o.lasts[i].compare(first) >= 0 })
	if at == len(o.lasts) || o.lasts[at].compare(b.who(to-1)) >= 0 {
		return to
	}
	return from + sort.Search(to-from, func(i int) bool { return b.who(from+i).compare(o.lasts[at]) > 0 })
}

// each calls do for the rows of strays, which follow each other, from a row on.
func (o *Order) each(b *Batch, start int, do func(from, to int)) {
	n := len(b.Groups)
	for start < n {
		end := start + 1
		for end < n && b.who(end-1).compare(b.who(end)) <= 0 {
			end++
		}
		last := b.who(end - 1)
		for at := o.from(b.who(start)); at < len(o.strays) && o.strays[at].first.compare(last) <= 0; at++ {
			r := o.strays[at]
			from := start + sort.Search(end-start, func(i int) bool { return b.who(start+i).compare(r.first) >= 0 })
			to := from + sort.Search(end-from, func(i int) bool { return b.who(from+i).compare(r.last) > 0 })
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

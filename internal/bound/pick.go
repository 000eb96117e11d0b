package bound

import (
	"cmp"
	"math"
	"slices"
)

// Pick says which rows of a person are handed on: in each group that is kept at most MaxRows, those
// with the smallest hash of (salt, person, values). All measures are Carried. Rows that are equal
// in all values are as good as each other, so the choice follows from the person's own rows.
type Pick struct {
	MaxRows int64
	// Distinct says that rows of one person that are equal are one row. A sink may still get some
	// of them twice.
	Distinct bool
	// Flag is the measure that is 0 where a row has no value: such a row only says that the person
	// is in its group. It is -1 where every row has one.
	Flag int
	// Sink makes what takes the rows. It is called again where everything starts anew, and then
	// what the last one was given does not count.
	Sink func() Sink
}

// Sink takes rows that were picked, from several goroutines: for each its group, and for each
// measure its value. The slices are read until Take returns.
type Sink interface {
	Take(groups []int32, values [][]int64)
}

// picked is what a kernel needs to pick rows.
type picked struct {
	sink   Sink
	ends   []uint32 // of each pair, in rows
	rows   []uint32 // by pair
	order  []candidate
	pairs  []uint32
	groups []int32
	values [][]int64
	person []int32
}

// candidate is a row and its place in its person's order.
type candidate struct {
	hash uint64
	row  uint32
}

// pick chooses among the rows of each person's groups, and hands on what is kept: to
// the sink, or where emit is not nil, as if each row were a pair.
func (k *kernel) pick(c *columns, emit func(person, pair int)) {
	k.byPair()
	t := &k.picked
	if t.values == nil {
		t.values = make([][]int64, len(k.fields))
	}
	t.groups, t.person = t.groups[:0], t.person[:0]
	for m := range t.values {
		t.values[m] = t.values[m][:0]
	}
	k.kept = slices.Grow(k.kept[:0], len(k.group)+handful)
	from := uint32(0)
	for p, to := range k.ends {
		for _, i := range k.keepOf(from, to) {
			k.pickRows(c, p, i, emit != nil)
		}
		from = to
	}
	if emit == nil {
		t.sink.Take(t.groups, t.values)
		return
	}
	k.group, t.groups = t.groups, k.group
	copy(k.lo, t.values)
	for i, p := range t.person {
		emit(int(p), i)
	}
}

// byPair sorts the rows by pair: they are counted and placed.
func (k *kernel) byPair() {
	t := &k.picked
	n := len(k.group)
	t.ends, t.rows = slices.Grow(t.ends[:0], n+1)[:n+1], slices.Grow(t.rows[:0], len(k.pair))[:len(k.pair)]
	clear(t.ends)
	ends := t.ends
	for _, i := range k.pair {
		ends[i+1]++
	}
	for i := 1; i <= n; i++ {
		ends[i] += ends[i-1]
	}
	for r, i := range k.pair {
		t.rows[ends[i]] = uint32(r)
		ends[i]++
	}
	// Each pair's start has become its end.
}

// pickRows chooses among the rows of one pair. Where others may follow, a pair without a value
// keeps a row too, because it takes a place among its person's groups.
func (k *kernel) pickRows(c *columns, person int, pair uint32, others bool) {
	t := &k.picked
	start := uint32(0)
	if pair > 0 {
		start = t.ends[pair-1]
	}
	rows := t.rows[start:t.ends[pair]]
	first := int(c.starts[0])
	if f := k.Pick.Flag; f >= 0 {
		valued := rows[:0] // in place: they are looked at once
		absent := rows[0]
		for _, r := range rows {
			if c.value(f, first+int(r)) != 0 {
				valued = append(valued, r)
			}
		}
		if rows = valued; len(rows) == 0 {
			if others {
				k.handOn(c, person, pair, first+int(absent))
			}
			return
		}
	}
	if int64(len(rows)) <= k.Pick.MaxRows {
		for _, r := range rows {
			k.handOn(c, person, pair, first+int(r))
		}
		return
	}
	for _, r := range k.smallest(c, c.seeds[person], rows) {
		k.handOn(c, person, pair, first+int(r.row))
	}
}

// smallest returns the rows that come first in their person's order, MaxRows at most.
func (k *kernel) smallest(c *columns, seed uint64, rows []uint32) []candidate {
	first := int(c.starts[0])
	all := k.picked.order[:0]
	last := uint64(math.MaxUint64) // nothing beyond it is among the first
	for _, r := range rows {
		h := k.first(seed)
		for m := range k.fields {
			h = k.next(h, uint64(c.value(m, first+int(r))))
		}
		if h > last {
			continue
		}
		if all = append(all, candidate{h, r}); int64(len(all)) > 2*k.Pick.MaxRows+64 {
			if all = k.firsts(c, all); int64(len(all)) == k.Pick.MaxRows {
				last = all[len(all)-1].hash
			}
		}
	}
	all = k.firsts(c, all)
	k.picked.order = all
	return all
}

// firsts sorts candidates, and returns those that come first, MaxRows at most.
func (k *kernel) firsts(c *columns, all []candidate) []candidate {
	first := int(c.starts[0])
	slices.SortFunc(all, func(a, b candidate) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		return k.compare(c, first+int(a.row), first+int(b.row))
	})
	if k.Pick.Distinct {
		all = slices.CompactFunc(all, func(a, b candidate) bool {
			return a.hash == b.hash && k.compare(c, first+int(a.row), first+int(b.row)) == 0
		})
	}
	return all[:min(int64(len(all)), k.Pick.MaxRows)]
}

// compare orders rows by their values.
func (k *kernel) compare(c *columns, a, b int) int {
	for m := range k.fields {
		if x := cmp.Compare(c.value(m, a), c.value(m, b)); x != 0 {
			return x
		}
	}
	return 0
}

// handOn adds a row to those that are handed on.
func (k *kernel) handOn(c *columns, person int, pair uint32, row int) {
	t := &k.picked
	t.groups, t.person = append(t.groups, k.group[pair]), append(t.person, int32(person))
	for m := range t.values {
		t.values[m] = append(t.values[m], c.value(m, row))
	}
}

// value is a row's value of a measure that has some.
func (c *columns) value(m, row int) int64 {
	if c.small[m] != nil {
		return int64(int32(c.small[m][row]))
	}
	return c.lo[m][row]
}

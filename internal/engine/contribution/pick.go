package contribution

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
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

// picker chooses among rows, and hands them on.
type picker struct {
	*layout
	pairs      *pairTable
	partials   [][]int64 // of the kernel, where rows are handed on as if each were a pair
	sink       Sink
	ends       []uint32 // of each pair, in rows
	rows       []uint32 // by pair
	candidates []candidate
	groups     []int32
	values     [][]int64
	person     []int32
}

// candidate is a row and its place in its person's order.
type candidate struct {
	hash uint64
	row  uint32
}

// pick chooses among the rows of each person's groups, and hands on what is kept: to
// the sink, or where emit is not nil, as if each row were a pair.
func (k *picker) pick(c *columns, emit func(person, pair int)) {
	k.sortByPair()
	if k.values == nil {
		k.values = make([][]int64, len(k.fields))
	}
	k.groups, k.person = k.groups[:0], k.person[:0]
	for m := range k.values {
		k.values[m] = k.values[m][:0]
	}
	k.pairs.keep(func(p int, kept []uint32) {
		for _, i := range kept {
			k.pickRows(c, p, i, emit != nil)
		}
	})
	if emit == nil {
		k.sink.Take(k.groups, k.values)
		return
	}
	k.pairs.group, k.groups = k.groups, k.pairs.group
	copy(k.partials, k.values)
	for i, p := range k.person {
		emit(int(p), i)
	}
}

// sortByPair sorts the rows by pair: they are counted and placed.
func (k *picker) sortByPair() {
	n := len(k.pairs.group)
	k.ends, k.rows = slices.Grow(k.ends[:0], n+1)[:n+1], slices.Grow(k.rows[:0], len(k.pairs.pair))[:len(k.pairs.pair)]
	clear(k.ends)
	ends := k.ends
	for _, i := range k.pairs.pair {
		ends[i+1]++
	}
	for i := 1; i <= n; i++ {
		ends[i] += ends[i-1]
	}
	for r, i := range k.pairs.pair {
		k.rows[ends[i]] = uint32(r)
		ends[i]++
	}
	// Each pair's start has become its end.
}

// pickRows chooses among the rows of one pair. Where others may follow, a pair without a value
// keeps a row too, because it takes a place among its person's groups.
func (k *picker) pickRows(c *columns, person int, pair uint32, others bool) {
	start := uint32(0)
	if pair > 0 {
		start = k.ends[pair-1]
	}
	rows := k.rows[start:k.ends[pair]]
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
func (k *picker) smallest(c *columns, seed uint64, rows []uint32) []candidate {
	first := int(c.starts[0])
	all := k.candidates[:0]
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
			if all = k.sortCandidates(c, all); int64(len(all)) == k.Pick.MaxRows {
				last = all[len(all)-1].hash
			}
		}
	}
	all = k.sortCandidates(c, all)
	k.candidates = all
	return all
}

// sortCandidates sorts candidates, and returns those that come first, MaxRows at most.
func (k *picker) sortCandidates(c *columns, all []candidate) []candidate {
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

func (k *picker) compare(c *columns, a, b int) int {
	for m := range k.fields {
		if x := cmp.Compare(c.value(m, a), c.value(m, b)); x != 0 {
			return x
		}
	}
	return 0
}

// handOn adds a row to those that are handed on.
func (k *picker) handOn(c *columns, person int, pair uint32, row int) {
	k.groups, k.person = append(k.groups, k.pairs.group[pair]), append(k.person, int32(person))
	for m := range k.values {
		k.values[m] = append(k.values[m], c.value(m, row))
	}
}

// value is a row's value of a measure that has some.
func (c *columns) value(m, row int) int64 {
	if c.small[m] != nil {
		return int64(int32(c.small[m][row]))
	}
	return c.lo[m][row]
}

// Collect returns the values of each group, sorted, of those rows that Pick keeps of each person.
// The first measure is Pick's Flag, and the last one is the value; there may be only one.
func Collect(ctx context.Context, s Spec, source BatchReader) ([][]int64, error) {
	if s.Pick == nil || s.Pick.Flag != 0 || len(s.Measures) == 0 {
		return nil, errSpec
	}
	pick := *s.Pick
	var last *lists
	pick.Sink = func() Sink { last = &lists{groups: s.Groups}; return last }
	s.Pick = &pick
	if _, err := Run(ctx, s, source); err != nil {
		return nil, err
	}
	return last.sorted(ctx)
}

// lists are values of groups, as they come.
type lists struct {
	groups int
	mu     sync.Mutex
	parts  []listed
}

type listed struct {
	groups []int32
	values []int64
}

// Take keeps the rows that have a value.
func (t *lists) Take(groups []int32, values [][]int64) {
	flags, value := values[0], values[len(values)-1]
	p := listed{make([]int32, 0, len(groups)), make([]int64, 0, len(groups))}
	for i, g := range groups {
		if flags[i] != 0 {
			p.groups, p.values = append(p.groups, g), append(p.values, value[i])
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts = append(t.parts, p)
}

// sorted returns the values of each group in their order: they are counted, placed and sorted.
func (t *lists) sorted(ctx context.Context) ([][]int64, error) {
	ends := make([]int, t.groups+1)
	for _, p := range t.parts {
		for _, g := range p.groups {
			ends[g+1]++
		}
	}
	for g := range t.groups {
		ends[g+1] += ends[g]
	}
	all := make([]int64, ends[t.groups])
	for k, p := range t.parts {
		for i, g := range p.groups {
			all[ends[g]] = p.values[i]
			ends[g]++
		}
		t.parts[k] = listed{}
	}
	out := make([][]int64, t.groups)
	var done sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for worker := range n {
		done.Go(func() {
			for g := worker; g < len(out) && ctx.Err() == nil; g += n {
				start := 0 // each group's start has become its end
				if g > 0 {
					start = ends[g-1]
				}
				if ends[g] > start {
					out[g] = all[start:ends[g]:ends[g]]
					slices.Sort(out[g])
				}
			}
		})
	}
	done.Wait()
	return out, ctx.Err()
}

// CountDistinct counts the different values of each group, of those that Pick keeps of each
// person. The first measure is Pick's Flag. Where it is the only one it is the value too: from 1 up
// to its Reach. Otherwise the others are the value.
func CountDistinct(ctx context.Context, s Spec, source BatchReader) ([]int64, error) {
	if s.Pick == nil || s.Pick.Flag != 0 || len(s.Measures) == 0 {
		return nil, errSpec
	}
	pick := *s.Pick
	pick.Distinct = true
	s.Pick = &pick
	if s.Memory <= 0 {
		s.Memory = DefaultMemory
	}
	if n := s.Measures[0].Reach; len(s.Measures) == 1 && n > 0 && n <= maxMarkBits/int64(s.Groups) && n*int64(s.Groups)/8 <= s.Memory/2 {
		var last *bitMarks
		pick.Sink = func() Sink { last = newMarks(s.Groups, int(n)); return last }
		_, err := Run(ctx, s, source)
		if err != nil {
			return nil, err
		}
		return last.count(), nil
	}
	return countSets(ctx, s, source, &pick)
}

// maxMarkBits is how many pairs of a group and a value have a bit each, at most.
const maxMarkBits = 1 << 31

// bitMarks has a bit for every group and value.
type bitMarks struct {
	bits   []uint64
	groups int
	values int
}

func newMarks(groups, values int) *bitMarks {
	return &bitMarks{make([]uint64, (groups*values+63)/64), groups, values}
}

// Take marks rows. Most are marked already, where there are many.
func (t *bitMarks) Take(groups []int32, values [][]int64) {
	for i, v := range values[0][:len(groups)] {
		if v < 1 || v > int64(t.values) {
			continue // no value, or the caller's mistake
		}
		at := int(groups[i])*t.values + int(v-1)
		word, bit := &t.bits[at/64], uint64(1)<<(at%64)
		if atomic.LoadUint64(word)&bit == 0 {
			atomic.OrUint64(word, bit)
		}
	}
}

func (t *bitMarks) count() []int64 {
	out := make([]int64, t.groups)
	for g := range out {
		for at, end := g*t.values, (g+1)*t.values; at < end; {
			n := min(64-at%64, end-at)
			word := t.bits[at/64] >> (at % 64)
			if n < 64 {
				word &= 1<<n - 1
			}
			out[g] += int64(bits.OnesCount64(word))
			at += n
		}
	}
	return out
}

// countSets counts values that are too many for a bit each. They are put into sets by a hash of
// group and value. Where sets do not fit into memory some are left for another reading.
func countSets(ctx context.Context, s Spec, source BatchReader, pick *Pick) ([]int64, error) {
	limit := s.Memory / 2
	s.Memory -= limit
	out := make([]int64, s.Groups)
	for first, last := 0, setCount; first < setCount; {
		var all *hashSets
		pick.Sink = func() Sink { all = newSets(len(s.Measures), first, last, limit); return all }
		if _, err := Run(ctx, s, source); err != nil {
			return nil, err
		}
		all.count(out)
		first, last = all.last, min(setCount, 2*all.last-first)
	}
	return out, nil
}

const (
	setBits  = 8
	setCount = 1 << setBits
)

// hashSets are sets of values, of which those from first up to last are kept.
type hashSets struct {
	width int // words of an entry: the group and 1, and the value
	limit int64
	used  atomic.Int64 // bytes
	first int

	mu   sync.RWMutex // held for writing where last becomes less
	last int
	all  [setCount]set
}

// set is a table of entries by their hash, and no entry starts with 0.
type set struct {
	mu    sync.Mutex
	words []uint64
	n     int
}

func newSets(measures, first, last int, limit int64) *hashSets {
	return &hashSets{width: max(measures, 2), limit: limit, first: first, last: last}
}

// Take puts rows into their sets.
func (t *hashSets) Take(groups []int32, values [][]int64) {
	if t.take(groups, values); t.used.Load() > t.limit {
		t.relieve()
	}
}

func (t *hashSets) take(groups []int32, values [][]int64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	entry := make([]uint64, t.width)
	value := values[len(values)-t.width+1:]
	for i, g := range groups {
		if values[0][i] == 0 {
			continue
		}
		entry[0] = uint64(g) + 1
		h := mix(entry[0])
		for m, v := range value {
			entry[m+1] = uint64(v[i])
			h = mix(h ^ entry[m+1])
		}
		if at := int(h >> (64 - setBits)); at >= t.first && at < t.last {
			s := &t.all[at]
			s.mu.Lock()
			s.add(entry, h, &t.used)
			s.mu.Unlock()
		}
	}
}

// relieve leaves half of the sets for another reading. The last one has no limit: it is what one
// set takes.
func (t *hashSets) relieve() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.used.Load() > t.limit && t.last-t.first > 1 {
		half := t.first + (t.last-t.first)/2
		for i := half; i < t.last; i++ {
			t.used.Add(-8 * int64(len(t.all[i].words)))
			t.all[i] = set{}
		}
		t.last = half
	}
}

func (s *set) add(entry []uint64, h uint64, used *atomic.Int64) {
	w := len(entry)
	if (s.n+1)*w*3 > len(s.words)*2 {
		s.grow(w, used)
	}
	size := uint64(len(s.words) / w)
	for at := h & (size - 1); ; at = (at + 1) & (size - 1) {
		place := s.words[int(at)*w:][:w]
		if place[0] == 0 {
			copy(place, entry)
			s.n++
			return
		}
		if place[0] == entry[0] && place[1] == entry[1] && place[w-1] == entry[w-1] {
			return // w is 2 or 3
		}
	}
}

func (s *set) grow(w int, used *atomic.Int64) {
	old := s.words
	s.words = make([]uint64, max(16*w, 2*len(old)))
	used.Add(8 * int64(len(s.words)-len(old)))
	s.n = 0
	for ; len(old) > 0; old = old[w:] {
		if old[0] == 0 {
			continue
		}
		h := mix(old[0])
		for _, v := range old[1:w] {
			h = mix(h ^ v)
		}
		s.add(old[:w], h, used)
	}
}

// count adds up how many values each group has.
func (t *hashSets) count(out []int64) {
	for i := t.first; i < t.last; i++ {
		for w := t.all[i].words; len(w) > 0; w = w[t.width:] {
			if w[0] != 0 {
				out[w[0]-1]++
			}
		}
	}
}

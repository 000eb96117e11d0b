package bound

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"
)

// CountDifferent counts the different values of each group, of those that Pick keeps of each
// person. The first measure is Pick's Flag. Where it is the only one it is the value too: from 1 up
// to its Reach. Otherwise the others are the value.
func CountDifferent(ctx context.Context, s Spec, source Source) ([]int64, error) {
	if s.Pick == nil || s.Pick.Flag != 0 || len(s.Measures) == 0 {
		return nil, errSpec
	}
	pick := *s.Pick
	pick.Distinct = true
	s.Pick = &pick
	if s.Memory <= 0 {
		s.Memory = DefaultMemory
	}
	if n := s.Measures[0].Reach; len(s.Measures) == 1 && n > 0 && n <= mostBits/int64(s.Groups) && n*int64(s.Groups)/8 <= s.Memory/2 {
		var last *marks
		pick.Sink = func() Sink { last = newMarks(s.Groups, int(n)); return last }
		_, err := Run(ctx, s, source)
		if err != nil {
			return nil, err
		}
		return last.count(), nil
	}
	return countSets(ctx, s, source, &pick)
}

// mostBits is how many pairs of a group and a value have a bit each, at most.
const mostBits = 1 << 31

// marks has a bit for every group and value.
type marks struct {
	bits   []uint64
	groups int
	values int
}

func newMarks(groups, values int) *marks {
	return &marks{make([]uint64, (groups*values+63)/64), groups, values}
}

// Take marks rows. Most are marked already, where there are many.
func (t *marks) Take(groups []int32, values [][]int64) {
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

func (t *marks) count() []int64 {
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
func countSets(ctx context.Context, s Spec, source Source, pick *Pick) ([]int64, error) {
	limit := s.Memory / 2
	s.Memory -= limit
	out := make([]int64, s.Groups)
	for first, last := 0, sets; first < sets; {
		var all *setsOf
		pick.Sink = func() Sink { all = newSets(len(s.Measures), first, last, limit); return all }
		if _, err := Run(ctx, s, source); err != nil {
			return nil, err
		}
		all.count(out)
		first, last = all.last, min(sets, 2*all.last-first)
	}
	return out, nil
}

const (
	setBits = 8
	sets    = 1 << setBits
)

// setsOf are sets of values, of which those from first up to last are kept.
type setsOf struct {
	width int // words of an entry: the group and 1, and the value
	limit int64
	used  atomic.Int64 // bytes
	first int

	mu   sync.RWMutex // held for writing where last becomes less
	last int
	all  [sets]set
}

// set is a table of entries by their hash, and no entry starts with 0.
type set struct {
	mu    sync.Mutex
	words []uint64
	n     int
}

func newSets(measures, first, last int, limit int64) *setsOf {
	return &setsOf{width: max(measures, 2), limit: limit, first: first, last: last}
}

// Take puts rows into their sets.
func (t *setsOf) Take(groups []int32, values [][]int64) {
	if t.take(groups, values); t.used.Load() > t.limit {
		t.relieve()
	}
}

func (t *setsOf) take(groups []int32, values [][]int64) {
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
func (t *setsOf) relieve() {
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
func (t *setsOf) count(out []int64) {
	for i := t.first; i < t.last; i++ {
		for w := t.all[i].words; len(w) > 0; w = w[t.width:] {
			if w[0] != 0 {
				out[w[0]-1]++
			}
		}
	}
}

package histogram

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/stream/linear"
)

// entry says how many people a cell has.
type entry struct {
	cell  int
	count int64
}

// people is what a table seals: the cells that have people, rising, and sums of them over some
// attributes.
type people struct {
	domain  *linear.Domain
	strides []int
	cells   []int32
	counts  []int64

	mu        sync.RWMutex
	marginals map[string][]int64
	room      int // for more marginals, in numbers
	members   [][]bitmap
}

// Marginals are kept for all queries over the same attributes, as long as there is room: 16 MB, and
// no one of them more than 4 MB.
const (
	allMarginals = 1 << 21
	oneMarginal  = 1 << 19
)

// seal takes entries that rise by cells, with cells in the domain and positive counts.
func seal(d *linear.Domain, entries []entry) *Table {
	p := &people{domain: d, marginals: map[string][]int64{}, room: allMarginals}
	p.strides = make([]int, len(d.Attributes()))
	n := 1
	for i := len(p.strides) - 1; i >= 0; i-- {
		p.strides[i] = n
		n *= len(d.Attributes()[i].Values)
	}
	for _, e := range entries {
		last := len(p.cells) - 1
		if last < 0 || p.cells[last] != int32(e.cell) {
			p.cells, p.counts = append(p.cells, int32(e.cell)), append(p.counts, min(e.count, MaxCount))
			continue
		}
		p.counts[last] = min(p.counts[last]+min(e.count, MaxCount), MaxCount)
	}
	p.cells, p.counts = slices.Clip(p.cells), slices.Clip(p.counts)
	return &Table{d, func() *people { return p }}
}

// answer never fails. All ways of adding up give the same integer.
func (p *people) answer(q *linear.Query) int64 {
	level, flat := q.Level()
	var s sum
	if level == 0 {
		return 0
	}
	table, attributes := p.marginal(q.Attributes())
	switch {
	case table != nil:
		q.RunsOver(attributes, func(from, to int, weight int64) {
			var n int64
			for _, c := range table[from:to] {
				n += c
			}
			s.add(n, weight)
		})
	case flat && q.Conjunction() && p.bitmaps() != nil:
		s.add(p.selected(q), level)
	default:
		codes := make([]int, len(p.strides))
		for i, cell := range p.cells {
			rest := int(cell)
			for k, stride := range p.strides {
				codes[k] = rest / stride
				rest %= stride
			}
			s.add(p.counts[i], q.Weight(codes))
		}
	}
	return s.value()
}

// marginal returns the sums of counts over some attributes, or nil where they are too many to be
// kept.
func (p *people) marginal(attributes []int) ([]int64, []int) {
	n := p.domain.Size(attributes)
	if n > oneMarginal {
		return nil, nil
	}
	name := make([]byte, 0, 16)
	for _, a := range attributes {
		name = binary.AppendUvarint(name, uint64(a))
	}
	p.mu.RLock()
	table := p.marginals[string(name)]
	p.mu.RUnlock()
	if table != nil {
		return table, attributes
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if table = p.marginals[string(name)]; table != nil {
		return table, attributes
	}
	if n > p.room {
		return nil, nil
	}
	p.room -= n
	table = make([]int64, n)
	for i, cell := range p.cells {
		at := 0
		for _, a := range attributes {
			size := len(p.domain.Attributes()[a].Values)
			at = at*size + int(cell)/p.strides[a]%size
		}
		table[at] += p.counts[i]
	}
	p.marginals[string(name)] = table
	return table, attributes
}

// sum is a sum of products that cannot overflow.
type sum struct{ hi, lo uint64 }

func (s *sum) add(count, weight int64) {
	hi, lo := bits.Mul64(uint64(count), uint64(weight))
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + carry
}

const largest = 1 << 62

func (s *sum) value() int64 {
	if s.hi > 0 || s.lo > largest {
		return largest
	}
	return int64(s.lo)
}

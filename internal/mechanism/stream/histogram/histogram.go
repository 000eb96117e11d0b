// Package histogram holds how many people are in each cell of a domain, sealed, and answers linear
// queries on it exactly, sealed: it is the engine of a stream. Memory goes with the cells that have
// people.
//
// An answer never fails and moves by at most the steps of its query when one person comes, goes or
// is exchanged. So counts that are no counts of people are brought into bounds, one by one and in
// silence, because an error would speak of the data: below 0 is 0, above maxCount is maxCount,
// and a cell that the domain does not have is left out. Each of these moves two neighbours no
// further apart. An answer that does not fit is the nearest number that does.
//
// How long an answer takes goes with the query, and with the number of cells that have people,
// which is private. Whoever can measure the time of an answer to a fraction of a millisecond may
// learn something about that number; noise on an answer does not hide it.
package histogram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/sealed"
)

// maxCount is the most people that a cell can have. A sum over all cells of the largest domain fits
// into an integer.
const maxCount = 1 << 36

// errTable is returned when a table is not made of what it has to be made of.
var errTable = errors.New("not a histogram of this domain")

// Table is a sealed histogram. It does not change and is safe for concurrent use.
type Table struct {
	domain *linear.Domain
	// A function, because neither fmt nor reflection can look into one.
	open func() *peopleByCell
}

// Dense takes one count per cell, and Sparse the counts of some cells, in any order, a cell being
// allowed more than once.
func Dense(d *linear.Domain, counts sealed.Vector) (*Table, error) {
	all := counts.Open()
	if len(all) != d.Cells() {
		return nil, fmt.Errorf("%w: there are %d counts for %d cells", errTable, len(all), d.Cells())
	}
	var entries []cellCount
	for i, c := range all {
		if c > 0 {
			entries = append(entries, cellCount{i, c})
		}
	}
	return seal(d, entries), nil
}

// Sparse is described with [Dense].
func Sparse(d *linear.Domain, cells, counts sealed.Vector) (*Table, error) {
	where, many := cells.Open(), counts.Open()
	if len(where) != len(many) {
		// Both have an entry for each cell that was counted, so this is a mistake of the program
		// and says nothing about data.
		return nil, fmt.Errorf("%w: cells and counts differ in length", errTable)
	}
	entries := make([]cellCount, 0, len(where))
	for i, c := range where {
		if c >= 0 && c < int64(d.Cells()) && many[i] > 0 {
			entries = append(entries, cellCount{int(c), many[i]})
		}
	}
	slices.SortFunc(entries, func(a, b cellCount) int { return a.cell - b.cell })
	return seal(d, entries), nil
}

func (t *Table) Domain() *linear.Domain { return t.domain }

// Answer is the sum over people of the weights of a query of the same domain, sealed: a vector of
// one.
func (t *Table) Answer(q *linear.Query) sealed.Vector {
	return sealed.Seal([]int64{t.open().answer(q)})
}

const hiddenCounts = "[exact]"

func (t *Table) String() string             { return hiddenCounts }
func (t *Table) Format(f fmt.State, _ rune) { fmt.Fprint(f, hiddenCounts) }

// MarshalJSON refuses: an exact value in a document is a bug, not a format.
func (t *Table) MarshalJSON() ([]byte, error) {
	return nil, errors.New("an exact histogram cannot be encoded")
}

// cellCount says how many people a cell has.
type cellCount struct {
	cell  int
	count int64
}

// peopleByCell is what a table seals: the cells that have people, rising, and sums of them over
// some attributes.
type peopleByCell struct {
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
func seal(d *linear.Domain, entries []cellCount) *Table {
	p := &peopleByCell{domain: d, marginals: map[string][]int64{}, room: allMarginals}
	p.strides = make([]int, len(d.Attributes()))
	n := 1
	for i := len(p.strides) - 1; i >= 0; i-- {
		p.strides[i] = n
		n *= len(d.Attributes()[i].Values)
	}
	for _, e := range entries {
		last := len(p.cells) - 1
		if last < 0 || p.cells[last] != int32(e.cell) {
			p.cells, p.counts = append(p.cells, int32(e.cell)), append(p.counts, min(e.count, maxCount))
			continue
		}
		p.counts[last] = min(p.counts[last]+min(e.count, maxCount), maxCount)
	}
	p.cells, p.counts = slices.Clip(p.cells), slices.Clip(p.counts)
	return &Table{d, func() *peopleByCell { return p }}
}

// answer never fails. All ways of adding up give the same integer.
func (p *peopleByCell) answer(q *linear.Query) int64 {
	level, flat := q.Level()
	var s wideSum
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
		s.add(p.countSelected(q), level)
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
func (p *peopleByCell) marginal(attributes []int) ([]int64, []int) {
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

// wideSum is a sum of products that cannot overflow.
type wideSum struct{ hi, lo uint64 }

func (s *wideSum) add(count, weight int64) {
	hi, lo := bits.Mul64(uint64(count), uint64(weight))
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + carry
}

const maxSum = 1 << 62

func (s *wideSum) value() int64 {
	if s.hi > 0 || s.lo > maxSum {
		return maxSum
	}
	return int64(s.lo)
}

// bitmap has a bit for every cell that has people.
type bitmap []uint64

// countSelected adds up the counts of the cells that a conjunction selects, where its marginal is
// too large to be kept.
func (p *peopleByCell) countSelected(q *linear.Query) int64 {
	words := (len(p.cells) + 63) / 64
	chosen, either := make(bitmap, words), make(bitmap, words)
	for i := range chosen {
		chosen[i] = ^uint64(0)
	}
	if rest := len(p.cells) % 64; rest > 0 {
		chosen[words-1] = 1<<rest - 1
	}
	all := p.bitmaps()
	for _, a := range q.Attributes() {
		clear(either)
		for v, w := range q.Single(a) {
			if w != 0 {
				for i, b := range all[a][v] {
					either[i] |= b
				}
			}
		}
		for i, b := range either {
			chosen[i] &= b
		}
	}
	var n int64
	for i, b := range chosen {
		for ; b != 0; b &= b - 1 {
			n += p.counts[i*64+bits.TrailingZeros64(b)]
		}
	}
	return n
}

// maxBitmapWords bounds the memory of bitmaps, in words: 16 MB.
const maxBitmapWords = 1 << 21

// bitmaps returns, for every value of every attribute, the cells that have it, or nil where that
// would be too much memory.
func (p *peopleByCell) bitmaps() [][]bitmap {
	words := (len(p.cells) + 63) / 64
	values := 0
	for _, a := range p.domain.Attributes() {
		values += len(a.Values)
	}
	if words > maxBitmapWords/values {
		return nil
	}
	p.mu.RLock()
	all := p.members
	p.mu.RUnlock()
	if all != nil {
		return all
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.members != nil {
		return p.members
	}
	all = make([][]bitmap, len(p.strides))
	for a, attribute := range p.domain.Attributes() {
		all[a] = make([]bitmap, len(attribute.Values))
		for v := range all[a] {
			all[a][v] = make(bitmap, words)
		}
		for i, cell := range p.cells {
			v := int(cell) / p.strides[a] % len(attribute.Values)
			all[a][v][i/64] |= 1 << (i % 64)
		}
	}
	p.members = all
	return all
}

// Answers is Answer for several queries at once: a vector with one sum for each. How far one person
// moves it is for the caller to know: queries of disjoint cells move together by what one of them
// moves.
func (t *Table) Answers(qs []*linear.Query) sealed.Vector {
	out := make([]int64, len(qs))
	for i, q := range qs {
		out[i] = t.open().answer(q)
	}
	return sealed.Seal(out)
}

// Distance is how far a value is from the true answer. That is private: it is for an owner who
// rehearses a stream on their own data, with answers that nobody else sees.
func (t *Table) Distance(q *linear.Query, value int64) int64 {
	d := value - t.Answer(q).Open()[0]
	return max(d, -d)
}

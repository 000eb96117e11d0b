package contribution

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

const (
	partBits  = 11
	partCount = 1 << partBits
	// Rows are collected, a cache line or two for each partition, before they are moved to a block.
	stageRows  = 16
	stagedRows = partCount * stageRows
)

func partitionOf(seed uint64) int { return int(seed >> (64 - partBits)) }

// scatter puts rows into partitions. It belongs to one goroutine at a time.
type scatter struct {
	*layout
	pool *pool
	full [partCount][]block
	// Of people with integers: rows are collected in words, and in lanes, and the last of them are
	// in no block yet. What is looked at for every row is small, to stay in the cache.
	words [stagedRows]uint64
	sides [][]uint32
	fill  [partCount]uint16 // how many rows the block that is being filled has, with those collected
	now   [][]uint64        // that block
	side  [][]uint32        // its lanes
	// Of people with texts, the block that is being filled.
	texts [][]uint64
}

func newScatter(l *layout, p *pool) *scatter {
	s := &scatter{layout: l, pool: p, now: make([][]uint64, partCount), side: make([][]uint32, partCount),
		texts: make([][]uint64, partCount)}
	for range l.lanes {
		s.sides = append(s.sides, make([]uint32, stagedRows))
	}
	return s
}

// add puts the rows from up to to of a batch into the partitions from first up to limit.
func (s *scatter) add(b *Batch, from, to, first, limit int) {
	switch {
	case b.Ints == nil:
		s.addTexts(b, from, to, first, limit)
	case s.lanes == 0:
		s.addBare(b, from, to, first, limit)
	case s.lanes == 1 && !s.groupLane:
		s.addValued(b, from, to, first, limit)
	default:
		s.addInts(b, from, to, first, limit)
	}
}

// addInts takes rows of any lanes.
func (s *scatter) addInts(b *Batch, from, to, first, limit int) {
	for i := from; i < to; i++ {
		g := b.Groups[i]
		h := s.seedInt(b.Ints[i])
		p := partitionOf(h)
		if g < 0 || p < first || p >= limit {
			continue
		}
		n := s.fill[p]
		at, lane := p*stageRows+int(n%stageRows), 0
		if s.groupLane {
			s.words[at] = h << partBits
			s.sides[0][at] = uint32(g)
			lane = 1
		} else {
			s.words[at] = h<<partBits | uint64(g)
		}
		for m := range s.fields {
			f := &s.fields[m]
			if f.half >= 0 || f.full >= 0 {
				s.sides[lane][at] = uint32(b.Values[m][i])
				lane++
			}
			if f.full >= 0 {
				s.sides[lane][at] = uint32(b.Values[m][i] >> 32)
				lane++
			}
		}
		if s.fill[p] = n + 1; n%stageRows == stageRows-1 {
			s.flush(p, int(n)-stageRows+1)
		}
	}
}

// addBare takes rows that are a person and a group.
func (s *scatter) addBare(b *Batch, from, to, first, limit int) {
	people := b.Ints[from:to]
	groups := b.Groups[from:to][:len(people)]
	width := uint(limit - first)
	for i, person := range people {
		h := s.seedInt(person)
		p := partitionOf(h) & (partCount - 1)
		if groups[i] < 0 || uint(p-first) >= width {
			continue
		}
		n := s.fill[p]
		s.words[(uint(p)*stageRows+uint(n%stageRows))%stagedRows] = h<<partBits | uint64(groups[i])
		if s.fill[p] = n + 1; n%stageRows == stageRows-1 {
			s.flush(p, int(n)-stageRows+1)
		}
	}
}

// addValued takes rows that have one value of 32 bits besides.
func (s *scatter) addValued(b *Batch, from, to, first, limit int) {
	people := b.Ints[from:to]
	groups := b.Groups[from:to][:len(people)]
	values := b.Values[s.valued][from:to][:len(people)]
	width := uint(limit - first)
	side := (*[stagedRows]uint32)(s.sides[0])
	for i, person := range people {
		h := s.seedInt(person)
		p := partitionOf(h) & (partCount - 1)
		if groups[i] < 0 || uint(p-first) >= width {
			continue
		}
		n := s.fill[p]
		at := (uint(p)*stageRows + uint(n%stageRows)) % stagedRows
		s.words[at], side[at] = h<<partBits|uint64(groups[i]), uint32(values[i])
		if s.fill[p] = n + 1; n%stageRows == stageRows-1 {
			s.flush(p, int(n)-stageRows+1)
		}
	}
}

// flush moves what was collected for a partition to its block, to the rows from at on. A block is
// a slice and not a pointer to an array, because Go reads from such a pointer to see whether it is
// nil: that waits for memory that nobody needs, and maps a fresh page twice.
func (s *scatter) flush(p, at int) {
	if at == 0 {
		b := s.pool.rows()
		s.now[p], s.side[p] = b.words[:blockWords], b.lanes
	}
	from := p * stageRows
	copy(s.now[p][at:at+stageRows], s.words[from:from+stageRows])
	for i, side := range s.sides {
		to := i*blockWords + at
		copy(s.side[p][to:to+stageRows], side[from:from+stageRows])
	}
	if at == blockWords-stageRows {
		s.close(p)
	}
}

// close puts a partition's block to those that are full.
func (s *scatter) close(p int) {
	s.full[p] = append(s.full[p], block{form: intRows, words: s.now[p][:s.fill[p]], lanes: s.side[p]})
	s.now[p], s.side[p], s.fill[p] = nil, nil, 0
}

func (s *scatter) take(p int) []block {
	if n := int(s.fill[p]); n > 0 {
		if n%stageRows > 0 {
			s.flush(p, n-n%stageRows)
		}
		if s.now[p] != nil {
			s.close(p)
		}
	}
	if len(s.texts[p]) > 0 {
		s.full[p] = append(s.full[p], block{form: textRows, words: s.texts[p]})
		s.texts[p] = nil
	}
	out := s.full[p]
	s.full[p] = nil
	return out
}

// addTexts puts the rows from up to to of a batch into the partitions from first up to limit.
func (s *scatter) addTexts(b *Batch, from, to, first, limit int) {
	for i := from; i < to; i++ {
		if b.Groups[i] < 0 {
			continue
		}
		text := b.Texts[i]
		seed := s.seedText(text)
		p := partitionOf(seed)
		if p < first || p >= limit {
			continue
		}
		w := s.blockFor(p, 2+(len(text)+7)/8+s.payload)
		w = append(w, seed, uint64(len(text)))
		for ; len(text) >= 8; text = text[8:] {
			w = append(w, binary.LittleEndian.Uint64(text))
		}
		if len(text) > 0 {
			w = append(w, lastWord(text))
		}
		s.texts[p] = s.row(w, b, i)
	}
}

// blockFor returns a partition's block with room for a record.
func (s *scatter) blockFor(p, words int) []uint64 {
	w := s.texts[p]
	if cap(w)-len(w) >= words {
		return w
	}
	if len(w) > 0 {
		s.full[p] = append(s.full[p], block{form: textRows, words: w})
	}
	return s.pool.newBlock(words)
}

func (s *scatter) row(w []uint64, b *Batch, i int) []uint64 {
	start := len(w)
	w = w[:start+s.payload]
	at := w[start:]
	clear(at)
	at[0] = uint64(uint32(b.Groups[i]))
	for m := range s.fields {
		switch f := &s.fields[m]; {
		case f.half >= 0:
			n := f.half + 1 // behind the group
			at[n/2] |= uint64(uint32(b.Values[m][i])) << (n % 2 * 32)
		case f.full >= 0:
			at[(s.halves+2)/2+f.full] = uint64(b.Values[m][i])
		}
	}
	return w
}

// recordForm is what the records of a block are.
type recordForm int

const (
	// intRows are rows of people whose keys are integers: a word each, which is the person's hash
	// without the bits that the partition has, and below it the group; and lanes of 32 bits, one
	// behind the other, with the values, and with the group where it has more bits.
	intRows recordForm = iota
	// textRows are words one behind the other: the hash of a text, its length and bytes, the group
	// and the values.
	textRows
	// partials are words, too: a person as in textRows, or the hash of an integer, the group and
	// partial sums.
	partials
)

const (
	blockWords = 256
	slabSize   = 1 << 16 // blocks are cut from slabs, which are cheaper to make
)

type block struct {
	form  recordForm
	words []uint64
	lanes []uint32
}

// size is about how many words a block takes.
func (b *block) size() int64 { return int64(cap(b.words) + cap(b.lanes)/2) }

// pool makes blocks, takes them back, and counts what is in use.
type pool struct {
	lanes int // of a row
	mu    sync.Mutex
	words shelf[uint64]
	sides shelf[uint32] // the lanes of blocks
	used  atomic.Int64
	most  atomic.Int64 // words that were ever in use
}

// shelf has pieces of one size.
type shelf[T any] struct {
	free  [][]T
	rest  []T // of a slab
	slabs []*[slabSize]T
	used  *sync.Pool // slabs of earlier questions
}

// Slabs are used again by the next question, which is spared the making of pages, until the
// collector has run twice. What is in them is never read: a block's rows are written first.
var usedWords, usedSides sync.Pool

func newPool(lanes int) *pool {
	return &pool{lanes: lanes, words: shelf[uint64]{used: &usedWords}, sides: shelf[uint32]{used: &usedSides}}
}

// leave hands the slabs on. No block may be in use.
func (s *shelf[T]) leave() {
	for _, slab := range s.slabs {
		s.used.Put(slab)
	}
	*s = shelf[T]{used: s.used}
}

// leave hands all memory on.
func (p *pool) leave() {
	p.words.leave()
	p.sides.leave()
}

// take returns a piece of no length.
func (s *shelf[T]) take(size int) []T {
	if last := len(s.free) - 1; last >= 0 {
		b := s.free[last]
		s.free = s.free[:last]
		return b
	}
	if size > slabSize {
		return make([]T, 0, size)
	}
	if len(s.rest) < size {
		slab, ok := s.used.Get().(*[slabSize]T)
		if !ok {
			slab = new([slabSize]T)
		}
		s.slabs, s.rest = append(s.slabs, slab), slab[:]
	}
	b := s.rest[:0:size]
	s.rest = s.rest[size:]
	return b
}

// rows returns an empty block for rows with lanes.
func (p *pool) rows() block {
	b := block{form: intRows}
	p.mu.Lock()
	b.words = p.words.take(blockWords)
	if p.lanes > 0 {
		b.lanes = p.sides.take(p.lanes * blockWords)[:p.lanes*blockWords]
	}
	p.mu.Unlock()
	p.count(b.size())
	return b
}

// newBlock returns an empty block for a record of so many words.
func (p *pool) newBlock(words int) []uint64 {
	if words > blockWords {
		p.count(int64(words))
		return make([]uint64, 0, words)
	}
	p.mu.Lock()
	b := p.words.take(blockWords)
	p.mu.Unlock()
	p.count(blockWords)
	return b
}

func (p *pool) count(words int64) {
	n := p.used.Add(words)
	for most := p.most.Load(); n > most && !p.most.CompareAndSwap(most, n); most = p.most.Load() {
	}
}

func (p *pool) put(blocks []block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range blocks {
		p.used.Add(-b.size())
		if cap(b.words) == blockWords {
			p.words.free = append(p.words.free, b.words[:0])
		}
		if cap(b.lanes) > 0 {
			p.sides.free = append(p.sides.free, b.lanes[:0])
		}
	}
}

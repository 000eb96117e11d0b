package bound

import (
	"sync"
	"sync/atomic"
)

// form is what the records of a block are.
type form int

const (
	// intRows are rows of people whose keys are integers: a word each, which is the person's hash
	// without the bits that the partition has, and below it the group; and lanes of 32 bits, one
	// behind the other, with the values, and with the group where it has more bits.
	intRows form = iota
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

// block has records of one form.
type block struct {
	form  form
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

// room returns an empty block for a record of so many words.
func (p *pool) room(words int) []uint64 {
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

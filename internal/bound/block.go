package bound

import (
	"sync"
	"sync/atomic"
)

// Records are words in blocks. A row is its person (an integer; or a text's hash, its length and
// its bytes) and the payload; a partial is its person and the partial sums. A block has records of
// one form.

const (
	blockWords = 256
	slabBlocks = 256 // blocks are cut from slabs, which are cheaper to make
)

type block struct {
	words   []uint64
	partial bool
}

// pool makes blocks, takes them back, and counts what is in use.
type pool struct {
	mu   sync.Mutex
	free [][]uint64
	used atomic.Int64 // words
	most int64        // words that were ever made
}

func (p *pool) get() []uint64 {
	p.used.Add(blockWords)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) == 0 {
		slab := make([]uint64, slabBlocks*blockWords)
		p.most += slabBlocks * blockWords
		for i := range slabBlocks {
			p.free = append(p.free, slab[i*blockWords:i*blockWords:(i+1)*blockWords])
		}
	}
	last := len(p.free) - 1
	b := p.free[last]
	p.free = p.free[:last]
	return b
}

// room returns an empty block for a record of so many words.
func (p *pool) room(words int) []uint64 {
	if words <= blockWords {
		return p.get()
	}
	p.used.Add(int64(words))
	return make([]uint64, 0, words)
}

func (p *pool) put(blocks []block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range blocks {
		p.used.Add(-int64(cap(b.words)))
		if cap(b.words) == blockWords {
			p.free = append(p.free, b.words[:0])
		}
	}
}

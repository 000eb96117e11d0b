package histogram

import (
	"math/bits"

	"github.com/discreet-dp/discreet/internal/stream/linear"
)

// bitmap has a bit for every cell that has people.
type bitmap []uint64

// selected adds up the counts of the cells that a conjunction selects, where its marginal is too
// large to be kept.
func (p *people) selected(q *linear.Query) int64 {
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

// allBitmaps bounds the memory of bitmaps, in words: 16 MB.
const allBitmaps = 1 << 21

// bitmaps returns, for every value of every attribute, the cells that have it, or nil where that
// would be too much memory.
func (p *people) bitmaps() [][]bitmap {
	words := (len(p.cells) + 63) / 64
	values := 0
	for _, a := range p.domain.Attributes() {
		values += len(a.Values)
	}
	if words > allBitmaps/values {
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

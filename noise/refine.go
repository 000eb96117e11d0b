package noise

import (
	"math/big"
	"sort"
)

// guard is how many more bits than the digits drawn a refinement computes with.
const guard = 32

// belowExp reports whether the uniform number that begins with p is below
// exp(-num/den). It draws more digits until that is certain. For num = 0 it is
// certain at once; otherwise exp(-num/den) is irrational (Lindemann 1882), and the
// probability that the digits do not tell halves with every digit.
func (p prefix) belowExp(src *Source, num, den *big.Int) bool {
	for {
		p.extend(src) // nobody asks while the digits so far tell
		e := expSpan(num, den, p.n+guard)
		a := new(big.Int).Lsh(p.digits, guard)
		b := new(big.Int).Add(p.digits, bigOne)
		b.Lsh(b, guard)
		if b.Cmp(e.lo) <= 0 {
			return true
		}
		if a.Cmp(e.hi) >= 0 {
			return false
		}
	}
}

// pickExact returns the block that the uniform number beginning with p falls
// into. It encloses the ends of all blocks, and the sum of all weights with its
// infinite tail, and draws more digits until the number is within one block for
// certain. It falls on the end of a block with probability zero.
func (l *lattice) pickExact(src *Source, p prefix) uint64 {
	for {
		p.extend(src)
		ends, total := l.blocks(p.n + guard)
		// The number times the total is in [a, b], in the units of the ends.
		a := new(big.Int).Mul(p.digits, total.lo)
		b := new(big.Int).Add(p.digits, bigOne)
		b.Mul(b, total.hi)
		a.Rsh(a, p.n)
		upRsh(b, p.n)
		// The only block that can hold [a, b] is the first that ends at b or later.
		h := sort.Search(len(ends), func(h int) bool { return ends[h].lo.Cmp(b) >= 0 })
		if h < len(ends) && (h == 0 || ends[h-1].hi.Cmp(a) <= 0) {
			return uint64(h)
		}
	}
}

// blocks encloses the right end of every block, before division by the total, and
// the total. It goes on until the weights are below 2^10 units of 2^-prec, so that
// a higher precision reaches further, and bounds the tail that follows: where
// weights fall by the ratio r at first and then by r or faster, it is at most
// weight/(1-r).
func (l *lattice) blocks(prec uint) (ends []span, total span) {
	steps := l.steps()
	ratio := expSpan(steps, l.den, prec)
	var fall span
	if l.power == 2 {
		fall = expSpan(steps.Lsh(steps, 1), l.den, prec)
	}
	unit := new(big.Int).Lsh(bigOne, prec)
	weight := span{new(big.Int).Set(unit), new(big.Int).Set(unit)}
	total = span{new(big.Int), new(big.Int)}
	scratch := new(big.Int)
	// Rounding up keeps a weight from falling below 1/(1-r) units, and r is at most
	// exp(-1/512).
	for weight.hi.BitLen() > 10 {
		total.add(weight)
		if l.shift == 0 && len(ends) > 0 {
			total.add(weight) // for the other sign
		}
		ends = append(ends, total.clone())
		weight.scale(ratio, prec, scratch)
		if l.power == 2 {
			ratio.scale(fall, prec, scratch)
		}
	}
	tail := weight.hi.Lsh(weight.hi, prec+1) // twice, for the other sign
	tail.Quo(tail, unit.Sub(unit, ratio.hi))
	tail.Add(tail, bigOne)
	return ends, span{total.lo, tail.Add(tail, total.hi)}
}

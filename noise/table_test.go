package noise

import (
	"math/big"
	"testing"
)

// TestBlocksNest: what a low precision encloses holds what a much higher one
// encloses, the infinite tail included.
func TestBlocksNest(t *testing.T) {
	for name, l := range extremes(t) {
		const prec, more = 80, 128
		ends, total := l.blocks(prec)
		narrow, narrowTotal := l.blocks(prec + more)
		ends, narrow = append(ends, total), append(narrow[:len(ends):len(ends)], narrowTotal)
		for h := range ends {
			lo := new(big.Int).Lsh(ends[h].lo, more)
			hi := new(big.Int).Lsh(ends[h].hi, more)
			if lo.Cmp(narrow[h].lo) > 0 || hi.Cmp(narrow[h].hi) < 0 {
				t.Fatalf("%s: end %d of %d is not enclosed", name, h, len(ends))
			}
		}
	}
}

// TestBounds compares every bound of the tables with 2^32 c - 1/16, cut to an
// integer, which is what their proof makes them. Where c is so close that the
// error of the fixed point might show, either neighbour will do.
func TestBounds(t *testing.T) {
	const prec = 160
	for name, l := range extremes(t) {
		ends, total := l.blocks(prec)
		margins := 0
		for j, b := range l.table.bound {
			if j == 0 || j == len(l.table.bound)-1 {
				continue // 0, and where the tail begins
			}
			// c, in units of 2^-40.
			c := new(big.Int).Lsh(ends[j-1].lo, 40)
			c.Quo(c, total.lo)
			fine := c.Int64()
			lo, hi := uint32((fine-18)>>8), uint32((fine-14)>>8)
			if b < lo || b > hi {
				t.Fatalf("%s: bound %d is %d, want %d to %d", name, j, b, lo, hi)
			}
			if int64(b) < fine>>8 {
				margins++
			}
		}
		if len(l.table.bound) > 100 && margins == 0 {
			t.Errorf("%s: no bound keeps its margin", name)
		}
	}
}

// TestSlots builds tables whose bounds are at and near the ends of a slot. A
// slot names a block where no number in it is at, or one after, a bound.
func TestSlots(t *testing.T) {
	const s = 100 // the slot to look at
	first, last := uint32(s<<restBits), uint32((s+1)<<restBits-1)
	for _, c := range []struct {
		bound uint32
		want  uint16
	}{
		{first - 3, 1}, {first - 2, 1}, {first - 1, 1 | mixed}, {first, 1 | mixed}, {first + 1, mixed},
		{last - 1, mixed}, {last, mixed}, {last + 1, 0}, {last + 2, 0},
	} {
		tab := table{bound: []uint32{0, c.bound, 1<<32 - 1}}
		tab.fill()
		if got := tab.slot[s]; got != c.want {
			t.Errorf("bound at the slot's beginning %+d: slot %x, want %x", int64(c.bound)-int64(first), got, c.want)
		}
	}
}

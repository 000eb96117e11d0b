package noise

import "math/bits"

const (
	slotBits = 11      // digits that the first look-up takes
	restBits = 21      // digits that the second one adds to make 32
	mixed    = 1 << 15 // marks a slot that does not lie within one block
)

// table finds the block that a uniform number falls into when the blocks are laid
// out side by side in [0, 1), each as long as its probability.
//
// bound[j] stands for 2^32 c, where c is the left end of block j, and is close
// below it: bound[j] <= 2^32 c < bound[j] + 2. A uniform number with the 32
// leading digits v lies in [v, v+1] 2^-32, so it is left of c for certain where
// v < bound[j], right of c for certain where v >= bound[j] + 2, and these digits
// do not tell where v is one of the two values between. Then, and in the tail
// that is not tabulated, the exact arithmetic of pickExact decides.
//
// slot answers for most of the numbers from their first 11 digits alone.
type table struct {
	slot  [1 << slotBits]uint16
	bound []uint32 // the first is 0, and the last begins the tail
}

// pick draws a block.
func (t *table) pick(l *lattice, src *Source) uint64 {
	s := src.Bits(slotBits)
	e := t.slot[s]
	if e < mixed {
		return uint64(e)
	}
	return t.pickMixed(l, src, s)
}

func (t *table) pickMixed(l *lattice, src *Source, s uint64) uint64 {
	v := uint32(s<<restBits | src.Bits(restBits))
	j := int(t.slot[s] &^ mixed)
	for j+1 < len(t.bound) && t.bound[j+1] <= v {
		j++
	}
	if j == len(t.bound)-1 || j > 0 && v-t.bound[j] < 2 {
		return l.pickExact(src, newPrefix(uint64(v), 32))
	}
	return uint64(j)
}

// build fills the table. That takes microseconds, because a table that is right to
// 2^-36 is good enough, and 64-bit integers suffice for that.
//
// The weights exp(-step h^power) follow from each other by multiplication with
// a ratio. Where power is 1 it is exp(-step) always. Where power is 2 it is
// exp(-step (2h+1)), and falls by exp(-2 step) from block to block.
//
// Proof that the bounds are right to 2^-36. Count errors in units of 2^-63.
//   - exp(-step) and exp(-2 step) are off by at most 8 + 2 = 10 (expNeg, and step
//     rounded down).
//   - A ratio is off by at most 10 where power is 1, and by at most 10 + 11h after h
//     multiplications where power is 2 (see times).
//   - A weight is then off by at most 11h, or by at most 11 h(h+1)/2.
//   - The summation ends when a weight is below 2^-48. A step is more than 1/16
//     where power is 1 and more than 1/512 where it is 2, and products are rounded
//     down, so a weight in the code is at most exp(-h/16), or exp(-h^2/512), times
//     (1 + 2^-58)^(h^2), which is next to nothing. So n <= 533 (48 ln 2 times 16)
//     weights are summed, or n <= 131 (the root of 48 ln 2 times 512).
//   - The sum of n weights is off by at most 11 n^2/2, or 11 n^3/6, both at most
//     2^22, and by 2^23 where weights are doubled. That is 2^-40.
//   - Weights are summed in units of 2^-56, rounded down, which adds at most
//     2 533 2^-56, less than 2^-45.
//   - What is not summed is a tail. Its first weight is below 2^-47 (power 1) or
//     2^-46 (power 2), errors included, and the tail is at most 1/(1-r) times that,
//     with r the ratio there: 16.6 times (power 1, step 1/16), or 2.7 times (power
//     2, where r < exp(-2 step n) with step n^2 > 31 and n <= 131). Doubled, that is
//     less than 2^-41.
//
// So any partial sum, and the total, are off by less than 2^-39. The left end c of
// a block is a quotient of the two, at most 1, and the total is at least 1, so c
// is off by less than 2^-38. Taking off 2^-36 leaves a number that is not above
// c; 2^32 times that, cut to an integer, is below 2^32 c by less than
// 1 + 2^32 (2^-36 + 2^-38) < 2.
func (t *table) build(l *lattice) {
	ratio := expNeg(l.step)
	fall := uint64(one)
	if l.power == 2 {
		fall = expNeg(l.step.double())
	}
	var sums [640]uint64 // sums[j] is the left end of block j, in units of 2^-56
	n, total := 0, uint64(0)
	for weight := uint64(one); weight >= one>>48; n++ {
		sums[n] = total
		total += weight >> 7
		if l.shift == 0 && n > 0 {
			total += weight >> 7
		}
		weight = times(weight, ratio)
		ratio = times(ratio, fall)
	}
	sums[n] = total // the left end of the tail

	t.bound = make([]uint32, 1, n+1)
	for j := 1; j <= n; j++ {
		b := uint32(1<<32 - 1)
		if sums[j] < total {
			c, _ := bits.Div64(sums[j], 0, total)
			b = uint32((c - min(c, 1<<28)) >> 32)
		}
		t.bound = append(t.bound, b)
		if b >= 1<<32-3 {
			break // no 32 digits would be right of this bound for certain
		}
	}
	t.fill()
}

// fill finds for every slot the block that all its numbers fall into, if it is
// one, or the first block that they can fall into.
func (t *table) fill() {
	j := 0
	for s := range t.slot {
		first := uint32(s) << restBits
		last := first | (1<<restBits - 1)
		for j+1 < len(t.bound) && t.bound[j+1] <= first {
			j++
		}
		e := uint16(j)
		if j+1 == len(t.bound) || t.bound[j+1] <= last || j > 0 && first-t.bound[j] < 2 {
			e |= mixed
		}
		t.slot[s] = e
	}
}

package bound

import (
	"math"
	"math/big"
	"math/bits"
)

// wide is a signed integer of 128 bits.
type wide struct {
	hi int64
	lo uint64
}

func (w *wide) add(hi int64, lo uint64) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi += hi + int64(carry)
}

func (w wide) less(v wide) bool { return w.hi < v.hi || w.hi == v.hi && w.lo < v.lo }

// int64 returns the nearest integer of 64 bits.
func (w wide) int64() int64 {
	switch {
	case w.hi == int64(w.lo)>>63:
		return int64(w.lo)
	case w.hi < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// clip reads an integer, or the nearest of 80 bits: beyond what a policy can say (2^73), and so far
// below 128 bits that totals of clamped partials cannot overflow.
func clip(x *big.Int) wide {
	limit := new(big.Int).Lsh(big.NewInt(1), 80)
	switch {
	case x.Cmp(limit) > 0:
		x = limit
	case x.CmpAbs(limit) > 0:
		x = limit.Neg(limit)
	}
	lo := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)) // of the two's complement
	hi := new(big.Int).Rsh(x, 64)
	return wide{hi.Int64(), lo.Uint64()}
}

// Limit is where a total is clamped, so that it is an int64.
const Limit = 1 << 62

// final clamps a total.
func (w wide) final() int64 { return min(max(w.int64(), -Limit), Limit) }

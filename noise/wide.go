package noise

import "math/bits"

// wide is a 128-bit unsigned integer.
type wide struct{ hi, lo uint64 }

func (a wide) add(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return wide{hi, lo}
}

func (a wide) atMost(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo <= b.lo }

// shift multiplies by 2^n, or divides by 2^-n and rounds down. A shift by 128 or
// more to the right leaves zero.
func (a wide) shift(n int) wide {
	switch {
	case n >= 64:
		return wide{a.lo << (n - 64), 0}
	case n >= 0:
		return wide{a.hi<<n | a.lo>>(64-n), a.lo << n}
	case n > -64:
		return wide{a.hi >> -n, a.lo>>-n | a.hi<<(64+n)}
	}
	return wide{0, a.hi >> (-n - 64)}
}

// share returns floor(a v/2^64).
func (a wide) share(v uint64) wide {
	hi, lo := bits.Mul64(a.hi, v)
	low, _ := bits.Mul64(a.lo, v)
	return wide{hi, lo}.add(wide{0, low})
}

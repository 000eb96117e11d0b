package noise

import (
	"errors"
	"math/big"
)

// ErrScale is returned when a distribution is asked for that is narrower or wider
// than this package draws.
var ErrScale = errors.New("noise: scale out of range")

// inRange reports whether 2^lo <= x <= 2^hi.
func inRange(x *big.Rat, lo, hi int) bool {
	if x.Sign() <= 0 {
		return false
	}
	e := floorLog2(x)
	return e >= lo && (e < hi || e == hi && x.Cmp(power2(hi)) == 0)
}

// floorLog2 returns the largest e with 2^e <= x, for x > 0.
func floorLog2(x *big.Rat) int {
	// num is in [2^(n-1), 2^n) and den in [2^(d-1), 2^d), so x is in (2^(n-d-1), 2^(n-d+1)).
	e := x.Num().BitLen() - x.Denom().BitLen()
	if x.Cmp(power2(e)) < 0 {
		e--
	}
	return e
}

func power2(e int) *big.Rat {
	p := new(big.Int).Lsh(bigOne, uint(max(e, -e)))
	if e < 0 {
		return new(big.Rat).SetFrac(bigOne, p)
	}
	return new(big.Rat).SetInt(p)
}

// short writes a number in few digits.
func short(x *big.Rat) string {
	if x == nil {
		return "missing"
	}
	return new(big.Float).SetPrec(64).SetRat(x).Text('g', 10)
}

package exact

import (
	"cmp"
	"math/big"
	"slices"
)

// Move is how far apart two vectors are.
type Move struct {
	L1        *big.Int // the sum of the differences
	L2Squared *big.Int // the sum of their squares
	Largest   *big.Int // the largest of them
	Up, Down  bool     // whether any value of the second is above, or below, that of the first
}

// Between measures how far apart two vectors are, and reports false where they are not of the
// same length. It is for the audit kit, which must compare the exact values of two made-up
// databases with the sensitivity that noise was calibrated to, and has no use for the values: it
// gets their distance and leaves them sealed. A distance is private as well, so
// nothing that holds real data may call this.
func Between(a, b Vector) (Move, bool) {
	x, y := a.Open(), b.Open()
	m := Move{L1: new(big.Int), L2Squared: new(big.Int), Largest: new(big.Int)}
	if len(x) != len(y) {
		return m, false
	}
	for i := range x {
		// In big integers, because a difference of two int64 may not be one.
		d := new(big.Int).Sub(big.NewInt(y[i]), big.NewInt(x[i]))
		m.Up, m.Down = m.Up || d.Sign() > 0, m.Down || d.Sign() < 0
		d.Abs(d)
		m.L1.Add(m.L1, d)
		if d.Cmp(m.Largest) > 0 {
			m.Largest.Set(d)
		}
		m.L2Squared.Add(m.L2Squared, d.Mul(d, d))
	}
	return m, true
}

// BetweenNamed is Between for vectors whose blocks of a length stand for names, in any order. A
// block that one of them does not have is zero there. It reports false where the lengths do not
// fit.
func BetweenNamed(a, b Vector, namesA, namesB []string, size int) (Move, bool) {
	x, y := a.Open(), b.Open()
	if len(x) != len(namesA)*size || len(y) != len(namesB)*size {
		return Move{}, false
	}
	place := map[string]int{}
	for _, names := range [][]string{namesA, namesB} {
		for _, n := range names {
			if _, ok := place[n]; !ok {
				place[n] = len(place) * size
			}
		}
	}
	spread := func(v []int64, names []string) Vector {
		out := make([]int64, len(place)*size)
		for i, n := range names {
			copy(out[place[n]:], v[i*size:(i+1)*size])
		}
		return Seal(out)
	}
	return Between(spread(x, namesA), spread(y, namesB))
}

// Apart counts the values that are in one of two vectors and not in the other, whatever their
// order. A value that is there several times counts as often. It is for the audit kit, as Between
// is.
func Apart(a, b Vector) int {
	came, went := Exchanged(a, b)
	return came + went
}

// Exchanged counts the values of a multiset that are not in another: those that came, from a to b,
// and those that went. It is for the audit kit too, and nothing that holds real data may call it.
func Exchanged(a, b Vector) (came, went int) {
	x, y := slices.Clone(a.Open()), slices.Clone(b.Open())
	slices.Sort(x)
	slices.Sort(y)
	for len(x) > 0 && len(y) > 0 {
		switch c := cmp.Compare(x[0], y[0]); {
		case c == 0:
			x, y = x[1:], y[1:]
		case c < 0:
			x = x[1:]
			went++
		default:
			y = y[1:]
			came++
		}
	}
	return came + len(y), went + len(x)
}

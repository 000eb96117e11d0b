package exact

import "math/big"

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

package noise

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestAlongEncloses: for all numbers in the intervals, the quotient is in the interval that comes
// out. With few digits the rounding matters most. lo <= L z/|z| <= hi is compared as lo^2 |z|^2 <=
// L^2 z^2 <= hi^2 |z|^2, in whole quarters of a unit.
func TestAlongEncloses(t *testing.T) {
	const parts = 4
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "n")
		number := func(name string, bits int) (span, *big.Int) {
			lo := rapid.Int64Range(0, int64(1)<<bits).Draw(t, name)
			wide := rapid.Int64Range(1, 4).Draw(t, "width")
			// The ends are the hardest.
			at := rapid.SampledFrom([]int64{0, 0, 0, wide * parts, wide * parts, 1, parts}).Draw(t, "place")
			return span{big.NewInt(lo), big.NewInt(lo + wide)}, big.NewInt(lo*parts + at)
		}
		// A long vector shows the rounding of a short norm.
		size := rapid.IntRange(1, 20).Draw(t, "size")
		length, l := number("length", rapid.IntRange(size, 55).Draw(t, "size of the length"))
		z, x, squares := make([]span, n), make([]*big.Int, n), new(big.Int)
		for i := range z {
			z[i], x[i] = number("z", rapid.IntRange(1, size).Draw(t, "size of z"))
			squares.Add(squares, new(big.Int).Mul(x[i], x[i]))
		}
		out, ok := scaleTo(length, z)
		if !ok {
			for _, s := range z {
				if s.lo.Sign() > 0 {
					t.Fatal("a norm above zero was not believed")
				}
			}
			return
		}
		square := func(v *big.Int) *big.Int { return new(big.Int).Mul(v, v) }
		for i := range z {
			product := square(new(big.Int).Mul(l, x[i])) // parts^4 times (L z)^2
			lo, hi := square(out[i].lo), square(out[i].hi)
			scale := big.NewInt(parts * parts)
			lo.Mul(lo, squares).Mul(lo, scale) // parts^2 from the squares
			hi.Mul(hi, squares).Mul(hi, scale)
			if lo.Cmp(product) > 0 || hi.Cmp(product) < 0 {
				t.Fatalf("number %d is not in its interval", i)
			}
		}
	})
}

// TestAlongRoundsTheNormUp: the norm of (1, 1001) is above 1001, and a long vector shows it.
func TestAlongRoundsTheNormUp(t *testing.T) {
	at := func(lo int64) span { return span{big.NewInt(lo), big.NewInt(lo + 1)} }
	out, ok := scaleTo(at(1<<50), []span{at(1), at(1000)})
	if !ok {
		t.Fatal("a norm above zero was not believed")
	}
	// 2^50/sqrt(1 + 1001^2) is in the interval, so lo^2 (1 + 1001^2) <= 2^100.
	lo := new(big.Int).Mul(out[0].lo, out[0].lo)
	if lo.Mul(lo, big.NewInt(1+1001*1001)).Cmp(new(big.Int).Lsh(bigOne, 100)) > 0 {
		t.Errorf("the interval begins at %v, too far right", out[0].lo)
	}
}

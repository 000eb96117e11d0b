package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// extremeLattices are lattices of all sizes, with numerators and denominators far
// beyond 64 bits among them.
func extremeLattices(t *testing.T) map[string]*lattice {
	t.Helper()
	ls := map[string]*lattice{}
	big200 := new(big.Rat).SetFrac(
		new(big.Int).Add(new(big.Int).Lsh(bigOne, 200), big.NewInt(12345)),
		new(big.Int).Sub(new(big.Int).Lsh(bigOne, 190), big.NewInt(6789)))
	for _, b := range []*big.Rat{powerOfTwo(-20), rat("1/3"), rat("1"), rat("3.7"), rat("100"), rat("1e6"), powerOfTwo(40), big200} {
		l := must(NewLaplace(b))
		g := must(NewGaussian(square(b)))
		ls["laplace "+shortDecimal(b)], ls["gaussian "+shortDecimal(b)] = l.l, g.l
	}
	return ls
}

// TestFastAgreesWithExact compares what 11 and 32 digits decide with what the
// exact arithmetic decides on the same digits, where they could differ: at both
// ends of every slot and around every bound, followed by zeros and by ones.
func TestFastAgreesWithExact(t *testing.T) {
	for name, l := range extremeLattices(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends, total := l.blocks(96)
			exact := func(v uint32, then byte) (h uint64) {
				// The reference is the enclosure at 96 bits, for the number v.000... or v.111...
				u := new(big.Int).SetUint64(uint64(v))
				if then == 0xff {
					u.Add(u, bigOne)
				}
				a := new(big.Int).Rsh(new(big.Int).Mul(u, total.lo), 32)
				b := upRsh(new(big.Int).Mul(u, total.hi), 32)
				for h < uint64(len(ends)) {
					if ends[h].hi.Cmp(a) <= 0 {
						h++
						if then == 0xff && ends[h-1].hi.Cmp(a) == 0 {
							t.Fatal("a bound is a dyadic number")
						}
						continue
					}
					if ends[h].lo.Cmp(b) < 0 {
						return math.MaxUint64 // not known at this precision
					}
					return h
				}
				return math.MaxUint64
			}
			compared := 0
			try := func(v uint32) {
				for _, then := range []byte{0, 0xff} {
					want := exact(v, then)
					if want == math.MaxUint64 {
						continue
					}
					compared++
					got := sourceChoices{entropy.FromReader(&headReader{head: word(uint64(v) << 32)[:4], then: then})}.block(l)
					if got != want {
						t.Fatalf("digits %08x, then %02x: block %d, exactly %d", v, then, got, want)
					}
				}
			}
			for s := range uint32(1 << slotBits) {
				if l.table.slot[s] < mixed {
					try(s << restBits)
					try(s<<restBits | 1<<restBits - 1)
				}
			}
			for _, b := range l.table.bound[1:] {
				for d := -2; d <= 3; d++ {
					if v := int64(b) + int64(d); v >= 0 && v < 1<<32-1 {
						try(uint32(v))
					}
				}
			}
			if compared < 1<<slotBits {
				t.Errorf("only %d comparisons", compared)
			}
		})
	}
}

// TestPickRefines drives the exact arithmetic of the blocks to both sides of a
// bound that differ in the 120th digit only, and into the tail.
func TestPickRefines(t *testing.T) {
	for name, l := range extremeLattices(t) {
		t.Run(name, func(t *testing.T) {
			const prec = 256
			ends, total := l.blocks(prec)
			for _, h := range []int{0, 1, len(l.table.bound) - 2} {
				if h >= len(ends)-1 || h < 0 {
					continue
				}
				// c is the first number of 120 digits to the right of block h.
				c := new(big.Int).Lsh(ends[h].lo, 120)
				c.Quo(c, total.lo)
				c.Add(c, bigOne)
				if c.BitLen() > 120 {
					continue // the rest is below 2^-120
				}
				for d, want := range map[int64]uint64{0: uint64(h) + 1, -2: uint64(h)} {
					u := new(big.Int).Add(c, big.NewInt(d))
					f := &headReader{head: u.Lsh(u, 8).FillBytes(make([]byte, 16)), then: 0}
					if got := (sourceChoices{entropy.FromReader(f)}).block(l); got != want {
						t.Errorf("right end of block %d, %+d: block %d, want %d", h, d, got, want)
					}
					if f.read < 16 {
						t.Errorf("right end of block %d, %+d: decided on %d bytes", h, d, f.read)
					}
				}
			}
		})
	}
	// 60 ones are far in the tail of a Laplace distribution: P(|k| >= j) is
	// 2 exp(-j/b)/(1 + exp(-1/b)) with b = 1, and falls below 2^-60 between 41 and 42.
	l, _ := NewLaplace(rat("1"))
	if h := (sourceChoices{sourceOf(1<<64 - 16)}).block(l.l); h != 41 || int(h) < len(l.l.table.bound) {
		t.Errorf("60 ones give block %d of a table of %d, want 41 and beyond it", h, len(l.l.table.bound))
	}
}

// TestAcceptAgreesWithExact compares accept with the enclosure of its
// probability, for random pairs and at the very digits where it changes.
func TestAcceptAgreesWithExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, l := range extremeLattices(t) {
		if l.shift == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			slow := 0
			for range rounds(700, 2000) {
				h := rng.Uint64N(uint64(len(l.table.bound)))
				if rng.IntN(10) == 0 {
					h = rng.Uint64N(1 << 20) // from the tail
				}
				u := rng.Uint64N(1 << l.shift)
				p := expSpan(l.exponent(h, u), l.den, 160)
				edge := new(big.Int).Rsh(p.lo, 40) // p, to 120 digits
				for _, d := range []int64{-1 << 62, -1, 0, 1, 2, 1 << 62} {
					v := new(big.Int).Add(edge, big.NewInt(d))
					v.Lsh(v, 40)
					if v.Sign() < 0 || v.BitLen() > 160 {
						continue
					}
					if v.Cmp(p.lo) >= 0 && v.Cmp(p.hi) <= 0 {
						continue // not known at this precision
					}
					f := &headReader{head: v.FillBytes(make([]byte, 20))}
					want := v.Cmp(p.lo) < 0
					if got := (sourceChoices{entropy.FromReader(f)}).accept(l, h, u); got != want {
						t.Fatalf("h %d, u %d, edge %+d: %v, want %v", h, u, d, got, want)
					}
					if f.read > 8 {
						slow++
					}
				}
			}
			if slow < rounds(300, 1000) {
				t.Errorf("only %d decisions were refined", slow)
			}
		})
	}
}

// TestExpNegBound compares the fast exponential with the enclosure.
func TestExpNegBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range rounds(8000, 20_000) {
		checkExpNeg(t, fixed{rng.Uint64N(66), rng.Uint64()})
		checkExpNeg(t, fixed{0, rng.Uint64() >> rng.UintN(64)})
	}
	for whole := range uint64(66) {
		checkExpNeg(t, fixed{whole, 0})
		checkExpNeg(t, fixed{whole, math.MaxUint64})
	}
	for m := range uint64(92) { // around the multiples of ln 2, where the reduction changes
		x := new(big.Int).Mul(new(big.Int).SetUint64(ln2), new(big.Int).SetUint64(m))
		for d := int64(-2); d <= 2; d++ {
			y := new(big.Int).Add(x, big.NewInt(d))
			if y.Sign() >= 0 {
				checkExpNeg(t, toFixed(y, new(big.Int).Lsh(bigOne, 64)))
			}
		}
	}
}

func checkExpNeg(t interface{ Fatalf(string, ...any) }, x fixed) {
	num := new(big.Int).Lsh(new(big.Int).SetUint64(x.whole), 64)
	num.Add(num, new(big.Int).SetUint64(x.frac))
	e := expSpan(num, new(big.Int).Lsh(bigOne, 64), 63+40)
	y := new(big.Int).Lsh(new(big.Int).SetUint64(expNeg(x)), 40)
	slack := new(big.Int).Lsh(big.NewInt(expError), 40)
	if new(big.Int).Sub(e.lo, y).CmpAbs(slack) > 0 || new(big.Int).Sub(e.hi, y).CmpAbs(slack) > 0 {
		t.Fatalf("expNeg(%v) = %d is off by more than %d units", x, expNeg(x), expError)
	}
}

// TestExpSpan compares the enclosure with 60 digits of 1/e and of exp(-10), and
// with the law exp(-a) exp(-b) = exp(-a-b).
func TestExpSpan(t *testing.T) {
	for x, digits := range map[int64]string{
		1:  "367879441171442321595523770161460867445811131031767834507836",
		10: "000045399929762484851535591515560550610237918088866564969259",
	} {
		e := expSpan(big.NewInt(x), bigOne, 180)
		ten, _ := new(big.Int).SetString("1"+fmt.Sprintf("%060d", 0), 10)
		d, _ := new(big.Int).SetString(digits, 10)
		lo := new(big.Int).Quo(new(big.Int).Lsh(d, 180), ten)
		hi := new(big.Int).Quo(new(big.Int).Lsh(d.Add(d, bigOne), 180), ten)
		hi.Add(hi, bigOne)
		if e.lo.Cmp(hi) > 0 || e.hi.Cmp(lo) < 0 {
			t.Errorf("exp(-%d) is enclosed in [%v, %v], and is in [%v, %v]", x, e.lo, e.hi, lo, hi)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		den := new(big.Int).SetUint64(rapid.Uint64Min(1).Draw(t, "den"))
		a := new(big.Int).SetUint64(rapid.Uint64().Draw(t, "a"))
		b := new(big.Int).SetUint64(rapid.Uint64().Draw(t, "b"))
		prec := uint(rapid.IntRange(40, 400).Draw(t, "prec"))
		x, y, both := expSpan(a, den, prec), expSpan(b, den, prec), expSpan(new(big.Int).Add(a, b), den, prec)
		if w := new(big.Int).Sub(x.hi, x.lo); w.Sign() < 0 || w.Cmp(big.NewInt(2)) > 0 {
			t.Fatalf("the enclosure is %v units wide", w)
		}
		x.scale(y, prec, new(big.Int))
		if x.hi.Cmp(both.lo) < 0 || both.hi.Cmp(x.lo) < 0 {
			t.Fatalf("exp(-a) exp(-b) in [%v, %v], exp(-a-b) in [%v, %v]", x.lo, x.hi, both.lo, both.hi)
		}
	})
}

// TestBlocksNest: what a low precision encloses holds what a much higher one
// encloses, the infinite tail included.
func TestBlocksNest(t *testing.T) {
	for name, l := range extremeLattices(t) {
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
	for name, l := range extremeLattices(t) {
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

package noise

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// TestFlip measures the probability of a coin by bisection with crafted bits.
func TestFlip(t *testing.T) {
	for _, r := range []string{"0", "1/1000000", "1/20", "1/3", "1", "1048576"} {
		f, _ := rat(r).Float64()
		for _, gap := range []uint64{0, 1, 2, 3, 20, 63, 64, 65, 1000, math.MaxUint64} {
			keep := make([]bool, 1)
			p := shareOfFine(bisect(0xff, func(src *Source) bool {
				Flip(src, rat(r), []uint64{gap}, keep)
				return keep[0]
			}))
			if want := math.Exp(-f * float64(gap)); math.Abs(p-want) > math.Ldexp(1, 1-fineBits) {
				t.Errorf("rate %s, gap %d: probability %.17g, want %.17g", r, gap, p, want)
			}
		}
	}
}

// TestFlipRefines decides numbers that agree with exp(-x) in 120 digits.
func TestFlipRefines(t *testing.T) {
	for _, gap := range []uint64{1, 5, 20} {
		e := expSpan(new(big.Int).SetUint64(gap), big.NewInt(3), 200)
		edge := new(big.Int).Rsh(e.lo, 80)
		for d, want := range map[int64]bool{-1: true, 2: false} {
			v := new(big.Int).Add(edge, big.NewInt(d))
			keep := make([]bool, 1)
			Flip(entropy.FromReader(&headReader{head: v.FillBytes(make([]byte, 15))}), rat("1/3"), []uint64{gap}, keep)
			if keep[0] != want {
				t.Errorf("gap %d, %+d: %v, want %v", gap, d, keep[0], want)
			}
		}
	}
}

// TestFlipDraws: 64 bits for each coin, the certain ones too, and the coins read different bits.
func TestFlipDraws(t *testing.T) {
	f := &headReader{head: word(math.MaxUint64, 0, math.MaxUint64, 0x8000_0000_0000_0000, math.MaxUint64)}
	keep := make([]bool, 5)
	Flip(entropy.FromReader(f), rat("1/2"), []uint64{0, 1, 1, 1, math.MaxUint64}, keep)
	if f.read != 40 || !keep[0] || !keep[1] || keep[2] || !keep[3] || keep[4] {
		t.Errorf("%d bytes, %v", f.read, keep)
	}
	// What is far away is not kept at 2^-52 either, and not at the first digits of zero.
	Flip(entropy.FromReader(&headReader{head: word(1<<12, 1<<12, 0, 1<<12), then: 1}), rat("1"), []uint64{64, math.MaxUint64, 200}, keep)
	if keep[0] || keep[1] || keep[2] {
		t.Errorf("kept %v", keep)
	}
	mustPanic(t, func() { Flip(NewSource(), rat("-1"), []uint64{1}, keep) })
}

func TestBelow(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 5, 7, 10, 1 << 20} {
		for k := uint64(1); k <= min(n, 10); k++ {
			got := shareOfFine(bisect(0, func(src *Source) bool { return Below(src, n) < k }))
			if want := float64(k) / float64(n); math.Abs(got-want) > math.Ldexp(1, 1-fineBits) {
				t.Errorf("P(Below(%d) < %d) = %v, want %v", n, k, got, want)
			}
		}
	}
	for _, n := range []uint64{1, 3, 1 << 63, math.MaxUint64} {
		for _, v := range []uint64{0, 1, 0x1234567890abcdef, math.MaxUint64} {
			f := &headReader{head: word(v, 99)}
			if got := Below(entropy.FromReader(f), n); got >= n || f.read != 16 {
				t.Errorf("Below(%d) of %x is %d, from %d bytes", n, v, got, f.read)
			}
		}
	}
	// One third in binary is 0101...: 128 digits do not tell 0 from 1, the next do.
	third := []uint64{0x5555555555555555, 0x5555555555555555}
	for next, want := range map[uint64]uint64{0: 0, 0x5555555555555554: 0, 0x5555555555555556: 1, math.MaxUint64: 1} {
		f := &headReader{head: word(third[0], third[1], next)}
		if got := Below(entropy.FromReader(f), 3); got != want || f.read <= 16 {
			t.Errorf("one third, then %x: %d, want %d, from %d bytes", next, got, want, f.read)
		}
	}
	mustPanic(t, func() { Below(NewSource(), 0) })
}

// TestBernoulliExp measures the probability, by bisection with crafted bits. Ones
// follow them: after zeros only, exp(-1e300) would have to be computed to decide.
func TestBernoulliExp(t *testing.T) {
	for _, x := range []string{"0", "1e-30", "1e-12", "1/3", "0.5", "0.7", "1", "2", "22", "28", "100", "1e6", "1e300"} {
		f, _ := rat(x).Float64()
		p := shareOfFine(bisect(0xff, func(src *Source) bool { return BernoulliExp(src, rat(x)) }))
		if math.Abs(p-math.Exp(-f)) > math.Ldexp(1, 1-fineBits) {
			t.Errorf("x = %s: probability %.17g, want %.17g", x, p, math.Exp(-f))
		}
	}
}

// TestBernoulliExpRefines decides numbers that agree with exp(-x) in 120 digits.
func TestBernoulliExpRefines(t *testing.T) {
	for _, s := range []string{"1e-30", "1/3", "1", "30", "50"} {
		x := rat(s)
		e := expSpan(x.Num(), x.Denom(), 200)
		edge := new(big.Int).Rsh(e.lo, 80)
		for d, want := range map[int64]bool{-1: true, 2: false} {
			v := new(big.Int).Add(edge, big.NewInt(d))
			if v.BitLen() > 120 {
				continue
			}
			f := &headReader{head: v.FillBytes(make([]byte, 15))}
			if got := BernoulliExp(entropy.FromReader(f), x); got != want {
				t.Errorf("x = %s, %+d: %v, want %v", s, d, got, want)
			}
			if f.read < 16 {
				t.Errorf("x = %s, %+d: decided on %d bytes", s, d, f.read)
			}
		}
	}
}

// TestBernoulliExpAtOneHalf takes the two fractions of 2^64 next to ln 2. They put
// exp(-x) less than 2^-64 to the right and to the left of one half, where 32
// digits end, so that the error of the fast exponential is larger than the distance.
func TestBernoulliExpAtOneHalf(t *testing.T) {
	for d, want := range map[uint64]bool{0: true, 1: false} {
		x := new(big.Rat).SetFrac(new(big.Int).SetUint64(ln2+d), new(big.Int).Lsh(bigOne, 64))
		for name, f := range map[string]*headReader{
			"one half":     {head: word(1 << 63)},
			"hardly below": {head: word(1<<63-1, math.MaxUint64)},
		} {
			if got := BernoulliExp(entropy.FromReader(f), x); got != want {
				t.Errorf("%s is below exp(-ln 2 %+d): %v, want %v", name, d, got, want)
			}
		}
	}
}

func TestBernoulliExpNegative(t *testing.T) {
	mustPanic(t, func() { BernoulliExp(NewSource(), rat("-1/2")) })
}

// TestBernoulliExpZero: certainty takes no randomness.
func TestBernoulliExpZero(t *testing.T) {
	f := &headReader{}
	if !BernoulliExp(entropy.FromReader(f), new(big.Rat)) || f.read != 0 {
		t.Errorf("exp(-0) is 1; read %d bytes", f.read)
	}
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("did not panic")
		}
	}()
	f()
}

// TestUniform counts, for all small n, the words that give each number in the
// first attempt: exactly one each.
func TestUniform(t *testing.T) {
	for n := uint64(1); n <= 300; n++ {
		width := 0
		for 1<<width < n {
			width++
		}
		seen := make([]int, n)
		for v := range uint64(1) << width {
			// Where v is refused, zeros follow, and 0 is drawn with more than width bits.
			f := &headReader{head: word(v<<(64-width), 0)}
			src := entropy.FromReader(f)
			k := Uniform(src, n)
			if k >= n {
				t.Fatalf("Uniform(%d) = %d", n, k)
			}
			if v < n || k != 0 {
				seen[k]++
			}
		}
		for k, c := range seen {
			if c != 1 {
				t.Fatalf("n = %d: %d words give %d", n, c, k)
			}
		}
	}
}

func TestUniformEdges(t *testing.T) {
	f := &headReader{then: 0xff}
	if v := Uniform(entropy.FromReader(f), 1); v != 0 || f.read != 0 {
		t.Errorf("Uniform(1) = %d and read %d bytes", v, f.read)
	}
	n := uint64(1)<<63 + 1
	for _, c := range []struct{ first, second, want uint64 }{
		{n - 1, 5, n - 1}, {n, 5, 5}, {math.MaxUint64, n - 1, n - 1}, {0, 5, 0},
	} {
		if v := Uniform(entropy.FromReader(&headReader{head: word(c.first, c.second)}), n); v != c.want {
			t.Errorf("Uniform(2^63+1) of %x, %x is %x, want %x", c.first, c.second, v, c.want)
		}
	}
	if v := Uniform(sourceOf(math.MaxUint64), math.MaxUint64); v != 0 {
		t.Errorf("Uniform(2^64-1) takes the refused word as %x", v)
	}
	mustPanic(t, func() { Uniform(NewSource(), 0) })
}

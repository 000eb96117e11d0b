package noise

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// TestFlip measures the probability of a coin by bisection with
// crafted bits.
func TestFlip(t *testing.T) {
	for _, r := range []string{"0", "1/1000000", "1/20", "1/3", "1", "1048576"} {
		f, _ := rat(r).Float64()
		for _, gap := range []uint64{0, 1, 2, 3, 20, 63, 64, 65, 1000, math.MaxUint64} {
			keep := make([]bool, 1)
			p := share(bisect(0xff, func(src *Source) bool {
				Flip(src, rat(r), []uint64{gap}, keep)
				return keep[0]
			}))
			if want := math.Exp(-f * float64(gap)); math.Abs(p-want) > math.Ldexp(1, 1-fine) {
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
			Flip(entropy.FromReader(&feed{head: v.FillBytes(make([]byte, 15))}), rat("1/3"), []uint64{gap}, keep)
			if keep[0] != want {
				t.Errorf("gap %d, %+d: %v, want %v", gap, d, keep[0], want)
			}
		}
	}
}

// TestFlipDraws: 64 bits for each coin, the certain ones too, and the coins read
// different bits.
func TestFlipDraws(t *testing.T) {
	f := &feed{head: word(math.MaxUint64, 0, math.MaxUint64, 0x8000_0000_0000_0000, math.MaxUint64)}
	keep := make([]bool, 5)
	Flip(entropy.FromReader(f), rat("1/2"), []uint64{0, 1, 1, 1, math.MaxUint64}, keep)
	if f.read != 40 || !keep[0] || !keep[1] || keep[2] || !keep[3] || keep[4] {
		t.Errorf("%d bytes, %v", f.read, keep)
	}
	// What is far away is not kept at 2^-52 either, and not at the first digits of zero.
	Flip(entropy.FromReader(&feed{head: word(1<<12, 1<<12, 0, 1<<12), then: 1}), rat("1"), []uint64{64, math.MaxUint64, 200}, keep)
	if keep[0] || keep[1] || keep[2] {
		t.Errorf("kept %v", keep)
	}
	mustPanic(t, func() { Flip(NewSource(), rat("-1"), []uint64{1}, keep) })
}

func TestBelow(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 5, 7, 10, 1 << 20} {
		for k := uint64(1); k <= min(n, 10); k++ {
			got := share(bisect(0, func(src *Source) bool { return Below(src, n) < k }))
			if want := float64(k) / float64(n); math.Abs(got-want) > math.Ldexp(1, 1-fine) {
				t.Errorf("P(Below(%d) < %d) = %v, want %v", n, k, got, want)
			}
		}
	}
	for _, n := range []uint64{1, 3, 1 << 63, math.MaxUint64} {
		for _, v := range []uint64{0, 1, 0x1234567890abcdef, math.MaxUint64} {
			f := &feed{head: word(v, 99)}
			if got := Below(entropy.FromReader(f), n); got >= n || f.read != 16 {
				t.Errorf("Below(%d) of %x is %d, from %d bytes", n, v, got, f.read)
			}
		}
	}
	// One third in binary is 0101...: 128 digits do not tell 0 from 1, the next do.
	third := []uint64{0x5555555555555555, 0x5555555555555555}
	for next, want := range map[uint64]uint64{0: 0, 0x5555555555555554: 0, 0x5555555555555556: 1, math.MaxUint64: 1} {
		f := &feed{head: word(third[0], third[1], next)}
		if got := Below(entropy.FromReader(f), 3); got != want || f.read <= 16 {
			t.Errorf("one third, then %x: %d, want %d, from %d bytes", next, got, want, f.read)
		}
	}
	mustPanic(t, func() { Below(NewSource(), 0) })
}

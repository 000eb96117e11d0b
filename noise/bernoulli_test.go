package noise

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// TestBernoulliExp measures the probability, by bisection with crafted bits. Ones
// follow them: after zeros only, exp(-1e300) would have to be computed to decide.
func TestBernoulliExp(t *testing.T) {
	for _, x := range []string{"0", "1e-30", "1e-12", "1/3", "0.5", "0.7", "1", "2", "22", "28", "100", "1e6", "1e300"} {
		f, _ := rat(x).Float64()
		p := share(bisect(0xff, func(src *Source) bool { return BernoulliExp(src, rat(x)) }))
		if math.Abs(p-math.Exp(-f)) > math.Ldexp(1, 1-fine) {
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
			f := &feed{head: v.FillBytes(make([]byte, 15))}
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
		for name, f := range map[string]*feed{
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
	f := &feed{}
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

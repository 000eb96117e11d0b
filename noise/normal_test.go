package noise

import (
	"math"
	"testing"
)

func exponentialUpTo(x float64) float64 { return -math.Expm1(-x) }

// attempted is the measure of one attempt at a normal magnitude: Karney's constant
// times exp(-x^2/2).
func attempted(x float64) float64 {
	return -math.Expm1(-0.5) * math.Sqrt(math.Pi/2) * math.Erf(x/math.Sqrt2)
}

func always(draw func(comparisons) positive) func(comparisons) (positive, bool) {
	return func(c comparisons) (positive, bool) { return draw(c), true }
}

// orderError is what the enumeration may lose to floating point.
const orderError = 1e-12

func TestExponentialEnumeration(t *testing.T) {
	m := measureReals(1e-7, always(exponential))
	if d := m.apart(12, exponentialUpTo); d > orderError {
		t.Errorf("the density is %g from exp(-x)", d)
	}
	if m.left > 1e-4 || m.nothing != 0 {
		t.Errorf("%g was not followed, and nothing came with %g", m.left, m.nothing)
	}
	t.Logf("all but %.2g followed", m.left)
}

func TestNormalEnumeration(t *testing.T) {
	m := measureReals(1e-6, tryNormal)
	if d := m.apart(6, attempted); d > orderError {
		t.Errorf("the density is %g from exp(-x^2/2)", d)
	}
	if d := math.Abs(1 - attempted(40) - m.nothing); d > m.left+orderError {
		t.Errorf("nothing comes with probability %v, want %v", m.nothing, 1-attempted(40))
	}
	if m.left > 0.02 {
		t.Errorf("%g was not followed", m.left)
	}
	t.Logf("all but %.2g followed", m.left)
}

// The coin of a constant, and of a number.
func TestCoinEnumeration(t *testing.T) {
	m := measureReals(1e-15, func(c comparisons) (positive, bool) {
		if fallingCoin(c, half) {
			return positive{}, false
		}
		x := c.fresh()
		c.less(c.fresh(), x) // says nothing of x, because both ways count
		return positive{0, x}, true
	})
	if d := math.Abs(m.nothing - math.Exp(-0.5)); d > 1e-13 {
		t.Errorf("the coin of 1/2 is off by %g", d)
	}
	for k := range uint64(4) {
		m := measureReals(1e-8, func(c comparisons) (positive, bool) {
			x := c.fresh()
			return positive{k, x}, slopeCoin(c, k, x)
		})
		for _, x := range []float64{0, 0.1, 0.5, 0.9, 1} {
			want := math.Exp(-x * (2*float64(k) + x) / (2*float64(k) + 2))
			if got := m.parts[k].at(x); math.Abs(got-want) > 1e-4 {
				t.Errorf("k %d, x %v: %v, want %v", k, x, got, want)
			}
		}
	}
}

// plantedNormal is tryNormal with faults to switch on.
type plantedNormal struct {
	keepWhole bool   // k is not refused
	oneCoin   bool   // one coin for x, and not k + 1
	noSlope   bool   // the second condition is forgotten
	parts     uint64 // 2k + parts in the place of 2k + 2
	odd       bool   // an odd length is the true one
	most      uint64 // larger k are not looked at
}

func (b plantedNormal) try(c comparisons) (positive, bool) {
	coin := func(x *fraction) bool { return fallingCoin(c, x) != b.odd }
	var k uint64
	for coin(half) {
		if k++; k > b.most {
			return positive{}, false
		}
	}
	for i := uint64(0); !b.keepWhole && k > 0 && i < k*(k-1); i++ {
		if !coin(half) {
			return positive{}, false
		}
	}
	x := c.fresh()
	times := k + 1
	if b.oneCoin {
		times = 1
	}
	for range times {
		y, even := x, true
		for {
			u := c.fresh()
			if !c.less(u, y) || !b.noSlope && !b.slope(c, k, x) {
				break
			}
			y, even = u, !even
		}
		if !even {
			return positive{}, false
		}
	}
	return positive{k, x}, true
}

func (b plantedNormal) slope(c comparisons, k uint64, x *fraction) bool {
	if k > 0 && c.share(2*k, 2*k+b.parts) {
		return true
	}
	return c.share(1, b.parts) && c.less(c.fresh(), x)
}

// TestPlantedOrder shows that the enumeration of comparisons can fail.
func TestPlantedOrder(t *testing.T) {
	const least, enough = 1e-5, 1e-3
	for most, tight := range []float64{1e-4, 1e-2, 0.05} {
		m := measureReals(least, plantedNormal{parts: 2, most: uint64(most)}.try)
		if d := m.apart(uint64(most)+1, attempted); d > orderError || m.left > tight {
			t.Fatalf("up to %d without a bug it is %g off, and %g was not followed", most, d, m.left)
		}
	}
	for name, b := range map[string]plantedNormal{
		"k never refused":          {parts: 2, keepWhole: true, most: 2},
		"one coin for all":         {parts: 2, oneCoin: true, most: 2},
		"the slope forgotten":      {parts: 2, noSlope: true},
		"one part more":            {parts: 3},
		"one part less":            {parts: 1},
		"odd in the place of even": {parts: 2, odd: true},
	} {
		if d := measureReals(least, b.try).apart(b.most+1, attempted); d < enough {
			t.Errorf("%s: not caught, %g", name, d)
		}
	}
	for name, draw := range map[string]func(comparisons) positive{
		"refusals do not add": func(c comparisons) positive { p := exponential(c); p.whole = 0; return p },
		"refusals add two":    func(c comparisons) positive { p := exponential(c); p.whole *= 2; return p },
		"every number is kept": func(c comparisons) positive {
			x := c.fresh()
			fallingCoin(c, x)
			return positive{0, x}
		},
		"the last of the chain": func(c comparisons) positive {
			for whole := uint64(0); ; whole++ {
				x, even := c.fresh(), true
				last := x
				for u := c.fresh(); c.less(u, last); u = c.fresh() {
					last, even = u, !even
				}
				if !even {
					return positive{whole, x}
				}
			}
		},
	} {
		if d := measureReals(least, always(draw)).apart(4, exponentialUpTo); d < enough {
			t.Errorf("%s: not caught, %g", name, d)
		}
	}
}

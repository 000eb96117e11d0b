package solve

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func allLosses(t testing.TB) []Loss {
	t.Helper()
	out := []Loss{Logistic()}
	for _, make := range []func(float64) (Loss, error){Huber, Squares} {
		for _, width := range []float64{MinWidth, 0.1, 0.5, 1, 7, MaxWidth} {
			l := must(make(width))
			out = append(out, l)
		}
	}
	return out
}

var targets = []float64{-1, -0.3, 0, 0.7, 1, 5, -5, math.NaN(), math.Inf(1)}

// scores is a grid with everything special in it.
func scores(l Loss) []float64 {
	out := []float64{0, math.Copysign(0, -1), 1e-300, 1e300, -1e300, 699.999, 700, 745, -700, math.MaxFloat64, 5e-324}
	for z := -40.0; z <= 40; z += 0.173 {
		out = append(out, z)
	}
	for _, at := range []float64{1 - l.width, 1 + l.width, l.width, 1} {
		for _, off := range []float64{-1e-9, 0, 1e-9, 1e-3} {
			out = append(out, at+off, -at+off)
		}
	}
	return out
}

// Derivatives are those of the value, and within their bounds.
func TestDerivatives(t *testing.T) {
	for _, l := range allLosses(t) {
		for _, y := range targets {
			for _, z := range scores(l) {
				first, second := l.Derivative(z, y), l.LargestSecondDerivative(z, 0, y)
				if !(math.Abs(first) <= l.Slope()) || !(second >= 0 && second <= l.Curvature()*(1+1e-15)) {
					t.Errorf("%v at %v, %v: %v and %v", l, z, y, first, second)
				}
				if math.Abs(z) > 1000 {
					continue
				}
				h := 1e-6
				around := (l.Value(z+h, y) - l.Value(z-h, y)) / (2 * h)
				if math.Abs(around-first) > 1e-5*(1+l.Curvature())*(1+l.Slope()) {
					t.Errorf("%v at %v, %v: the value rises by %v, and First is %v", l, z, y, around, first)
				}
				// A second derivative jumps at corners: it is between those beside it.
				left, right := (l.Derivative(z, y)-l.Derivative(z-h, y))/h, (l.Derivative(z+h, y)-l.Derivative(z, y))/h
				if lo, hi := min(left, right), max(left, right); second < lo-1e-4 || second > hi+1e-4*(1+l.Curvature()) {
					if math.Abs(math.Abs(1-l.Target(y)*z)-l.width) > 2*h && math.Abs(math.Abs(z-l.Target(y))-l.width) > 2*h {
						t.Errorf("%v at %v, %v: slopes rise by %v and %v, and Second is %v", l, z, y, left, right, second)
					}
				}
			}
		}
	}
}

func TestOneSided(t *testing.T) {
	for _, l := range allLosses(t) {
		both := false
		for _, y := range targets {
			up, down := false, false
			for _, z := range scores(l) {
				up, down = up || l.Derivative(z, y) > 0, down || l.Derivative(z, y) < 0
			}
			both = both || up && down
		}
		if both == l.OneSided() {
			t.Errorf("%v: signs change: %v", l, both)
		}
	}
}

// Slopes rise between neighbouring scores, and by no more than the curvature allows.
func TestLipschitz(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, l := range allLosses(t) {
		for range 2000 {
			y := targets[r.IntN(len(targets))]
			a := r.NormFloat64() * (1 + l.width)
			b := a + math.Exp(-20*r.Float64())
			rise := l.Derivative(b, y) - l.Derivative(a, y)
			if rise < -2*l.DerivativeError() || rise > l.Curvature()*(b-a)+2*l.DerivativeError()+1e-15 {
				t.Errorf("%v from %v to %v: %v", l, a, b, rise)
			}
		}
	}
}

// specified is phi' in 500 bits by the formulas of the package's comment, with an exponential of
// its own: the reciprocal of a plain series.
func specified(l Loss, z *big.Float, y float64) *big.Float {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(500).SetFloat64(x) }
	y = l.Target(y)
	switch l.Name() {
	case "logistic":
		m := number(y)
		m.Mul(m, z)
		size := number(0).Abs(m)
		e, term := number(1), number(1)
		for i := 1; i < 4000 && (term.MantExp(nil) > -600 || i < 2); i++ {
			term.Mul(term, size)
			term.Quo(term, number(float64(i)))
			e.Add(e, term)
		}
		if m.Signbit() {
			e.Quo(number(1), e)
		}
		return e.Quo(number(-y), e.Add(e, number(1)))
	case "huber":
		m := number(y)
		m.Mul(m, z)
		switch h := number(l.width); {
		case m.Cmp(number(0).Add(number(1), h)) > 0:
			return number(0)
		case m.Cmp(number(0).Sub(number(1), h)) < 0:
			return number(-y)
		default:
			out := number(1)
			out.Add(out, h).Sub(out, m)
			out.Quo(out, h.Add(h, h))
			return out.Mul(out, number(-y))
		}
	}
	r := number(0).Sub(z, number(y))
	switch q := number(l.width); {
	case r.Cmp(q) > 0:
		return q
	case r.Cmp(number(-l.width)) < 0:
		return q.Neg(q)
	}
	return r
}

func lossDistance(a, b *big.Float) float64 {
	v, _ := new(big.Float).Sub(new(big.Float).SetPrec(500).Set(a), b).Float64()
	return math.Abs(v)
}

// First and Precise are as near as they say. First is at least a tenth of that off somewhere, so
// that a mistake would show.
func TestLossErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	worst := map[string]float64{}
	for _, l := range allLosses(t) {
		for k := range 3000 {
			y := targets[k%7]
			z := r.NormFloat64() * math.Exp(8*r.Float64()-4)
			if l.Name() == "huber" && k%2 == 0 {
				z = l.Target(y) * (1 + l.width*(2*r.Float64()-1))
			}
			if l.Name() == "squares" && k%2 == 0 {
				z = l.Target(y) + l.width*(2*r.Float64()-1)
			}
			if math.Abs(z) > 300 {
				continue
			}
			want := specified(l, big.NewFloat(z), y)
			if d := lossDistance(want, big.NewFloat(l.Derivative(z, y))); d > l.DerivativeError() {
				t.Fatalf("%v: First(%v, %v) is off by %g, and says %g", l, z, y, d, l.DerivativeError())
			} else {
				worst[l.Name()] = max(worst[l.Name()], d/l.DerivativeError())
			}
			if k%10 > 0 {
				continue
			}
			fine := new(big.Float).SetPrec(300).Add(big.NewFloat(z), new(big.Float).SetMantExp(big.NewFloat(r.Float64()), -70))
			want = specified(l, fine, y)
			for _, bits := range []uint{10, 64, 128, 400} {
				if d := lossDistance(want, l.PreciseDerivative(fine, y, bits)); d > math.Ldexp(1, -int(bits)) {
					t.Fatalf("%v: Precise(%v, %v, %d) is off by %g", l, fine, y, bits, d)
				}
			}
		}
	}
	for name, share := range worst {
		if share < 0.1 {
			t.Errorf("%s: the largest error is %.3g of what is proven", name, share)
		}
	}
}

// decay is within 4u in proportion, where it is used, and falls.
func TestDecay(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	worst := 0.0
	for k := range 4000 {
		a := 699 * r.Float64()
		switch k % 4 {
		case 1:
			a = r.Float64()
		case 2:
			a = math.Ldexp(r.Float64(), -r.IntN(60))
		case 3: // where n changes
			a = (float64(r.IntN(3000)) + 0.5 + 1e-12*r.NormFloat64()) * math.Ln2 / 64
		}
		// e^-a = s/(1-s) for s = 1/(1+e^a)
		s := falling(big.NewFloat(a), 1200)
		e := new(big.Float).SetPrec(1200).Quo(s, new(big.Float).SetPrec(1200).Sub(big.NewFloat(1), s))
		d := new(big.Float).Sub(e, big.NewFloat(decay(a)))
		p, _ := d.Quo(d, e).Float64()
		worst = max(worst, math.Abs(p))
	}
	if worst > 4*0x1p-53 || worst < 0x1p-54 {
		t.Errorf("the largest error in proportion is %.3g u", worst*0x1p53)
	}
	if decay(0) != 1 || decay(700) != 0 || decay(math.NaN()) != 0 || decay(math.Inf(1)) != 0 || decay(699.9999) < 0x1p-1022 {
		t.Error("the ends")
	}
}

func TestTable(t *testing.T) {
	for j := range powersOfRoot {
		// (2^(-j/64))^64 = 2^-j
		power := root64(j)
		for range 6 {
			power.Mul(power, power)
		}
		power.SetMantExp(power, j)
		if d := lossDistance(power, big.NewFloat(1)); d > 0x1p-110 {
			t.Errorf("%d: %g", j, d)
		}
	}
}

func TestWidths(t *testing.T) {
	for _, width := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-9, 1e9} {
		if l, err := Huber(width); !errors.Is(err, errWidth) || l.Name() != "" {
			t.Errorf("Huber(%v): %v", width, err)
		}
		if l, err := Squares(width); !errors.Is(err, errWidth) || l.Name() != "" {
			t.Errorf("Squares(%v): %v", width, err)
		}
	}
}

func Example_loss() {
	l := Logistic()
	fmt.Println(l.Name(), l.Slope(), l.Curvature(), l.OneSided())
	fmt.Printf("%.4f %.4f %.4f\n", l.Value(0.5, 1), l.Derivative(0.5, 1), l.LargestSecondDerivative(0.5, 0, 1))
	// Output:
	// logistic 1 0.25 true
	// 0.4741 -0.3775 0.2350
}

package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// roundedLaplace is the law of radial noise in one dimension, from its definition: the
// integral of exp(-|x|/s)/(2s) over the reals nearest to k.
func roundedLaplace(s float64, k int64) float64 {
	if k == 0 {
		return -math.Expm1(-1 / (2 * s))
	}
	return math.Exp(-math.Abs(float64(k))/s) * math.Sinh(1/(2*s))
}

// cell is the weight of a pair of integers in two dimensions: the integral of exp(-|x|/s)
// over the unit square around it, by Simpson's rule on a grid (the corner at the
// origin costs the one square around it some digits, and no loss is measured there).
func cell(s float64, a, b int64) float64 {
	const n = 16
	sum := 0.0
	for i := range n + 1 {
		for j := range n + 1 {
			w := simpson(i, n) * simpson(j, n)
			x, y := float64(a)-0.5+float64(i)/n, float64(b)-0.5+float64(j)/n
			sum += w * math.Exp(-math.Hypot(x, y)/s)
		}
	}
	return sum / (9 * n * n)
}

func simpson(i, n int) float64 {
	switch {
	case i == 0 || i == n:
		return 1
	case i%2 == 1:
		return 4
	}
	return 2
}

// checkRadial computes the loss of radial noise of a scale for all integer moves of at most d2 in
// l2 squared, in one dimension exactly and in two by integration, and compares it to
// epsilon. The bound must also be approached, or the noise is too large.
func checkRadial(scale *big.Rat, d2 int64, epsilon dp.Amount) error {
	s, _ := scale.Float64()
	worst := 0.0
	for i := int64(0); i*i <= d2; i++ {
		for k := -i - 3; k <= i+3; k++ {
			worst = math.Max(worst, math.Abs(math.Log(roundedLaplace(s, k)/roundedLaplace(s, k-i))))
		}
		for j := int64(0); i*i+j*j <= d2; j++ {
			if i+j == 0 {
				continue
			}
			for far := int64(1); far < 20; far += 3 {
				p, q := cell(s, far*i, far*j), cell(s, (far+1)*i, (far+1)*j)
				worst = math.Max(worst, math.Log(p/q))
			}
		}
	}
	e := epsilon.Float()
	switch {
	case worst > e*(1+1e-6):
		return fmt.Errorf("the privacy loss is %v, above %v", worst, e)
	case worst < e*0.98:
		return fmt.Errorf("the privacy loss is %v, below %v: too much noise", worst, e)
	}
	return nil
}

func TestRadialExact(t *testing.T) {
	for _, c := range []struct {
		d2      int64
		epsilon string
	}{{1, "1"}, {1, "0.1"}, {4, "1"}, {9, "0.7"}, {25, "2"}, {2, "1"}, {5, "0.5"}, {8, "3"}} {
		m := radial(c.d2, 2, c.epsilon)
		cost := m.Cost()
		if cost.Epsilon != amount(c.epsilon) || cost.Delta != 0 || cost.Rho.Float() < dp.RhoOfPure(cost.Epsilon.Float()) {
			t.Errorf("cost %v for epsilon %v", cost, c.epsilon)
		}
		if err := checkRadial(m.Parameter(), c.d2, cost.Epsilon); err != nil {
			t.Errorf("d2 %d, epsilon %v: %v", c.d2, c.epsilon, err)
		}
		s, _ := m.Parameter().Float64()
		half := int(60*s) + 60
		logs := make([]float64, 2*half+1)
		for i := range logs {
			logs[i] = math.Log(roundedLaplace(s, int64(i-half)))
		}
		root := int64(math.Sqrt(float64(c.d2)))
		if err := checkConcentrated(logs, [][2]int64{{root, 0}}, cost.Rho); err != nil {
			t.Errorf("d2 %d, epsilon %v: %v", c.d2, c.epsilon, err)
		}
		// One dimension: the law is the rounded Laplace law.
		one := radial(c.d2, 1, c.epsilon)
		sum := 0.0
		for i := range logs {
			k := abs(int64(i - half))
			mass, bound := one.law().block(k, k)
			if want := math.Exp(logs[i]); math.Abs(mass-want) > bound+1e-13*want {
				t.Fatalf("P(%d) = %v, want %v", k, mass, want)
			}
			sum += mass
		}
		if math.Abs(sum-1) > 1e-11 {
			t.Errorf("probabilities sum to %v", sum)
		}
	}
}

// TestRadialDraws compares the noise of one dimension with the rounded Laplace law.
func TestRadialDraws(t *testing.T) {
	n := daily.Rounds(40_000, 100_000)
	m := radial(4, 1, "1")
	s, _ := m.Parameter().Float64()
	count := map[int64]int{}
	r := seeded(3)
	for range n {
		count[r.Release(Seal(0), m)[0]]++
	}
	chi, free := 0.0, 0
	for k := int64(-12); k <= 12; k++ {
		e := float64(n) * roundedLaplace(s, k)
		chi += (float64(count[k]) - e) * (float64(count[k]) - e) / e
		free++
	}
	if chi > float64(free)+2*math.Sqrt(float64(free)*24)+48 {
		t.Errorf("chi-square %v with %d bins", chi, free)
	}
}

// TestRootUp: the scale is never too small, and too large by a part in 2^60 at most.
func TestRootUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d2 := new(big.Int).SetUint64(rapid.Uint64Min(1).Draw(t, "d2"))
		d2.Lsh(d2, uint(rapid.IntRange(0, 16).Draw(t, "shift")))
		epsilon := dp.Amount(rapid.Uint64Range(1<<10, uint64(dp.One)<<8).Draw(t, "epsilon"))
		m, err := NewRadial(dp.NewL2Squared(d2), 5, epsilon)
		if errors.Is(err, ErrScale) {
			t.Skip()
		}
		if err != nil {
			t.Fatal(err)
		}
		spent := new(big.Rat).Mul(m.Parameter(), epsilon.Rat())
		spent.Mul(spent, spent)
		want := new(big.Rat).SetInt(d2)
		if spent.Cmp(want) < 0 {
			t.Fatalf("the scale is too small for sqrt %v", d2)
		}
		spent.Quo(spent, want)
		if f, _ := spent.Sub(spent, big.NewRat(1, 1)).Float64(); f > 0x1p-60 {
			t.Fatalf("the scale is too large by a share of %v", f)
		}
	})
}

func TestRadialReplay(t *testing.T) {
	f := releaseWith(radial(25, 3, "0.5"))
	for _, y := range [][]int64{{10, 20, 30}, {15, 20, 30}, {13, 16, 30}, {12, 24, 32}, {10, 20, 25}} {
		if err := checkReplay(f, []int64{10, 20, 30}, y, dp.L2); err != nil {
			t.Errorf("%v: %v", y, err)
		}
	}
}

func TestRadialStatistical(t *testing.T) {
	n := daily.Rounds(12_000, 60_000) // enough for what must be told apart below
	m := drawAnswers(releaseWith(radial(9, 1, "1")), []int64{10}, []int64{13}, n)
	if err := m.check(map[float64]float64{1: 0}); err != nil {
		t.Error(err)
	}
	less := 0.75
	if daily.Full() {
		less = 0.8
	}
	if err := m.check(map[float64]float64{less: 0}); err == nil {
		t.Errorf("the test cannot tell epsilon 1 from %v: it would see nothing", less)
	}
	two := drawAnswers(releaseWith(radial(8, 2, "1")), []int64{10, 10}, []int64{12, 12}, n)
	if err := two.check(map[float64]float64{1: 0}); err != nil {
		t.Error(err)
	}
	if err := two.check(map[float64]float64{0.6: 0}); err == nil {
		t.Error("the test cannot tell epsilon 1 from 0.6 in two dimensions: it would see nothing")
	}
}

// shape draws another vector than radial noise of the same scale.
type shape struct {
	*radialNoise
	draw func(src *noise.Source, scale *big.Rat, out []int64)
}

func (s shape) fill(src *noise.Source, out []int64) { s.draw(src, s.Parameter(), out) }

// rescaled is radial noise with another scale than it claims.
type rescaled struct {
	*radialNoise
	scale *big.Rat
}

func (s rescaled) Parameter() *big.Rat { return s.scale }
func (s rescaled) fill(src *noise.Source, out []int64) {
	copy(out, noise.NewRadial(src, len(out)).Round(s.scale))
}

func TestRadialPlantedBugs(t *testing.T) {
	n := daily.Rounds(12_000, 25_000)
	good := radial(9, 1, "0.5") // s = 6
	two := radial(8, 2, "1")    // s = sqrt 8
	of := func(m *radialNoise, s *big.Rat) rescaled { return rescaled{m, s} }
	exact := func(m *radialNoise, d2 int64, s *big.Rat) func() error {
		return func() error { return checkRadial(of(m, s).Parameter(), d2, m.Cost().Epsilon) }
	}
	// A length of Gamma(n-1), one dimension's for a vector of two.
	shorter := shape{two, func(src *noise.Source, s *big.Rat, out []int64) {
		length := noise.NewRadial(src, len(out)-1).Approximate(60)
		x := noise.NewNormals(src, len(out)).Approximate(60)
		sum, scale := 0.0, ratFloat(s)
		v := make([]float64, len(out))
		for i := range x {
			v[i], _ = x[i].Float64()
			sum += v[i] * v[i]
		}
		r, _ := length[0].Float64()
		for i := range out {
			out[i] = int64(math.Round(scale * math.Abs(r) * v[i] / math.Sqrt(sum)))
		}
	}}
	// Laplace noise of the same scale on every coordinate: an l1 mechanism with an l2 bound.
	each := shape{two, func(src *noise.Source, s *big.Rat, out []int64) {
		for i := range out {
			out[i] = noise.NewRadial(src, 1).Round(s)[0]
		}
	}}
	// Noise of half the scale on a lattice twice as coarse, added to a value that is not on it.
	twice := shape{two, func(src *noise.Source, s *big.Rat, out []int64) {
		copy(out, noise.NewRadial(src, len(out)).Round(s))
		for i := range out {
			out[i] *= 2
		}
	}}
	onlyFirst := shape{two, func(src *noise.Source, s *big.Rat, out []int64) {
		copy(out[:1], noise.NewRadial(src, len(out)).Round(s))
	}}
	hockey := func(m Mechanism, x, y []int64, epsilon float64) func() error {
		return func() error { return catchHockeyStick(releaseWith(m), x, y, n, map[float64]float64{epsilon: 0}) }
	}
	for _, c := range []struct {
		name  string
		check func() error
	}{
		{"the square is not rooted, exact", exact(good, 9, big.NewRat(18, 1))},
		{"rooted twice, exact", exact(good, 9, rat(2*math.Sqrt(3)))},
		{"scale D epsilon, exact", exact(good, 9, big.NewRat(3, 2))},
		{"scale 1/epsilon, exact", exact(good, 9, big.NewRat(2, 1))},
		{"the root cut to an integer, exact", exact(two, 8, big.NewRat(2, 1))},
		{"scale D epsilon, statistical", hockey(of(good, big.NewRat(3, 2)), []int64{10}, []int64{13}, 0.5)},
		{"scale 1/epsilon, statistical", hockey(of(good, big.NewRat(2, 1)), []int64{10}, []int64{13}, 0.5)},
		{"the root cut to an integer, statistical", hockey(of(two, big.NewRat(1, 1)), []int64{10, 10}, []int64{12, 12}, 1)},
		{"Gamma(n-1), statistical", hockey(shorter, []int64{10, 10}, []int64{12, 12}, 1)},
		{"a Laplace number for every coordinate, statistical", hockey(each, []int64{10, 10}, []int64{12, 12}, 1)},
		{"noise on multiples of two, statistical", hockey(twice, []int64{10, 10}, []int64{11, 10}, 1)},
		{"noise on the first only, statistical", hockey(onlyFirst, []int64{10, 10}, []int64{12, 12}, 1)},
		{"moves too far, replay", func() error {
			return checkReplay(releaseWith(two), []int64{10, 10}, []int64{13, 10}, dp.L2)
		}},
		{"scale from data, replay", func() error {
			return checkReplay(func(r *Releaser, x []int64) []int64 {
				return r.Release(Seal(x...), of(two, big.NewRat(x[0], 1)))
			}, []int64{10, 10}, []int64{12, 12}, dp.L2)
		}},
	} {
		if err := c.check(); err == nil {
			t.Errorf("%s: not caught", c.name)
		} else {
			t.Logf("%s: %v", c.name, err)
		}
	}
}

func TestRadialRefusals(t *testing.T) {
	for _, c := range []struct {
		name    string
		s       dp.Sensitivity
		n       int
		epsilon dp.Amount
		want    error
	}{
		{"wrong norm", l1(1), 1, dp.One, errNorm},
		{"no norm", dp.Sensitivity{}, 1, dp.One, errNorm},
		{"no privacy loss", l2squared(1), 1, 0, ErrNoPrivacy},
		{"unbounded", l2squared(1), 1, dp.Unbounded, ErrNoPrivacy},
		{"no numbers", l2squared(1), 0, dp.One, errLength},
		{"too many numbers", l2squared(1), 1<<20 + 1, dp.One, errLength},
		{"too wide", dp.NewL2Squared(new(big.Int).Lsh(big.NewInt(1), 82)), 1, dp.One, ErrScale},
		{"too wide by epsilon", l2squared(2), 1, 1, ErrScale},
		{"too narrow", l2squared(1), 1, dp.One<<20 + 1, ErrScale},
	} {
		if _, err := NewRadial(c.s, c.n, c.epsilon); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, epsilon := range []dp.Amount{1, dp.One << 20} {
		if _, err := NewRadial(l2squared(1), 1<<20, epsilon); err != nil {
			t.Errorf("the ends of the range: %v", err)
		}
	}
	m := radial(1, 3, "1")
	for _, terms := range [][]Term{{{m, 2, 1}}, {{m, 1, 1}, {laplace(1, "1"), 1, 1}}} {
		if _, err := HalfWidthOfSum(0.05, terms...); !errors.Is(err, errTerm) {
			t.Errorf("a sum of dependent noises: %v", err)
		}
	}
	if k, err := HalfWidthOfSum(0.05, Term{m, 1, 3}); err != nil || k != 3*m.HalfWidth(0.05) {
		t.Errorf("one coordinate, three times: %d, %v", k, err)
	}
}

// sphereTail is P(b > t) for one coordinate in n dimensions, from the polar form: a length of
// Gamma(n), and a point of the sphere whose first coordinate is above c with probability
// I(1 - c^2; (n-1)/2, 1/2)/2. Simpson's rule over the length.
func sphereTail(n int, t float64) float64 {
	if n == 1 {
		return math.Exp(-t) / 2
	}
	g, _ := math.Lgamma(float64(n))
	const steps = 4000
	to := t + float64(n) + 40 + 12*math.Sqrt(float64(n))
	sum := 0.0
	for i := range steps + 1 {
		// The integrand has a corner at r = t: points lie close to it.
		u := float64(i) / steps
		r, weight := t+(to-t)*u*u, 2*(to-t)*u
		if r == 0 {
			continue
		}
		c := t / r
		p := mathext.RegIncBeta(float64(n-1)/2, 0.5, 1-c*c) / 2
		sum += simpson(i, steps) * weight * math.Exp(-r+(float64(n)-1)*math.Log(r)-g) * p
	}
	return sum / (3 * steps)
}

func TestRadialTail(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8, 21, 105, 106} {
		for _, s := range []float64{0.3, 1, 10} {
			l := newRadialLaw(rat(s), n)
			for _, u := range []float64{0, 0.3, 1, 2, 4} {
				k := int64(u * s * math.Sqrt(float64(n+1)))
				want, got := 2*sphereTail(n, (float64(k)+0.5)/s), l.tail(k)
				most := want * (1 + 1e-6)
				if n%2 == 0 {
					most = 2*sphereTail(n+1, (float64(k)+0.5)/s)*(1+1e-6) + 1e-9
				}
				if got < want*(1-1e-6) || got > most {
					t.Errorf("n %d, s %v, k %d: tail %v, want %v", n, s, k, got, want)
				}
			}
		}
	}
}

// The noise that is drawn stays within its half width as often as it says.
func TestRadialHalfWidth(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10} {
		m := radial(100, n, "1")
		k := m.HalfWidth(0.1)
		if m.Tail(k) > 0.1 || m.Tail(k-1) <= 0.1 {
			t.Errorf("n %d: tails %v and %v around the half width", n, m.Tail(k), m.Tail(k-1))
		}
		draws := daily.Rounds(8_000, 20_000)
		out, r := 0, seeded(byte(n))
		for range draws / n {
			for _, v := range r.Release(Seal(make([]int64, n)...), m) {
				if abs(v) > k {
					out++
				}
			}
		}
		// Coordinates of one vector depend on each other a little.
		if share := float64(out) / float64(draws); share > 0.1+0.02 || share < 0.1-0.04 {
			t.Errorf("n %d: %v of the draws are beyond the half width of 0.1", n, share)
		}
	}
}

func TestRadialHalfWidthExtremes(t *testing.T) {
	for _, n := range []int{1, 2, 105, 1 << 14, 1 << 20} {
		for _, s := range []float64{0x1p-20, 1, 0x1p40} {
			l := newRadialLaw(rat(s), n)
			if l.halfWidth(1) != 0 || l.halfWidth(0) != math.MaxInt64 || l.halfWidth(math.NaN()) != math.MaxInt64 {
				t.Errorf("n %d, s %v: certainty and nothing", n, s)
			}
			if l.tail(-1) != 1 || !(l.tail(math.MaxInt64) > 0) {
				t.Errorf("n %d, s %v: tails %v and %v", n, s, l.tail(-1), l.tail(math.MaxInt64))
			}
			k := l.halfWidth(1e-3)
			if k < 0 || l.tail(k) > 1e-3 {
				t.Errorf("n %d, s %v: half width %d", n, s, k)
			}
			if at := 3.29 * s * math.Sqrt(float64(n+1)); s > 0.1 && (float64(k) < 0.9*at || float64(k) > 1.7*at+8*s) {
				t.Errorf("n %d, s %v: half width %d, near %v", n, s, k, at)
			}
			if far := l.halfWidth(math.SmallestNonzeroFloat64); far < k {
				t.Errorf("n %d, s %v: half width %d at the smallest beta", n, s, far)
			}
		}
	}
	if k := newRadialLaw(rat(0x1p30), 1).halfWidth(0.05); math.Abs(float64(k)/0x1p30-math.Log(20)) > 1e-8 {
		t.Errorf("one dimension: %v", float64(k)/0x1p30)
	}
}

// logMGF bounds the transform of the rounded noise.
func TestRadialMGF(t *testing.T) {
	for _, n := range []int{1, 3, 21} {
		for _, s := range []float64{0.3, 2} {
			l := newRadialLaw(rat(s), n)
			for _, share := range []float64{0.05, 0.4, 0.8} {
				u, sum := share/s, 0.0
				for k := int64(0); k < int64((300+10*float64(n))*s)+200; k++ {
					mass, _ := l.block(k, k)
					c := 1.0
					if k > 0 {
						c = 2 * math.Cosh(u*float64(k))
					}
					sum += c * mass
				}
				if got := l.logMGF(u); got < math.Log(sum)-1e-9 || math.IsInf(got, 0) {
					t.Errorf("n %d, s %v, t %v: %v, want at least %v", n, s, u, got, math.Log(sum))
				}
			}
			if !math.IsInf(l.logMGF(1/s*(1+1e-12)), 1) || l.horizon() != 1/s {
				t.Error("beyond the horizon it is infinite")
			}
		}
	}
}

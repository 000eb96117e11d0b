package noise

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
)

// full is that of internal/test/daily, which draws from this package and cannot be imported here.
var full = flag.Bool("full", false, "draw as many numbers as in the long run; DISCREET_FULL=1 is the same for all packages")

func rounds(few, many int) int {
	if *full || os.Getenv("DISCREET_FULL") != "" {
		return many
	}
	return few
}

// kolmogorov is the distance between a sample and a distribution function, times the
// root of the sample's size. An honest sampler passes ksLimit with probability 2
// exp(-2 ksLimit^2), about 5e-11, and the seeds are fixed besides.
func kolmogorov(sample []float64, upTo func(float64) float64) float64 {
	slices.Sort(sample)
	n, worst := float64(len(sample)), 0.0
	for i, x := range sample {
		p := upTo(x)
		worst = math.Max(worst, math.Max(p-float64(i)/n, float64(i+1)/n-p))
	}
	return worst * math.Sqrt(n)
}

const ksLimit = 3.5

// gammaUpTo is the distribution function of the sum of n exponential numbers.
func gammaUpTo(n int) func(float64) float64 {
	return func(x float64) float64 {
		term, sum := 1.0, 0.0
		for i := range n {
			sum += term
			term *= x / float64(i+1)
		}
		return 1 - math.Exp(-x)*sum
	}
}

func normalUpTo(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// coordinate is the distribution of one coordinate of a radial vector in 1 and 3
// dimensions: P(x > t) = exp(-t)/2 and exp(-t)(2 + t)/4 (integrate exp(-|x|) over the others).
func coordinate(n int) func(float64) float64 {
	return func(x float64) float64 {
		t := math.Abs(x)
		p := math.Exp(-t) / 2
		if n == 3 {
			p = math.Exp(-t) * (2 + t) / 4
		}
		if x < 0 {
			return p
		}
		return 1 - p
	}
}

func uniformUpTo(lo, hi float64) func(float64) float64 {
	return func(x float64) float64 { return (x - lo) / (hi - lo) }
}

// checkRadial draws vectors and compares their norms, coordinates and directions with
// what exp(-|x|) says, and looks whether the direction depends on the norm.
func checkRadial(draw func(*Source, int) *Reals, samples int) error {
	for _, n := range []int{1, 2, 3, 7} {
		src := seededSource(byte(n))
		var norms, firsts, lasts, angles, folded, heights, far []float64
		orthant := make([]int, 8)
		for range samples {
			x, square := make([]float64, n), 0.0
			for i, v := range draw(src, n).Approximate(60) {
				x[i], _ = v.Float64()
				square += x[i] * x[i]
			}
			norm := math.Sqrt(square)
			norms, firsts, lasts = append(norms, norm), append(firsts, x[0]), append(lasts, x[n-1])
			place := 0
			for i := range min(n, 3) {
				if x[i] > 0 {
					place |= 1 << i
				}
			}
			orthant[place]++
			switch n {
			case 2:
				angles = append(angles, math.Atan2(x[1], x[0]))
				a, b := math.Abs(x[0]), math.Abs(x[1])
				folded = append(folded, math.Atan2(min(a, b), max(a, b)))
			case 3: // Archimedes: the height of a random point of a sphere is uniform
				heights = append(heights, math.Abs(x[2])/norm)
				if norm > 3 {
					far = append(far, math.Abs(x[0])/norm)
				}
			}
		}
		check := func(what string, sample []float64, upTo func(float64) float64) error {
			if d := kolmogorov(sample, upTo); len(sample) > 0 && d > ksLimit {
				return fmt.Errorf("n %d: %s: Kolmogorov's distance is %.2f, above %v", n, what, d, ksLimit)
			}
			return nil
		}
		errs := []error{
			check("norm", norms, gammaUpTo(n)),
			check("angle", angles, uniformUpTo(-math.Pi, math.Pi)),
			check("angle within its octant", folded, uniformUpTo(0, math.Pi/4)),
			check("height", heights, uniformUpTo(0, 1)),
			check("direction of long vectors", far, uniformUpTo(0, 1)),
		}
		if n == 1 || n == 3 {
			errs = append(errs, check("first", firsts, coordinate(n)), check("last", lasts, coordinate(n)))
		}
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		cells := 1 << min(n, 3)
		chi, e := 0.0, float64(samples)/float64(cells)
		for _, c := range orthant[:cells] {
			chi += (float64(c) - e) * (float64(c) - e) / e
		}
		if chi > limit(cells-1) {
			return fmt.Errorf("n %d: the signs are not independent, chi-square %.1f", n, chi)
		}
	}
	return nil
}

func TestRadialDraws(t *testing.T) {
	if err := checkRadial(NewRadial, rounds(8_000, 40_000)); err != nil {
		t.Error(err)
	}
}

func TestRadialPlantedBugs(t *testing.T) {
	change := func(f func(src *Source, r *Reals)) func(*Source, int) *Reals {
		return func(src *Source, n int) *Reals {
			r := NewRadial(src, n)
			f(src, r)
			return r
		}
	}
	each := func(r *Reals, f func(z *normal)) {
		for i := range r.normals {
			f(&r.normals[i])
		}
	}
	for name, draw := range map[string]func(*Source, int) *Reals{
		"Gamma(n-1)": change(func(_ *Source, r *Reals) { r.steps = r.steps[:max(1, len(r.steps)-1)] }),
		"Gamma(n+1)": change(func(src *Source, r *Reals) {
			r.steps = append(r.steps, exponential(&sourceComparisons{src: src}))
		}),
		"Gamma(1) for every n": change(func(_ *Source, r *Reals) { r.steps = r.steps[:1] }),
		"no sign":              change(func(_ *Source, r *Reals) { each(r, func(z *normal) { z.minus = false }) }),
		"one sign for all":     change(func(_ *Source, r *Reals) { each(r, func(z *normal) { z.minus = r.normals[0].minus }) }),
		"direction from a cube": change(func(src *Source, r *Reals) {
			each(r, func(z *normal) { z.positive = positive{0, new(fraction)} })
		}),
		"direction from Laplace numbers": change(func(src *Source, r *Reals) {
			each(r, func(z *normal) { z.positive = exponential(&sourceComparisons{src: src}) })
		}),
		"k never refused": change(func(src *Source, r *Reals) {
			each(r, func(z *normal) {
				for ok := false; !ok; {
					z.positive, ok = plantedNormal{parts: 2, keepWhole: true, most: 99}.try(&sourceComparisons{src: src})
				}
			})
		}),
		"independent Laplace numbers": func(src *Source, n int) *Reals {
			r := &Reals{src: src, normals: make([]normal, n)}
			each(r, func(z *normal) { *z = normal{exponential(&sourceComparisons{src: src}), src.Bits(1) == 1} })
			return r
		},
		"digits from the sign's word": change(func(_ *Source, r *Reals) {
			each(r, func(z *normal) { z.minus = z.part.first>>63 == 1 })
		}),
	} {
		if err := checkRadial(draw, 5_000); err == nil {
			t.Errorf("%s: not caught", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

// TestNormalDraws: each number, its square, and the sums of two.
func TestNormalDraws(t *testing.T) {
	const n = 100_000
	var all, sums []float64
	src := seededSource(9)
	for range n / 2 {
		x := NewNormals(src, 2).Approximate(60)
		a, _ := x[0].Float64()
		b, _ := x[1].Float64()
		all, sums = append(all, a, b), append(sums, (a-b)/math.Sqrt2)
	}
	if d := kolmogorov(sums, normalUpTo); d > ksLimit {
		t.Errorf("differences: %v", d)
	}
	// The last digits are uniform, and say nothing of the first.
	low := make([]float64, len(all))
	for i, x := range all {
		low[i] = math.Abs(x)*1024 - math.Floor(math.Abs(x)*1024)
	}
	if d := kolmogorov(low, uniformUpTo(0, 1)); d > ksLimit {
		t.Errorf("last digits: %v", d)
	}
	if d := kolmogorov(all, normalUpTo); d > ksLimit {
		t.Errorf("numbers: %v", d)
	}
	exp := make([]float64, n)
	for i := range exp {
		p := exponential(&sourceComparisons{src: src})
		exp[i] = float64(p.whole) + math.Ldexp(float64(p.part.at(0, src)), -64)
	}
	if d := kolmogorov(exp, exponentialUpTo); d > ksLimit {
		t.Errorf("exponential: %v", d)
	}
}

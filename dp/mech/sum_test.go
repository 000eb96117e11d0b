package mech

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

// slowSum is the distribution of a sum by plain convolution, on -half..half.
func slowSum(parts []noiseTerm, half int) []float64 {
	total := make([]float64, 2*half+1)
	total[half] = 1
	for _, q := range parts {
		one := map[int]float64{}
		for x := int64(0); x*q.weight <= int64(half); x++ {
			mass, _ := q.law.block(x, x)
			one[int(x*q.weight)], one[-int(x*q.weight)] = mass, mass
		}
		for range q.count {
			next := make([]float64, len(total))
			for i, p := range total {
				if p < 1e-30 {
					continue
				}
				for d, m := range one {
					if j := i + d; j >= 0 && j < len(next) {
						next[j] += p * m
					}
				}
			}
			total = next
		}
	}
	return total
}

// smallest returns the smallest k whose tail is within beta, give or take a share.
func smallest(p []float64, beta float64) int64 {
	half, tail := len(p)/2, 0.0
	for k := half; k > 0; k-- {
		if tail += p[half+k] + p[half-k]; tail > beta {
			return int64(k)
		}
	}
	return 0
}

func TestHalfWidthOfSumIsTheSmallest(t *testing.T) {
	l, g := laplace(1, "1"), gaussian(1, "0.05")
	narrow := gaussian(1, "4")
	for _, terms := range [][]Term{
		{{l, 2, 1}}, {{l, 7, 1}}, {{g, 3, 1}}, {{g, 2, -1}, {l, 2, 1}}, {{narrow, 5, 1}},
		{{l, 1, 2}, {g, 1, 3}}, {{l, 1, 10}, {narrow, 4, 4}, {g, 0, 9}, {g, 3, 0}}, {{l, 3, 100}},
	} {
		s := must(newNoiseSum(terms))
		p := slowSum(s.parts, 600)
		for _, beta := range []float64{0.9, 0.5, 0.317, 0.0501, 0.011, 1.1e-4, 1.3e-7} {
			got := must(HalfWidthOfSum(beta, terms...))
			if want := smallest(p, beta) * s.divisor; got != want {
				t.Errorf("%v at %v: %d, want %d", terms, beta, got, want)
			}
		}
	}
}

// The coarse lattices are forced on sums that are small enough to know the
// truth: never below it, and above it by little.
func TestCoarseSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.Float64Range(6, 60).Draw(t, "scale")
		count := rapid.IntRange(1, 5).Draw(t, "count")
		weight := rapid.SampledFrom([]int64{1, 1, 2, 3}).Draw(t, "weight")
		h := rapid.SampledFrom([]int64{3, 5, 7}).Draw(t, "h")
		beta := math.Exp(rapid.Float64Range(-14, -0.1).Draw(t, "ln beta"))
		s := noiseSum{divisor: 1, copies: float64(count + 1), even: weight == 1, parts: []noiseTerm{
			{newLaplaceLaw(rat(scale)), count, 1},
			{newGaussianLaw(rat(scale * scale)), 1, weight},
		}}
		far, tilt := s.chernoff(beta * residueShare)
		exact := s.onLattice(beta, tilt, 1, powerOfTwo(2*far+4))
		coarse := s.onLattice(beta, tilt, h, powerOfTwo(2.2*far/float64(h)+8))
		simple, _ := s.chernoff(beta)
		if coarse < exact || simple < exact {
			t.Fatalf("coarse %v, Chernoff %v, exact %v", coarse, simple, exact)
		}
		variance := 0.0
		for _, q := range s.parts {
			variance += float64(q.count) * q.law.variance() * float64(q.weight*q.weight)
		}
		room := 2 + 1e-3*exact
		if s.even {
			// Variance grows by h^2/4 for each noise, and the quantile with its
			// root; Laplace tails a little more.
			room += exact * s.copies * float64(h*h) / 4 / variance * 1.5
		} else {
			room += float64(h) * (1 + math.Sqrt(s.copies/2*math.Log(2/(beta*residueShare))))
		}
		if coarse > exact+room {
			t.Fatalf("coarse %v, exact %v, room %v", coarse, exact, room)
		}
	})
}

// Sums of Gaussians are Gaussian, nearly, so large sums have a known answer.
func TestHalfWidthOfLargeSums(t *testing.T) {
	g, wide := gaussian(1_000_000_000, "0.005"), gaussian(1<<40, "0.0005")
	tails := []struct{ beta, u float64 }{{0.05, 1.959963984540054}, {0.01, 2.5758293035489004}, {1e-6, 4.891638475698947}}
	for i, c := range []struct {
		terms  []Term
		excess float64
	}{
		{[]Term{{g, 2, 1}}, 1e-5},
		{[]Term{{g, 100, 7}}, 1e-4},
		{[]Term{{g, 5000, 1}}, 1e-3},
		{[]Term{{g, 1, 1}, {wide, 1, 3}}, 1e-3},
		{[]Term{{g, 50, 2}, {wide, 50, -3}}, 1e-3},
	} {
		variance := 0.0
		for _, q := range c.terms {
			variance += float64(q.Count) * q.Mechanism.law().variance() * float64(q.Weight*q.Weight)
		}
		for j, at := range tails {
			if !daily.Full() && (i+daily.Turn(3))%3 != j {
				continue // one for each sum, and each for one sum or two, every day
			}
			k := must(HalfWidthOfSum(at.beta, c.terms...))
			if r := float64(k)/math.Sqrt(variance)/at.u - 1; r < -1e-12 || r > c.excess {
				t.Errorf("%v at %v: %d is off by %.2g", c.terms, at.beta, k, r)
			}
		}
	}
}

func TestHalfWidthOfSumEdges(t *testing.T) {
	l := laplace(1, "1")
	for _, c := range []struct {
		beta  float64
		terms []Term
	}{
		{0, []Term{{l, 1, 1}}}, {1, []Term{{l, 1, 1}}}, {math.NaN(), []Term{{l, 1, 1}}},
		{0.1, []Term{{nil, 1, 1}}}, {0.1, []Term{{l, -1, 1}}}, {0.1, []Term{{l, 1, math.MinInt64}}},
	} {
		if _, err := HalfWidthOfSum(c.beta, c.terms...); !errors.Is(err, errTerm) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if k, err := HalfWidthOfSum(0.1); k != 0 || err != nil {
		t.Errorf("an empty sum is off by %d, %v", k, err)
	}
	if k, _ := HalfWidthOfSum(0.05, Term{l, 1, -5}); k != 5*l.HalfWidth(0.05) {
		t.Errorf("one noise: %d", k)
	}
	// Beyond int64 the answer is the largest int64, and tiny betas have an answer too.
	wide := laplace(1<<39, "0.5")
	if k, _ := HalfWidthOfSum(0.05, Term{wide, 2, 1 << 40}); k != math.MaxInt64 {
		t.Errorf("%d", k)
	}
	if k, err := HalfWidthOfSum(1e-300, Term{l, 2, 1}, Term{wide, 1, 3}); err != nil || k <= wide.HalfWidth(1e-300) {
		t.Errorf("%d, %v", k, err)
	}
	if k, err := HalfWidthOfSum(0.05, Term{laplace(1, "1048576"), 1000, 1}); err != nil || k != 0 {
		t.Errorf("hardly any noise: %d, %v", k, err)
	}
}

func TestTransform(t *testing.T) {
	x := make([]complex128, 64)
	for i := range x {
		x[i] = complex(math.Sin(float64(i*i)), math.Cos(float64(3*i)))
	}
	want := make([]complex128, len(x))
	for k := range want {
		for i, v := range x {
			sin, cos := math.Sincos(-2 * math.Pi * float64(i*k%64) / 64)
			want[k] += v * complex(cos, sin)
		}
	}
	transform(x)
	for k := range x {
		if d := x[k] - want[k]; math.Hypot(real(d), imag(d)) > 1e-12 {
			t.Errorf("%d: %v, want %v", k, x[k], want[k])
		}
	}
}

func BenchmarkHalfWidthOfSum(b *testing.B) {
	l, g := laplace(1, "1"), gaussian(1_000_000_000, "0.005")
	for name, terms := range map[string][]Term{
		"two small": {{l, 2, 1}},
		"equal":     {{g, 100, 1}},
		"mixed":     {{g, 1, 1}, {g, 1, 3}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = HalfWidthOfSum(0.05, terms...)
			}
		})
	}
}

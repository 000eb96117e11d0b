package mech

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/stat"
)

var ratioRuns = flag.Int("ratio-runs", 1000, "how often each average is drawn whose error bars are measured")

// averageCase is an average of n values from 0 to 100, each of another person.
type averageCase struct {
	name string
	n    int64
	mean int64
	x, y Mechanism
	twin bool
}

func (c averageCase) String() string { return fmt.Sprintf("%s, n = %d, mean %d", c.name, c.n, c.mean) }

// averageCases are averages as the curator pays for them at a price: half of it for a sum of
// distances from 50, half for the count; or all of it for the distances from both ends.
func averageCases(t *testing.T, epsilons []float64) []averageCase {
	var out []averageCase
	for _, epsilon := range epsilons {
		rho, err := dp.CeilFloat(dp.RhoOfPure(epsilon) / 2)
		if err != nil {
			t.Fatal(err)
		}
		share := fmt.Sprint(epsilon / 2)
		for _, n := range []int64{30, 100, 1000, 10000} {
			for _, mean := range []int64{50, 75} {
				name := fmt.Sprintf("epsilon %v, ", epsilon)
				out = append(out,
					averageCase{name + "laplace", n, mean, laplace(50, share), laplace(1, share), false},
					averageCase{name + "gaussian", n, mean, gaussian(2500, rho.String()), gaussian(1, rho.String()), false},
					averageCase{name + "laplace and gaussian", n, mean, laplace(50, share), gaussian(1, rho.String()), false},
					averageCase{name + "twins", n, mean, laplace(100, fmt.Sprint(epsilon)), laplace(100, fmt.Sprint(epsilon)), true})
			}
		}
	}
	return out
}

// measured is how often an error bar holds, and how wide it is on average.
type measured struct {
	inside int
	width  float64
}

func (m *measured) add(truth, estimate, half float64) {
	if math.Abs(truth-estimate) <= half {
		m.inside++
	}
	m.width += half
}

// measure draws an average again and again, and puts error bars around it: those of a rectangle
// around both numbers, and those of the law of x - a y.
func (c averageCase) measure(r *Releaser, beta float64, runs int) (before, after measured) {
	x, y := NumberNoise{Mechanism: c.x}, NumberNoise{Mechanism: c.y}
	most := 50.0
	if c.twin {
		most = 1
	}
	a := NewRatioNoise(beta, x, y, most)
	hx, hy := c.x.HalfWidth(beta/2), c.y.HalfWidth(beta/2)
	for range runs {
		if c.twin {
			up, down := r.Release(Seal(c.mean*c.n), c.x)[0], r.Release(Seal((100-c.mean)*c.n), c.y)[0]
			e, half := PartInterval(Noisy{up, hx}, Noisy{down, hy}, 100)
			before.add(float64(c.mean), e, half)
			e, from, to := a.Part(up, down, 100)
			after.add(float64(c.mean), e, math.Max(to-e, e-from))
			continue
		}
		sum, count := r.Release(Seal((c.mean-50)*c.n), c.x)[0], r.Release(Seal(c.n), c.y)[0]
		e, half := RatioInterval(Noisy{sum, hx}, Noisy{count, hy}, -50, 50)
		before.add(float64(c.mean-50), e, half)
		e, from, to := a.Ratio(sum, count, -50, 50)
		after.add(float64(c.mean-50), e, math.Max(to-e, e-from))
	}
	before.width /= float64(runs)
	after.width /= float64(runs)
	return before, after
}

// TestAverageCoverage measures the error bars of averages. Those of the law of x - a y hold as
// often as they say, and are never wider than those of a rectangle. With -v it prints the table of
// docs/benchmarks.md:
//
//	go test ./dp/mech -run TestAverageCoverage -ratio-runs 20000 -v
func TestAverageCoverage(t *testing.T) {
	const beta = 0.05
	var table strings.Builder
	r := seeded(7)
	for _, c := range averageCases(t, []float64{0.1, 1, 10}) {
		before, after := c.measure(r, beta, *ratioRuns)
		if stat.UpperBound(after.inside, *ratioRuns, 1e-7) < 1-beta {
			t.Errorf("%v: only %d of %d error bars hold", c, after.inside, *ratioRuns)
		}
		if after.width > before.width*(1+1e-12) {
			t.Errorf("%v: error bars of %v are wider than %v, those of a rectangle", c, after.width, before.width)
		}
		share := func(m measured) float64 { return 100 * float64(m.inside) / float64(*ratioRuns) }
		fmt.Fprintf(&table, "%-42v %6.2f %% ±%-8.4g %6.2f %% ±%-8.4g %3.0f %% narrower\n", c, share(before), before.width,
			share(after), after.width, 100*(1-after.width/before.width))
	}
	t.Log("\n" + table.String())
}

// exactLaw are the probabilities of noise on -half..half, from its definition.
type exactLaw []float64

func exactLawOf(m Mechanism) exactLaw {
	at := laplaceLogs
	if m.Name() == "gaussian" {
		at = gaussianLogs
	}
	out := exactLaw(at(m.Parameter()))
	for i := range out {
		out[i] = math.Exp(out[i])
	}
	return out
}

// beyond are the probabilities that |S - a N| is above each k, for S of l and N of another law.
func (l exactLaw) beyond(n exactLaw, a float64, ks []float64) []float64 {
	below := make([]float64, len(l)+1) // P(S < i - half)
	for i, p := range l {
		below[i+1] = below[i] + p
	}
	half, out := len(l)/2, make([]float64, len(ks))
	clamp := func(x float64) int { return int(math.Max(0, math.Min(float64(len(l)), x+float64(half)))) }
	for i, p := range n {
		c := a * float64(i-len(n)/2)
		for j, k := range ks {
			// S from ceil(c - k) to floor(c + k); rounding counts what is at an end as inside.
			from, to := math.Ceil(c-k-1e-9*(1+k)), math.Floor(c+k+1e-9*(1+k))
			if inside := below[clamp(to+1)] - below[clamp(from)]; from <= to {
				out[j] += p * (1 - inside)
			} else {
				out[j] += p
			}
		}
	}
	return out
}

// TestRatioNoiseExact compares k(a) with the law of S - a N, added up from definitions: outside is
// at most beta, and with less of it more would be.
func TestRatioNoiseExact(t *testing.T) {
	noises := []Mechanism{laplace(1, "12"), laplace(1, "3"), laplace(1, "0.4"), laplace(30, "0.5"), gaussian(1, "8"), gaussian(1, "0.3"),
		gaussian(900, "0.4")}
	for _, x := range noises {
		for _, y := range noises {
			for _, beta := range []float64{0.5, 0.05, 0.001} {
				for _, most := range []float64{0, 1, 7.5, 60} {
					testRatioNoise(t, x, y, beta, most)
				}
			}
		}
	}
}

func testRatioNoise(t *testing.T, x, y Mechanism, beta, most float64) {
	t.Helper()
	name := fmt.Sprintf("%s %v and %s %v, beta %v", x.Name(), x.Parameter(), y.Name(), y.Parameter(), beta)
	r := NewRatioNoise(beta, NumberNoise{Mechanism: x}, NumberNoise{Mechanism: y}, most)
	if r.cells[len(r.cells)-1].to != most {
		t.Fatalf("the last cell ends at %v, not %v", r.cells[len(r.cells)-1].to, most)
	}
	lawX, lawY := exactLawOf(x), exactLawOf(y)
	before := 0.0
	for i, c := range r.cells {
		if (i+1)%9 == 0 || i == len(r.cells)-1 {
			simple := float64(r.x) + c.to*float64(r.y)
			looser := math.Max(0, math.Min(c.half, simple)*0.98-0.6-(c.to-before)*4*math.Sqrt(Variance(y)))
			for _, a := range []float64{before*(1-1e-9) + c.to*1e-9, (before + c.to) / 2, c.to} {
				p := lawX.beyond(lawY, a, []float64{c.half, simple, looser})
				if p[0] > beta || p[1] > beta {
					t.Errorf("%s: |S - %v N| is above %v with probability %v, above %v with %v", name, a, c.half, p[0], simple, p[1])
				}
				if a == c.to && looser > 0 && p[2] <= beta {
					t.Errorf("%s: |S - %v N| is above %v with probability %v already, and %v is given", name, a, looser, p[2], c.half)
				}
			}
		}
		before = c.to
	}
	// A single a is as one of the range, without what others cost.
	a := most / 3
	k := RatioHalfWidth(beta, NumberNoise{Mechanism: x}, NumberNoise{Mechanism: y}, a)
	if p := lawX.beyond(lawY, a, []float64{k}); p[0] > beta {
		t.Errorf("%s: |S - %v N| is above %v with probability %v", name, a, k, p[0])
	}
}

// TestRatioNoiseOff: what a number may be off by beside its noise is added, times a for the
// divisor; and what is near a normal reaches at least as far as the normal does.
func TestRatioNoiseOff(t *testing.T) {
	const beta, a = 0.05, 3.0
	m := gaussian(100, "0.5")
	plain := NumberNoise{Mechanism: m}
	k := RatioHalfWidth(beta, plain, plain, a)
	averaged := NumberNoise{Mechanism: must(NewAveragedNoise(m, 2))}
	for _, c := range []struct {
		x, y NumberNoise
		more float64
	}{
		{NumberNoise{Mechanism: m, Off: 4}, plain, 5}, {plain, NumberNoise{Mechanism: m, Off: 4}, 15},
		{averaged, plain, 3}, {plain, averaged, 9},
	} {
		if got := RatioHalfWidth(beta, c.x, c.y, a); got != k+c.more {
			t.Errorf("%v and %v: %v, want %v and %v", c.x, c.y, got, k, c.more)
		}
		r := NewRatioNoise(beta, c.x, c.y, a)
		if last := r.cells[len(r.cells)-1]; last.half < k+c.more || last.half > (k+c.more)*1.02 {
			t.Errorf("%v and %v: %v, want %v and %v", c.x, c.y, last.half, k, c.more)
		}
	}
	variance := m.Parameter()
	near := NumberNoise{Mechanism: must(NewMarginalNoise("residuals", l2squared(1), m.Cost(), variance, big.NewRat(5, 2)))}
	v, _ := variance.Float64()
	normal := 1.959964 * math.Sqrt(v*(1+a*a))
	if got := RatioHalfWidth(beta, near, near, a); got < normal+2.5*(1+a) || got > normal*1.01+5*(1+a) {
		t.Errorf("%v, and that of normals is %v", got, normal)
	}
	// Of a sum of several noises the half widths are known; and an exact number loses nothing.
	several := NumberNoise{Mechanism: m, Count: 3}
	want := float64(several.HalfWidth(beta/2)) + a*float64(plain.HalfWidth(beta/2))
	if got := RatioHalfWidth(beta, several, plain, a); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := RatioHalfWidth(beta, plain, NumberNoise{}, a); got != float64(m.HalfWidth(beta)) {
		t.Errorf("%v, want %v", got, m.HalfWidth(beta))
	}
}

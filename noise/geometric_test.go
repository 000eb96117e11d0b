package noise

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

// geometricPMF is the definition: (1 - q) q^k with q = exp(-1/b), and nothing below zero.
func geometricPMF(b float64) func(int64) float64 {
	return func(k int64) float64 {
		if k < 0 {
			return 0
		}
		return -math.Expm1(-1/b) * math.Exp(-float64(k)/b)
	}
}

func newGeometric(t testing.TB, scale string) *Geometric {
	t.Helper()
	g, err := NewGeometric(rat(scale))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGeometricEnumeration walks through every way that a draw can go, on both sides of the
// scale where offsets begin, and at the narrow end.
func TestGeometricEnumeration(t *testing.T) {
	for _, scale := range []string{"1/1048576", "1/2", "1", "3.7", "15.99", "16", "100"} {
		t.Run(scale, func(t *testing.T) {
			t.Parallel()
			g := newGeometric(t, scale)
			pmf := enumerate(newMeasure(g.two.l), g.draw)
			b, _ := rat(scale).Float64()
			if d := distance(pmf, geometricPMF(b)); !(d < closeEnough) {
				t.Errorf("the sampler is %.3g from its definition in total variation", d)
			}
			mean := 0.0
			for k, p := range pmf {
				if k < 0 {
					t.Errorf("%d came with probability %g", k, p)
				}
				mean += p * float64(k)
			}
			if want := 1 / math.Expm1(1/b); math.Abs(mean-want) > 1e-9*(1+want) {
				t.Errorf("mean %.12g, want %.12g", mean, want)
			}
		})
	}
}

// TestGeometricPlantedBugs shows that the enumeration can fail.
func TestGeometricPlantedBugs(t *testing.T) {
	for _, scale := range []string{"2", "20"} {
		g := newGeometric(t, scale)
		b, _ := rat(scale).Float64()
		m := newMeasure(g.two.l)
		for bug, draw := range map[string]func(choices) int64{
			"folded over: zero counted half": func(c choices) int64 {
				k := g.two.l.draw(c)
				return max(k, -k)
			},
			"negative draws become zero": func(c choices) int64 { return max(0, g.two.l.draw(c)) },
			"zero refused": func(c choices) int64 {
				for {
					if k := g.two.l.draw(c); k > 0 {
						return k
					}
				}
			},
			"begins at one":  func(c choices) int64 { return g.draw(c) + 1 },
			"the other side": func(c choices) int64 { return -g.draw(c) },
			"both sides":     g.two.l.draw,
		} {
			if d := distance(enumerate(m, draw), geometricPMF(b)); d < closeEnough {
				t.Errorf("scale %s, %s: not caught, distance %.3g", scale, bug, d)
			}
		}
	}
}

// TestGeometricDraws holds the drawn numbers, of real bits, against the definition: a chi-square
// over bins, wide scales included, that the enumeration does not reach.
func TestGeometricDraws(t *testing.T) {
	const n, bins = 200_000, 40
	for _, scale := range []string{"1/2", "3.7", "1000", "1e6", "1e12"} {
		g := newGeometric(t, scale)
		b, _ := rat(scale).Float64()
		w := math.Max(1, math.Floor(b/8))
		var count [bins + 1]int
		src := NewSource()
		for range n {
			k := g.Draw(src)
			if k < 0 {
				t.Fatalf("scale %s: drew %d", scale, k)
			}
			count[min(int(float64(k)/w), bins)]++
		}
		chi, free := 0.0, 0
		for i, c := range count {
			p := math.Exp(-float64(i) * w / b) // P(k >= i w)
			if i < bins {
				p *= -math.Expm1(-w / b)
			}
			if p*n < 1e-3 {
				if c > 5 {
					t.Errorf("scale %s: %d draws in a bin of probability %g", scale, c, p)
				}
				continue
			}
			chi += (float64(c) - p*n) * (float64(c) - p*n) / (p * n)
			free++
		}
		if chi > limit(free) {
			t.Errorf("scale %s: chi-square %.1f with %d bins, want at most %.1f", scale, chi, free, limit(free))
		}
	}
}

// The range is that of Laplace noise, and what is refused is named.
func TestGeometricRange(t *testing.T) {
	for _, c := range []struct {
		scale *big.Rat
		ok    bool
	}{
		{power2(-20), true}, {power2(40), true}, {power2(-21), false}, {power2(41), false},
		{new(big.Rat), false}, {rat("-1"), false}, {nil, false}, {rat("1e400"), false}, {rat("1e-400"), false},
	} {
		g, err := NewGeometric(c.scale)
		if (err == nil) != c.ok || (g != nil) != c.ok {
			t.Errorf("NewGeometric(%s): %v", short(c.scale), err)
		}
		if err != nil && (!errors.Is(err, ErrScale) || !strings.Contains(err.Error(), "2^40")) {
			t.Errorf("unclear: %v", err)
		}
	}
	r := rat("3/2")
	g, _ := NewGeometric(r)
	r.SetInt64(9)
	g.Scale().SetInt64(7)
	if g.Scale().Cmp(rat("3/2")) != 0 {
		t.Errorf("the scale became %v", g.Scale())
	}
}

func TestGeometricSaturates(t *testing.T) {
	g, _ := NewGeometric(power2(40))
	if k := g.draw(far{0}); k != math.MaxInt64 {
		t.Errorf("%d", k)
	}
}

func TestGeometricAllocates(t *testing.T) {
	g, src := newGeometric(t, "1000"), NewSource()
	if n := testing.AllocsPerRun(10000, func() { sink += g.Draw(src) }); n != 0 {
		t.Errorf("%v allocations per draw", n)
	}
}

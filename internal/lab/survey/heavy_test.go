package survey

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/entropy"
)

// findHeavy runs a survey in which value i of heavy is held by the i-th share of people, and
// all others hold something else each.
func findHeavy(t testing.TB, size uint64, epsilon string, n int, heavy []uint64, shares []float64) (*HeavyHitters, *HeavyCollector) {
	t.Helper()
	h := must(NewHeavyHitters(size, amount(epsilon)))
	c, src, others := NewHeavyCollector(h), seeded(11), seeded(12)
	for i := range n {
		value, at := noise.Uniform(others, size), float64(i)/float64(n)
		for j, s := range shares {
			if at < s {
				value = heavy[j]
				break
			}
			at -= s
		}
		r := must(h.Randomize(src, value))
		if err := c.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	return h, c
}

func TestHeavy(t *testing.T) {
	for _, c := range []struct {
		size   uint64
		levels int
		shares []float64
	}{
		{1_000_000, 1, []float64{0.2, 0.1, 0.05, 0.04}},
		{1 << 32, 2, []float64{0.2, 0.1, 0.06}},
		{1 << 62, 4, []float64{0.3, 0.2, 0.1}},
		{12, 1, []float64{0.5, 0.3}},
	} {
		const n = 200_000
		var heavy []uint64
		for i := range c.shares {
			heavy = append(heavy, (c.size/7)*uint64(i+1)+uint64(i))
		}
		h, collected := findHeavy(t, c.size, "1", n, heavy, c.shares)
		if h.Levels() != c.levels || collected.People() != n {
			t.Errorf("%d values: %d levels and %d people", c.size, h.Levels(), collected.People())
		}
		floor, err := h.Floor(n, 0.95)
		if err != nil || floor > c.shares[len(c.shares)-1] {
			t.Errorf("%d values: what is found is about %v, %v", c.size, floor, err)
		}
		found := must(collected.Find(0.95))
		if c.size > 100 && len(found) != len(heavy) {
			t.Errorf("%d values: found %v", c.size, found)
		}
		for i, v := range heavy {
			rest := (1 - sum(c.shares)) / float64(c.size)
			if i >= len(found) || found[i].Value != v || found[i].Low > c.shares[i]+rest || found[i].High < c.shares[i]+rest ||
				found[i].Low <= 0 {
				t.Errorf("%d values: %d is held by %v, found %v", c.size, v, c.shares[i], found)
				break
			}
		}
	}
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// TestHeavyNobody: what nobody holds is returned in few surveys.
func TestHeavyNobody(t *testing.T) {
	wrong, surveys := 0, 60
	c := must(reportCost(dp.One))
	h := newHeavy(1<<12, 2, c)
	src := seeded(13)
	for range surveys {
		k := NewHeavyCollector(h)
		for i := range 4000 {
			if err := k.Add(h.report(sourceRandomness{src}, uint64(i&1)*4000)); err != nil {
				t.Fatal(err)
			}
		}
		found := must(k.Find(0.8))
		held := 0
		for _, f := range found {
			if f.Value == 0 || f.Value == 4000 {
				held++
			}
		}
		if held != 2 {
			t.Errorf("found %v", found)
		}
		if len(found) > held {
			wrong++
		}
	}
	// With confidence 0.8 a tenth of the surveys may; 20 of 60 have a probability below 1e-5.
	if wrong >= 20 {
		t.Errorf("%d of %d surveys find what nobody holds", wrong, surveys)
	}
}

func TestHeavyMerge(t *testing.T) {
	h, a := findHeavy(t, 1<<10, "2", 3000, []uint64{77}, []float64{0.6})
	_, b := findHeavy(t, 1<<10, "2", 2000, []uint64{77}, []float64{0.6})
	if err := a.Merge(b); err != nil || a.People() != 5000 {
		t.Errorf("%d people, %v", a.People(), err)
	}
	if found, err := a.Find(0.95); err != nil || len(found) == 0 || found[0].Value != 77 {
		t.Errorf("%v, %v", found, err)
	}
	other := must(NewHeavyHitters(1<<11, h.Cost().Epsilon))
	if err := a.Merge(NewHeavyCollector(other)); !errors.Is(err, errMerge) {
		t.Error(err)
	}
}

func TestHeavyBadInput(t *testing.T) {
	for _, size := range []uint64{0, 1, 1<<62 + 1, math.MaxUint64} {
		if _, err := NewHeavyHitters(size, dp.One); !errors.Is(err, errDomain) {
			t.Errorf("%d values: %v", size, err)
		}
	}
	if _, err := NewHeavyHitters(10, 0); !errors.Is(err, errEpsilon) {
		t.Error(err)
	}
	h := must(NewHeavyHitters(1<<40, dp.One))
	s := stream(1)
	if _, err := h.Randomize(entropy.FromReader(s), 1<<40); !errors.Is(err, errValue) || s.read != 0 {
		t.Errorf("%v, and %d bytes were read", err, s.read)
	}
	c := NewHeavyCollector(h)
	for _, r := range []HeavyReport{{Level: 3}, {Row: 1 << 40}, {Answer: 2}, {Level: math.MaxUint64}} {
		if err := c.Add(r); !errors.Is(err, errReport) || c.People() != 0 {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := c.Find(0.95); !errors.Is(err, errNobody) {
		t.Error(err)
	}
	if _, err := c.Find(1); !errors.Is(err, errConfidence) {
		t.Error(err)
	}
}

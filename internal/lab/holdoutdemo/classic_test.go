package holdoutdemo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/detrand"
)

var full = flag.Bool("full", false, "run the classic experiment in its own size, 10,000 by 10,000")

// scaledClassic is the experiment at a size that takes seconds: a fifth of everything, and the same
// shares.
func scaledClassic(signal bool) Classic {
	c := NewClassic(signal)
	if !*full {
		c.Size, c.Attributes, c.Biased, c.Selected = 2000, 2000, c.Biased/5, Grid(100)
	}
	return c
}

// What the experiment is there to show: without a signal the plain holdout reports 0.62 and more
// where fresh data gives a half, and Thresholdout reports what fresh data gives.
func TestNoSignal(t *testing.T) {
	r := must(scaledClassic(false).Run(context.Background(), nil))
	p, q := r.Plain[len(r.Plain)-1], r.Threshold[len(r.Threshold)-1]
	t.Logf("%d selected: plain %.4f, fresh %.4f; Thresholdout %.4f, fresh %.4f; %v rounds, %v", p.Selected, p.Reported.Mean, p.Fresh.Mean,
		q.Reported.Mean, q.Fresh.Mean, r.Rounds, r.Cost)
	if p.Reported.Mean < 0.62 {
		t.Errorf("the plain holdout reports %.4f", p.Reported.Mean)
	}
	for name, fresh := range map[string]float64{"plain": p.Fresh.Mean, "Thresholdout": q.Fresh.Mean} {
		if math.Abs(fresh-0.5) > 0.01 {
			t.Errorf("%s: fresh data gives %.4f", name, fresh)
		}
	}
	if d := math.Abs(q.Reported.Mean - q.Fresh.Mean); d > 0.02 {
		t.Errorf("Thresholdout is %.4f from fresh data", d)
	}
	if q.Training.Mean < 0.65 {
		t.Errorf("the training data was not overfitted: %.4f", q.Training.Mean)
	}
}

// With a signal Thresholdout finds it, and says how much it is worth.
func TestSignal(t *testing.T) {
	c := scaledClassic(true)
	if !*full {
		c.Selected, c.Repetitions = []int{c.Biased, 100}, 2
	}
	r := must(c.Run(context.Background(), nil))
	last := len(r.Threshold) - 1
	for i, q := range r.Threshold {
		t.Logf("%d selected: %.4f, fresh %.4f; %.1f of %d; plain %.4f, fresh %.4f", q.Selected, q.Reported.Mean, q.Fresh.Mean, q.Found.Mean,
			c.Biased, r.Plain[i].Reported.Mean, r.Plain[i].Fresh.Mean)
		if q.Selected != c.Biased && i != last {
			continue
		}
		if d := math.Abs(q.Reported.Mean - q.Fresh.Mean); d > 0.02 {
			t.Errorf("with %d selected Thresholdout is %.4f from fresh data", q.Selected, d)
		}
		if q.Found.Mean < 0.85*float64(c.Biased) {
			t.Errorf("with %d selected it found %v of %d", q.Selected, q.Found.Mean, c.Biased)
		}
		if q.Selected == c.Biased && q.Fresh.Mean < 0.57 {
			t.Errorf("what it found is worth %.4f", q.Fresh.Mean)
		}
	}
	if d := r.Plain[last].Reported.Mean - r.Plain[last].Fresh.Mean; d < 0.08 {
		t.Errorf("the plain holdout is only %.4f from fresh data", d)
	}
}

// The same seed gives the same figures, on any number of cores; another seed gives others.
func TestRepeatable(t *testing.T) {
	c := NewClassic(true)
	c.Size, c.Attributes, c.Repetitions, c.Selected = 200, 100, 4, []int{1, 5, 20}
	steps := 0
	one, err := c.Run(context.Background(), func(done, of int) {
		if steps++; done > of {
			t.Errorf("%d of %d", done, of)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	two, err := c.Run(context.Background(), nil)
	if err != nil || !reflect.DeepEqual(one, two) || steps == 0 {
		t.Errorf("%v\n%+v\n%+v", err, one, two)
	}
	c.Seed++
	if two, err = c.Run(context.Background(), nil); err != nil || reflect.DeepEqual(one, two) {
		t.Errorf("another seed changes nothing: %v", err)
	}
}

// An attribute has mean 0 and variance 1, and is cut off at three; one that goes with the label is
// moved by what it says.
func TestLevels(t *testing.T) {
	for _, c := range []struct{ n, shift int }{{256, 0}, {256, 60}, {lectureLevelCount, 0}} {
		sum, square := 0.0, 0.0
		for _, v := range normalLevels(c.n, c.shift) {
			sum += float64(v) / float64(c.n)
			square += float64(v) * float64(v) / float64(c.n)
			if v < -latticeBound || v > latticeBound {
				t.Errorf("%d is out of bounds", v)
			}
		}
		if math.Abs(sum-float64(c.shift)) > 0.3 || math.Abs(math.Sqrt(square-sum*sum)-latticeUnit) > 5 {
			t.Errorf("%+v: mean %v, deviation %v", c, sum, math.Sqrt(square-sum*sum))
		}
	}
	// A column and the votes it gives are the same numbers.
	w := world{seed: 1, repetition: 2, size: 500, levels: attributeLevels(), moved: normalLevels(256, 60), biased: 1}
	buffer, total := make([]byte, 500), make([]int32, 500)
	for j := range 3 {
		want := w.columnSum(holdoutSample, j, buffer)
		clear(total)
		w.addVotes(holdoutSample, j, -1, buffer, total)
		got := int64(0)
		for _, v := range total {
			got -= int64(v)
		}
		if got != want || w.columnSum(freshSample, j, buffer) == want {
			t.Errorf("column %d is %d, and again %d", j, want, got)
		}
	}
}

func TestBadExperiments(t *testing.T) {
	for i, change := range []func(*Classic){
		func(c *Classic) { c.Size = 99 }, func(c *Classic) { c.Size = MaxSize + 1 }, func(c *Classic) { c.Attributes = 0 },
		func(c *Classic) {
			c.Repetitions = 0
		},
		func(c *Classic) { c.Biased = -1 }, func(c *Classic) { c.Bias = math.NaN() }, func(c *Classic) { c.Bias = 1e9 }, func(c *Classic) {
			c.Selected = nil
		},
		func(c *Classic) { c.Selected = []int{0} }, func(c *Classic) { c.Selected = []int{5, 3} }, func(c *Classic) {
			c.Selected = []int{c.Attributes + 1}
		},
	} {
		c := NewClassic(false)
		change(&c)
		if _, err := c.Run(context.Background(), nil); !errors.Is(err, ErrDemo) {
			t.Errorf("%d: %v", i, err)
		}
	}
	c := NewClassic(false)
	c.Noise = c.Noise.Neg(c.Noise)
	c.Size, c.Attributes, c.Selected = 100, 20, []int{1}
	if _, err := c.Run(context.Background(), nil); err == nil {
		t.Error("noise below 0 was taken")
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := NewClassic(false).Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("went on: %v", err)
	}
	if _, err := NewLecture().Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("went on: %v", err)
	}
	for i, l := range []Lecture{{10, 2, 1, 1, 1}, {1000, 1, 1, 1, 1}, {1000, 143, 1, 1, 1}, {1000, 10, 0, 1, 1}, {1000, 10, 1, 0, 1},
		{1000, 10, 1, 0.01, 1}, {1000, 10, 1, 7, 1}, {1000, 10, 1, math.NaN(), 1}} {
		if _, err := l.Run(context.Background(), nil); !errors.Is(err, ErrDemo) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// Chosen by exact means what is kept is far off; chosen by report noisy max it is not.
func TestLecture(t *testing.T) {
	r := must(NewLecture().Run(context.Background(), nil))
	exact, private := FigureOf(r.Exact), FigureOf(r.Private)
	t.Log(r.Subset, r.Subsets, r.Epsilon, exact, private)
	// sqrt((0.5/6)^2 - ln 2/2000) = 0.0812273; subsets of ln 1000 = 6.9.
	if r.Subset != 7 || r.Subsets != 142 || math.Abs(r.Epsilon.Float()-0.0812273) > 1e-6 {
		t.Errorf("%d subsets of %d, epsilon %v", r.Subsets, r.Subset, r.Epsilon)
	}
	// The largest of ten means of seven: 1.5388/sqrt 7 = 0.5816.
	if math.Abs(exact.Mean-0.58) > 0.01 {
		t.Errorf("exact means: %v", exact)
	}
	if math.Abs(private.Mean) > 0.03 {
		t.Errorf("report noisy max: %v", private)
	}
}

// The numbers of the lecture are dealt in the order in which they are drawn, and that is no order.
func TestStreamsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"training", "holdout", "fresh"} {
		for seed := range uint64(5) {
			p := make([]byte, 16)
			detrand.NewStream(fmt.Sprintf("holdout demo %d, %d, %s, ", seed, 0, name), 7).Read(p)
			if seen[string(p)] {
				t.Error("two columns are one")
			}
			seen[string(p)] = true
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

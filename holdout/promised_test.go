package holdout

import (
	"math"
	"testing"
)

// What is promised for declared numbers is what the plan says for them, and a little more for the
// lattice; numbers that make no sense promise nothing.
func TestPromised(t *testing.T) {
	for _, c := range []struct {
		size, threshold, noise, answers, want float64
	}{
		{100_000, 0.04, 0.001, 10, 0.1153},
		{10_000, 0.04, 0.01, 200, 1.318},
		{1_000, 0.04, 0.01, 200, 4.834},
		{1_000_000, 0, 0.0005, 5, 0.01715},
	} {
		got := Promised(c.size, c.threshold, c.noise, c.answers, 0.05)
		if math.Abs(got/c.want-1) > 0.001 {
			t.Errorf("%+v: %v", c, got)
		}
		if c.threshold == 0 {
			continue
		}
		ways, err := Promises(Wish{
			Size: c.size, Queries: 1e6, Answers: c.answers, Tolerance: 0.05, Beta: 0.05, Noise: c.noise, Threshold: c.threshold,
		})
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		for _, w := range ways {
			if w.Name == ThresholdWay {
				least = math.Min(least, w.Tolerance)
			}
		}
		if math.Abs(got-least-4/c.size) > 1e-9 {
			t.Errorf("%+v: %v, and the plan says %v", c, got, least)
		}
	}
	for _, wrong := range [][5]float64{
		{0, 0.04, 0.01, 5, 0.05}, {1000, 0.04, 0, 5, 0.05}, {1000, 2, 0.01, 5, 0.05}, {1000, 0.04, 0.01, 0, 0.05}, {1000, 0.04, 0.01, 5, 0},
		{math.NaN(), 0.04, 0.01, 5, 0.05},
	} {
		if got := Promised(wrong[0], wrong[1], wrong[2], wrong[3], wrong[4]); !Vacuous(got) {
			t.Errorf("%v: %v", wrong, got)
		}
	}
}

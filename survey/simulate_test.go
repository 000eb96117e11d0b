package survey

import (
	"context"
	"errors"
	"math"
	"testing"
)

func TestSimulate(t *testing.T) {
	people := holders(20_000, 3, 1, 0)
	for _, name := range names {
		o := oracle(t, name, 3, "2")
		last := 0
		c, err := Simulate(context.Background(), o, people, func(asked int) { last = max(last, asked) })
		if err != nil {
			t.Fatal(err)
		}
		if c.People() != 20_000 || last != 20_000 {
			t.Errorf("%s: %d people, told of %d", name, c.People(), last)
		}
		for x, want := range []float64{0.75, 0.25, 0} {
			if got, sd := proportions(c)[x], math.Sqrt(o.Variance(want, 20_000, Fixed)); math.Abs(got-want) > 7*sd {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		if c, err := Simulate(context.Background(), o, nil, nil); err != nil || c.People() != 0 {
			t.Errorf("%s: %v, %v", name, c, err)
		}
		if c, err := Simulate(context.Background(), o, []int{0, 3}, nil); !errors.Is(err, ErrValue) || c != nil {
			t.Errorf("%s: %v, %v", name, c, err)
		}
		stopped, stop := context.WithCancel(context.Background())
		stop()
		if c, err := Simulate(stopped, o, people, nil); !errors.Is(err, context.Canceled) || c != nil {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
}

package stat

import (
	"context"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/noise"
)

// Counts says how often each outcome came.
type Counts map[int64]int

// Total is the number of outcomes.
func (c Counts) Total() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// Plus returns the sum of two.
func (c Counts) Plus(d Counts) Counts {
	out := make(Counts, len(c))
	for _, m := range []Counts{c, d} {
		for k, n := range m {
			out[k] += n
		}
	}
	return out
}

// Samples are outcomes on one input. One half chooses an event: a quarter puts the
// outcomes in order, and another says how many to take, so that an outcome is not taken
// for the same accident that put it first. The other half bounds the event.
type Samples struct{ Order, Choose, Test Counts }

// All returns all outcomes.
func (s Samples) All() Counts { return s.Order.Plus(s.Choose).Plus(s.Test) }

// samplesPerSource is how many outcomes are drawn from one source. It does not depend on the
// machine, so that the same sources give the same outcomes on any number of cores.
const samplesPerSource = 1 << 14

// Draw runs a mechanism n times, in parallel. Part i draws from source(i), and open
// prepares the mechanism for it. Of four parts one orders, one chooses and two test.
func Draw(ctx context.Context, n int, source func(part int) *noise.Source, open func(*noise.Source) func() int64) (Samples, error) {
	size := min(samplesPerSource, (n+3)/4)
	parts := 0
	if size > 0 {
		parts = (n + size - 1) / size
	}
	s := Samples{Counts{}, Counts{}, Counts{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), parts) {
		wg.Go(func() {
			of := [4]Counts{{}, {}, {}, {}}
			for i := range next {
				once := open(source(i))
				for range min(size, n-i*size) {
					of[i%4][once()]++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			s.Order, s.Choose, s.Test = s.Order.Plus(of[0]), s.Choose.Plus(of[2]), s.Test.Plus(of[1]).Plus(of[3])
		})
	}
	for i := range parts {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return s, ctx.Err()
}

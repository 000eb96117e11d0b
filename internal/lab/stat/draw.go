package stat

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/dp/noise"
)

// Counts says how often each outcome came.
type Counts map[int64]int

func (c Counts) Total() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

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

// Law is a distribution on numbered outcomes. Rest bounds the probability of all that
// are not listed.
type Law interface {
	Outcomes() []int64
	P(outcome int64) float64
	Rest() float64
}

// Fit compares outcomes to the law that they should have, and returns what is wrong. A
// law that is right is refused with probability at most beta.
//
// Half of beta is for the distribution function, which is nowhere further from the
// counts than sqrt(ln(2/b)/(2n)) except with probability b (Massart 1990). The other
// half is shared by the listed outcomes, each on both sides, and by all others together:
// that is where an outcome shows that cannot be.
func Fit(c Counts, l Law, beta float64) error {
	n := c.Total()
	outcomes := l.Outcomes()
	each := beta / 2 / float64(2*len(outcomes)+1)
	margin := math.Sqrt(math.Log(4/beta) / (2 * float64(n)))
	other := n
	for _, k := range outcomes {
		other -= c[k]
	}
	if isTooMany(other, n, l.Rest(), each) {
		return fmt.Errorf("%d of %d outcomes are not in the support", other, n)
	}
	seen, sum := 0.0, 0.0
	for _, k := range outcomes {
		p := l.P(k)
		// The law is rounded, and may be wrong by a rest.
		least, most := p*(1-1e-9), p*(1+1e-9)+l.Rest()
		if at := c[k]; isTooMany(at, n, most, each) || isTooMany(n-at, n, 1-least, each) {
			return fmt.Errorf("outcome %d occurred %d times out of %d; its probability is %.6g", k, at, n, p)
		}
		seen += float64(c[k]) / float64(n)
		sum += p
		if math.Abs(seen-sum) > margin+l.Rest()+1e-9 {
			return fmt.Errorf("outcomes up to %d occurred with frequency %.6f; the probability is %.6f", k, seen, sum)
		}
	}
	return nil
}

// isTooMany reports whether k or more out of n have a probability below beta.
func isTooMany(k, n int, p, beta float64) bool {
	if p >= 1 || float64(k) <= float64(n)*p {
		return false
	}
	return binomialTail(k, n, p) < beta*(1-tailSlack)
}

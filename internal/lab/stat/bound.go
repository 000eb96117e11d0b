package stat

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Bound is a lower bound on the privacy loss.
type Bound struct {
	Lower  float64
	Detail string // the event and how often it happened
}

// Epsilon bounds epsilon from below, at a delta, except with probability beta.
// Ordered says that outcomes are numbers, whose half lines are worth a try.
func Epsilon(x, y Samples, ordered bool, delta, beta float64) Bound {
	return boundLoss(x, y, ordered, beta, func(p, q float64) float64 {
		if p <= delta {
			return math.Inf(-1)
		}
		return math.Log((p - delta) / q)
	})
}

// Mu bounds the mu of Gaussian noise from below, except with probability beta: a
// trade-off of p against q is not possible for a smaller one.
func Mu(x, y Samples, beta float64) Bound {
	return boundLoss(x, y, true, beta, func(p, q float64) float64 {
		if !(p > 0 && q < 1) {
			return math.Inf(-1)
		}
		// Quantile is that of the upper tail, so Phi^-1(p) is -Quantile(p).
		return numeric.Quantile(q) - numeric.Quantile(p)
	})
}

func boundLoss(x, y Samples, ordered bool, beta float64, m measure) Bound {
	e := chooseEvent(x, y, ordered, m)
	a, b := x.Test, y.Test
	sides := [2]string{"first", "second"}
	if e.Swapped {
		a, b = b, a
		sides = [2]string{"second", "first"}
	}
	ka, na, kb, nb := e.count(a), a.Total(), e.count(b), b.Total()
	if na == 0 || nb == 0 {
		return Bound{Detail: "too few samples"}
	}
	// Two bounds, each wrong with probability beta/2 at most.
	lower := m(LowerBound(ka, na, beta/2), UpperBound(kb, nb, beta/2))
	return Bound{math.Max(0, lower), fmt.Sprintf("%v: %d of %d on the %s, %d of %d on the %s", e, ka, na, sides[0], kb, nb, sides[1])}
}

// Event is a set of outcomes that one input makes more likely than the other.
type Event struct {
	in      map[int64]bool
	from    int64
	to      int64
	Swapped bool // it is more likely on the second input
	text    string
}

// Has reports whether an outcome is in it.
func (e Event) Has(outcome int64) bool {
	if e.in != nil {
		return e.in[outcome]
	}
	return e.from <= outcome && outcome <= e.to
}

func (e Event) String() string { return e.text }

func (e Event) count(c Counts) int {
	n := 0
	for k, v := range c {
		if e.Has(k) {
			n += v
		}
	}
	return n
}

// measure turns bounds on the probabilities of an event into a lower bound on the loss.
type measure func(p, q float64) float64

// chooseEvent returns the event that promises the most, among all half lines, for outcomes
// that are ordered, and the outcomes of the largest ratios, one, two and so on. The
// latter are what the lemma of Neyman and Pearson says to take.
func chooseEvent(first, second Samples, ordered bool, m measure) Event {
	x, y := first.Choose, second.Choose
	nx, ny := x.Total(), y.Total()
	if nx == 0 || ny == 0 {
		return Event{text: "nothing"}
	}
	all := slices.Collect(maps.Keys(first.Order.Plus(second.Order).Plus(x).Plus(y)))
	slices.Sort(all)
	var found Event
	most := math.Inf(-1)
	try := func(kx, ky int, swapped bool, event func() Event) {
		if promise := m(wilsonEnd(kx, nx, -1), wilsonEnd(ky, ny, 1)); promise > most {
			most, found = promise, event()
			found.Swapped = swapped
		}
	}
	for _, swapped := range []bool{false, true} {
		a, b, oa, ob := x, y, first.Order, second.Order
		if swapped {
			a, b, oa, ob, nx, ny = y, x, ob, oa, ny, nx
		}
		if ordered {
			ka, kb := 0, 0
			for _, t := range all {
				try(nx-ka, ny-kb, swapped, func() Event {
					return Event{from: t, to: math.MaxInt64, text: fmt.Sprintf("outcome >= %d", t)}
				})
				ka, kb = ka+a[t], kb+b[t]
				try(ka, kb, swapped, func() Event {
					return Event{from: math.MinInt64, to: t, text: fmt.Sprintf("outcome <= %d", t)}
				})
			}
		}
		// An outcome that was seen once or twice says little about its ratio, and comes
		// behind one of the same ratio that was seen often.
		ratio := func(k int64) float64 { return (float64(oa[k]) + 2) / (float64(ob[k]) + 2) }
		by := slices.Clone(all)
		slices.SortStableFunc(by, func(i, j int64) int { return cmp.Compare(ratio(j), ratio(i)) })
		ka, kb := 0, 0
		for i, k := range by {
			ka, kb = ka+a[k], kb+b[k]
			try(ka, kb, swapped, func() Event {
				in := make(map[int64]bool, i+1)
				for _, o := range by[:i+1] {
					in[o] = true
				}
				text := fmt.Sprintf("one of %d outcomes", i+1)
				if i == 0 {
					text = fmt.Sprintf("outcome %d", by[0])
				}
				return Event{in: in, text: text}
			})
		}
	}
	return found
}

// wilsonEnd is an end of Wilson's interval at five deviations. It ranks events and proves
// nothing, so an approximation serves.
func wilsonEnd(k, n int, side float64) float64 {
	const z = 5.0
	f, m := float64(k), float64(n)
	return (f + z*z/2 + side*z*math.Sqrt(f*(1-f/m)+z*z/4)) / (m + z*z)
}

// tailSlack is what the tail of a binomial may be wrong by, relative to itself: the
// logarithms of factorials are within 2^-50 of themselves, and below 3e10 for a billion
// samples, the most that are drawn.
const tailSlack = 1e-4

// LowerBound returns a p such that k successes or more out of n have a probability of at most beta
// for all success probabilities below p (Clopper, Pearson 1934). It is rounded down.
func LowerBound(k, n int, beta float64) float64 {
	if k == 0 {
		return 0
	}
	low, _ := numeric.Bisect(0, float64(k)/float64(n), 60, func(p float64) bool { return binomialTail(k, n, p) <= beta*(1-tailSlack) })
	return low
}

// UpperBound is LowerBound for the failures.
func UpperBound(k, n int, beta float64) float64 { return 1 - LowerBound(n-k, n, beta) }

// binomialTail is P(X >= k) for p <= k/n. From k on each term is smaller than the one before, by
// a factor that falls too, so the sum ends where a term no longer counts.
func binomialTail(k, n int, p float64) float64 {
	if p <= 0 {
		return 0
	}
	odds := p / (1 - p)
	sum, term := 1.0, 1.0
	for i := k; i < n; i++ {
		term *= float64(n-i) / float64(i+1) * odds
		sum += term
		if term < 1e-12*sum*(1-float64(n-i)/float64(i+1)*odds) {
			break
		}
	}
	return sum * math.Exp(logChoose(n, k)+float64(k)*math.Log(p)+float64(n-k)*math.Log1p(-p))
}

func logChoose(n, k int) float64 { return logFactorial(n) - logFactorial(k) - logFactorial(n-k) }

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

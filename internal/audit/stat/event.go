package stat

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

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

// count returns how often the event happened.
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

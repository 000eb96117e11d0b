package stat

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/normal"
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
		return normal.Quantile(q) - normal.Quantile(p)
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

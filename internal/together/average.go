package together

import (
	"errors"
	"math/big"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/mech"
)

var errAverage = errors.New("an average has parts that do not belong together")

// meanPart is the part of a server in an average, read.
type meanPart struct {
	api.Part
	center, low, high *big.Rat
}

func readMeanPart(p api.Part) (m meanPart, err error) {
	m.Part = p
	for _, f := range []struct {
		to   **big.Rat
		text string
	}{{&m.center, p.Center}, {&m.low, p.Low}, {&m.high, p.High}} {
		if *f.to, err = readFraction(f.text); err != nil {
			return m, err
		}
	}
	if (p.Count == nil) == (p.Below == nil) || m.low.Cmp(m.high) > 0 ||
		p.Below != nil && (m.low.Cmp(m.high) == 0 || m.center.Cmp(m.low) != 0) {
		return m, errAverage
	}
	return m, nil
}

// average is the mean of the values at all servers, and its half width.
func average(parts []api.Part, beta float64, h halfWidths) (estimate float64, half *float64, err error) {
	var all []meanPart
	twins := true
	for _, p := range parts {
		m, err := readMeanPart(p)
		if err != nil {
			return 0, nil, err
		}
		all = append(all, m)
		twins = twins && p.Below != nil && m.low.Cmp(all[0].low) == 0 && m.high.Cmp(all[0].high) == 0
	}
	if twins {
		return meanOfTwins(all, beta, h)
	}
	low, high, alike := all[0].low, all[0].high, true
	for _, m := range all[1:] {
		alike = alike && m.center.Cmp(all[0].center) == 0
		if m.low.Cmp(low) < 0 {
			low = m.low
		}
		if m.high.Cmp(high) > 0 {
			high = m.high
		}
	}
	center := new(big.Rat).Add(low, high)
	center.Quo(center, big.NewRat(2, 1))
	if alike {
		center = all[0].center
	}
	sum, count := newTotal(), newTotal()
	for _, m := range all {
		if err := m.addTo(sum, count, center); err != nil {
			return 0, nil, err
		}
	}
	above, below, err := h.pair(sum, count, beta)
	if err != nil || above.Half == nil || below.Half == nil {
		return 0, nil, errors.Join(err, errUnboundedNoise)
	}
	estimate, width := mech.RatioAround(above, below, new(big.Rat).Sub(low, center), new(big.Rat).Sub(high, center))
	moved, wider := addCenter(estimate, center)
	width += wider
	return moved, &width, nil
}

var errUnboundedNoise = errors.New("the noise of an average is beyond what can be computed")

// addCenter adds the center to an estimate that was taken around it, and says how much rounding that
// has cost.
func addCenter(estimate float64, center *big.Rat) (moved, off float64) {
	exact := new(big.Rat).SetFloat64(estimate)
	exact.Add(exact, center)
	moved, _ = exact.Float64()
	exact.Sub(exact, new(big.Rat).SetFloat64(moved))
	return moved, roundUp(exact.Abs(exact))
}

// addTo adds the sum of a server's distances from a center, and how many values it has, to the
// totals of all. Both are sums of what the server has released, times factors: with d the distance
// from its own center c, the sum of x - center is that of d plus (c - center) times the count; and
// with a and b the distances from the two ends of a width w, the count is (a + b)/w.
func (m meanPart) addTo(sum, count *total, center *big.Rat) error {
	one := big.NewRat(1, 1)
	move := new(big.Rat).Sub(m.center, center)
	if m.Below == nil {
		return errors.Join(sum.add(*m.Sum, one), sum.add(*m.Count, move), count.add(*m.Count, one))
	}
	width := new(big.Rat).Sub(m.high, m.low)
	each := new(big.Rat).Inv(width)
	fromLow := new(big.Rat).Add(one, new(big.Rat).Mul(move, each))
	fromHigh := new(big.Rat).Mul(move, each)
	return errors.Join(sum.add(*m.Sum, fromLow), sum.add(*m.Below, fromHigh), count.add(*m.Sum, each), count.add(*m.Below, each))
}

// meanOfTwins is the average where every server has the distances from both ends, and the same
// ends.
func meanOfTwins(all []meanPart, beta float64, h halfWidths) (estimate float64, half *float64, err error) {
	above, below := newTotal(), newTotal()
	for _, m := range all {
		if err := errors.Join(above.add(*m.Sum, big.NewRat(1, 1)), below.add(*m.Below, big.NewRat(1, 1))); err != nil {
			return 0, nil, err
		}
	}
	a, b, err := h.pair(above, below, beta)
	if err != nil || a.Half == nil || b.Half == nil {
		return 0, nil, errors.Join(err, errUnboundedNoise)
	}
	estimate, width := mech.PartAround(a, b, new(big.Rat).Sub(all[0].high, all[0].low))
	moved, wider := addCenter(estimate, all[0].low)
	width += wider
	return moved, &width, nil
}

// pair are two totals with their half widths, each of which may fail with half of beta.
func (h halfWidths) pair(x, y *total, beta float64) (a, b mech.Around, err error) {
	one, err := h.of(x, beta/2)
	if err != nil {
		return a, b, err
	}
	other, err := h.of(y, beta/2)
	return mech.Around{Value: x.value, Half: one}, mech.Around{Value: y.value, Half: other}, err
}

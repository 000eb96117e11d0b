package federate

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
)

// total is a sum of noisy numbers, each times a factor: its value, and what is known of its error.
type total struct {
	value *big.Rat
	terms []term
	off   *big.Rat // by how much more it may be off than its noises say
}

// term is a noise that is in a total, in units of the answer.
type term struct {
	noise  api.Noises
	weight *big.Rat // above 0
}

func newTotal() *total { return &total{value: new(big.Rat), off: new(big.Rat)} }

// most is how many different noises one number may have, and noises how many there may be.
const (
	maxTerms  = 64
	maxNoises = 1 << 24
)

var errNumber = errors.New("a number has an impossible noise")

// add adds a noisy number times a factor.
func (t *total) add(n api.NoisyNumber, factor *big.Rat) error {
	step, err := readFraction(n.Step)
	if err != nil || step.Sign() <= 0 || n.Off < 0 || len(n.Noise) > maxTerms {
		return errNumber
	}
	weight := new(big.Rat).Mul(step, factor)
	t.value.Add(t.value, new(big.Rat).Mul(weight, new(big.Rat).SetInt64(n.Value)))
	// Noise is symmetric, so the sign of a factor does not matter.
	if weight.Abs(weight).Sign() == 0 {
		return nil
	}
	t.off.Add(t.off, new(big.Rat).Mul(weight, new(big.Rat).SetInt64(n.Off)))
	for _, noise := range n.Noise {
		if noise.Count < 1 || noise.Count > maxNoises {
			return errNumber
		}
		if _, err := mechanism(noise); err != nil {
			return err
		}
		t.put(noise, weight)
	}
	return nil
}

// put adds noises, to those that are of the same law: many noises of one weight have a sharper
// bound than of many.
func (t *total) put(n api.Noises, weight *big.Rat) {
	for i, at := range t.terms {
		if at.noise.Mechanism == n.Mechanism && at.noise.Parameter == n.Parameter && at.weight.Cmp(weight) == 0 {
			t.terms[i].noise.Count += n.Count
			return
		}
	}
	t.terms = append(t.terms, term{n, weight})
}

func mechanism(n api.Noises) (mech.Mechanism, error) {
	parameter, err := readFraction(n.Parameter)
	if err != nil {
		return nil, err
	}
	m, err := mech.NewDescribedNoise(n.Mechanism, parameter)
	if err != nil {
		return nil, errNumber // in words that say nothing about budgets, which are the server's
	}
	return m, nil
}

// finest is how many units the smallest weight has, and largest the most that any has, where
// weights have no common unit that is large enough. Weights are rounded up then: noise that is
// multiplied by more reaches further.
const (
	minWeightUnits = 1 << 12
	maxWeightUnits = 1 << 24
)

// halfWidths computes half widths, and remembers them: rows of an answer have the same noise.
type halfWidths map[string]*big.Rat

// of is a half width that the total is within, but with probability beta; nil where it is beyond
// what can be computed.
func (h halfWidths) of(t *total, beta float64) (*big.Rat, error) {
	if len(t.terms) == 0 {
		return t.off, nil
	}
	key := fmt.Sprint(beta, " ", t.off.RatString())
	weights := make([]*big.Rat, len(t.terms))
	for i, x := range t.terms {
		weights[i] = x.weight
		key += fmt.Sprint(" ", x.noise, x.weight.RatString())
	}
	if half, ok := h[key]; ok {
		return half, nil
	}
	unit := greatestCommonFraction(weights)
	most := slices.MaxFunc(weights, (*big.Rat).Cmp)
	if new(big.Rat).Quo(most, unit).Cmp(big.NewRat(maxWeightUnits, 1)) > 0 {
		least := slices.MinFunc(weights, (*big.Rat).Cmp)
		unit = new(big.Rat).Quo(least, big.NewRat(minWeightUnits, 1))
		if coarse := new(big.Rat).Quo(most, big.NewRat(maxWeightUnits, 1)); coarse.Cmp(unit) > 0 {
			unit = coarse
		}
	}
	terms := make([]mech.Term, len(t.terms))
	for i, x := range t.terms {
		m, err := mechanism(x.noise)
		if err != nil {
			return nil, err
		}
		terms[i] = mech.Term{Mechanism: m, Count: x.noise.Count, Weight: ceilRat(new(big.Rat).Quo(x.weight, unit))}
	}
	steps, err := mech.HalfWidthOfSum(beta, terms...)
	if err != nil {
		return nil, err
	}
	var half *big.Rat
	if steps < math.MaxInt64 {
		half = new(big.Rat).Mul(unit, new(big.Rat).SetInt64(steps))
		half.Add(half, t.off)
	}
	h[key] = half
	return half, nil
}

// ceilRat is the least whole number that is not below r, which is small.
func ceilRat(r *big.Rat) int64 {
	n := new(big.Int).Add(r.Num(), new(big.Int).Sub(r.Denom(), big.NewInt(1)))
	return n.Quo(n, r.Denom()).Int64()
}

var errAverage = errors.New("the parts of an average do not fit together")

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
	if len(all) == 1 {
		if estimate, half, known, err := all[0].single(beta); known || err != nil {
			return estimate, half, err
		}
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
	estimate, width := mech.RatioOfIntervals(above, below, new(big.Rat).Sub(low, center), new(big.Rat).Sub(high, center))
	moved, wider := addCenter(estimate, center)
	width += wider
	return moved, &width, nil
}

var errUnboundedNoise = errors.New("the noise of an average is too large to compute")

// addCenter adds the center to an estimate that was taken around it, and says how much rounding
// that has cost.
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
	estimate, width := mech.PartOfIntervals(a, b, new(big.Rat).Sub(all[0].high, all[0].low))
	moved, wider := addCenter(estimate, all[0].low)
	width += wider
	return moved, &width, nil
}

// pair are two totals with their half widths, each of which may fail with half of beta.
func (h halfWidths) pair(x, y *total, beta float64) (a, b mech.Interval, err error) {
	one, err := h.of(x, beta/2)
	if err != nil {
		return a, b, err
	}
	other, err := h.of(y, beta/2)
	return mech.Interval{Value: x.value, Half: one}, mech.Interval{Value: y.value, Half: other}, err
}

var errFraction = errors.New("this is not a fraction such as 1/100")

// readFraction reads a fraction of whole numbers, as servers write them. It takes no exponents,
// which could be numbers larger than the memory.
func readFraction(text string) (*big.Rat, error) {
	above, below, divided := strings.Cut(text, "/")
	if len(text) > 400 || !allDigits(strings.TrimPrefix(above, "-")) || divided && !allDigits(below) {
		return nil, errFraction
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || r.Sign() != 0 && (bitSize(r) > maxFractionBits || bitSize(r) < -maxFractionBits) { // it divides by zero, or is out of reach
		return nil, errFraction
	}
	return r, nil
}

// maxFractionBits is how large a fraction may be, and its reciprocal, in bits: products of three
// and an int64 are still real numbers.
const maxFractionBits = 250

func bitSize(r *big.Rat) int { return r.Num().BitLen() - r.Denom().BitLen() }

func allDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// roundUp returns a float64 that is not below r.
func roundUp(r *big.Rat) float64 {
	f, exact := r.Float64()
	if back := new(big.Rat).SetFloat64(f); !exact && back != nil && back.Cmp(r) < 0 {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// greatestCommonFraction is the largest fraction that all are whole multiples of; all are above 0.
func greatestCommonFraction(all []*big.Rat) *big.Rat {
	out := new(big.Rat).Set(all[0])
	for _, r := range all[1:] {
		// gcd(a/b, c/d) is gcd(a d, c b)/(b d).
		x, y := new(big.Int).Mul(out.Num(), r.Denom()), new(big.Int).Mul(r.Num(), out.Denom())
		out.SetFrac(new(big.Int).GCD(nil, nil, x, y), new(big.Int).Mul(out.Denom(), r.Denom()))
	}
	return out
}

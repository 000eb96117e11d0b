package survey

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// mostValues is the largest domain that is counted value by value.
const mostValues = 1 << 24

// Direct sends a value: the own one with probability E/(E+k-1), or else one of the
// k-1 others, each with probability 1/(E+k-1).
type Direct struct {
	plan
	lie *coin
}

// NewDirect returns direct encoding of a domain, also known as k-ary randomized
// response and GRR (Kairouz, Bonawitz, Ramage 2016).
func NewDirect(size int, epsilon dp.Amount) (*Direct, error) {
	c, err := cost(epsilon)
	if err != nil {
		return nil, err
	}
	if err := checkDomain(size, mostValues); err != nil {
		return nil, err
	}
	return &Direct{plan{size, c, directRates(size, epsilon)}, newCoin(uint64(size-1), epsilon)}, nil
}

func directRates(size int, epsilon dp.Amount) rates {
	more := math.Expm1(epsilon.Float()) // E - 1
	total := more + float64(size)
	return rates{p: (more + 1) / total, q: 1 / total, gap: more / total}
}

// Name returns "direct".
func (*Direct) Name() string { return "direct" }

// Bits returns the length of a number below k.
func (d *Direct) Bits() int { return bits.Len(uint(d.size - 1)) }

// Randomize makes the report of a person who holds a value.
func (d *Direct) Randomize(src *noise.Source, value int) (Report, error) {
	if err := checkValue(value, d.size); err != nil {
		return Report{}, err
	}
	return d.report(dice{src}, value), nil
}

func (d *Direct) report(c randomness, value int) Report {
	return Report{Answer: turn(c, d.lie, uint64(value), uint64(d.size))}
}

// turn returns the value of k, or one of the others where the coin says to lie. The lie is
// drawn also where it is not told.
func turn(c randomness, lie *coin, value, k uint64) uint64 {
	lies, by := c.flip(lie), 1+c.below(k-1)
	if !lies {
		by = 0
	}
	if value += by; value >= k {
		value -= k
	}
	return value
}

func (d *Direct) check(r Report) error {
	if r.Answer >= uint64(d.size) {
		return fmt.Errorf("%w: its value is outside of the domain", ErrReport)
	}
	return nil
}

func (d *Direct) room() int { return d.size }

func (d *Direct) add(sums []int64, r Report) { sums[r.Answer]++ }

func (d *Direct) counts(sums []int64, _ int64) []int64 { return sums }

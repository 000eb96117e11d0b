package survey

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// mostBits keeps the reports of oue below 8 kB.
const mostBits = 1 << 16

// Unary is optimized unary encoding, oue: a bit for each value. That of the person's
// value is 1 with probability 1/2, and each other one with probability 1/(E+1),
// independently.
//
// Two values v and w differ in two bits. The ratio of the probabilities of a report
// is the largest where it has v's bit and not w's,
//
//	(1/2) (E/(E+1)) / ((1/(E+1)) (1/2)) = E,
//
// and the choice of 1/2 has the smallest variance of all pairs with this ratio, where
// few hold a value (Wang, Blocki, Li, Jha 2017).
type Unary struct {
	plan
	other *coin
}

// NewUnary returns optimized unary encoding of a domain.
func NewUnary(size int, epsilon dp.Amount) (*Unary, error) {
	c, err := cost(epsilon)
	if err != nil {
		return nil, err
	}
	if err := checkDomain(size, mostBits); err != nil {
		return nil, err
	}
	return &Unary{plan{size, c, unaryRates(epsilon)}, newCoin(1, epsilon)}, nil
}

func unaryRates(epsilon dp.Amount) rates {
	more := math.Expm1(epsilon.Float())
	return rates{p: 0.5, q: 1 / (more + 2), gap: more / (2 * (more + 2))}
}

// Name returns "oue".
func (*Unary) Name() string { return "oue" }

// Bits returns k.
func (u *Unary) Bits() int { return u.size }

// Randomize makes the report of a person who holds a value.
func (u *Unary) Randomize(src *noise.Source, value int) (Report, error) {
	if err := checkValue(value, u.size); err != nil {
		return Report{}, err
	}
	return u.report(dice{src}, value), nil
}

func (u *Unary) report(c randomness, value int) Report {
	words := make([]uint64, (u.size+63)/64)
	own := c.below(2)
	for i := range u.size {
		if c.flip(u.other) {
			words[i/64] |= 1 << (i % 64)
		}
	}
	// Each bit has been drawn as if it were of a value that is not held, and one is
	// drawn over: the draws are the same, whatever the value is.
	words[value/64] = words[value/64]&^(1<<(value%64)) | own<<(value%64)
	return Report{Bits: words}
}

func (u *Unary) check(r Report) error {
	if len(r.Bits) != (u.size+63)/64 || u.size%64 != 0 && r.Bits[len(r.Bits)-1]>>(u.size%64) != 0 {
		return fmt.Errorf("%w: it has not %d bits", ErrReport, u.size)
	}
	return nil
}

func (u *Unary) room() int { return u.size }

func (u *Unary) add(sums []int64, r Report) {
	for i, w := range r.Bits {
		for ; w != 0; w &= w - 1 {
			sums[64*i+bits.TrailingZeros64(w)]++
		}
	}
}

func (u *Unary) counts(sums []int64, _ int64) []int64 { return sums }

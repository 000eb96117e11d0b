package survey

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// Hadamard is Hadamard response with one bit: a row of the Hadamard matrix is drawn,
// and the sign that the person's value has in it is sent, turned with probability
// 1/(E+1).
//
// The sign of value x in row j is the parity of j AND x, for K a power of two that is
// k or more. Where x and y differ, the parities of j AND x and of j AND y differ for
// exactly half of the rows j: x XOR y is not zero. So q is 1/2, exactly. All counts
// come from one fast transform of K log K steps, which makes this the oracle of large
// domains. The price is that a bit says less than a bucket out of g where epsilon is
// large.
type Hadamard struct {
	plan
	rows uint64 // K
	lie  *coin
}

// NewHadamard returns Hadamard response for a domain.
func NewHadamard(size int, epsilon dp.Amount) (*Hadamard, error) {
	c, err := cost(epsilon)
	if err != nil {
		return nil, err
	}
	if err := checkDomain(size, mostValues); err != nil {
		return nil, err
	}
	return &Hadamard{plan{size, c, hadamardRates(epsilon)}, 1 << bits.Len(uint(size-1)), newCoin(1, epsilon)}, nil
}

func hadamardRates(epsilon dp.Amount) rates {
	more := math.Expm1(epsilon.Float())
	return rates{p: (more + 1) / (more + 2), q: 0.5, gap: more / (2 * (more + 2))}
}

// Name returns "hadamard".
func (*Hadamard) Name() string { return "hadamard" }

// Bits returns the length of a row's number, and one for the sign.
func (h *Hadamard) Bits() int { return bits.Len64(h.rows-1) + 1 }

// Randomize makes the report of a person who holds a value.
func (h *Hadamard) Randomize(src *noise.Source, value int) (Report, error) {
	if err := checkValue(value, h.size); err != nil {
		return Report{}, err
	}
	return h.report(dice{src}, value), nil
}

func (h *Hadamard) report(c randomness, value int) Report {
	row := c.below(h.rows)
	return Report{Row: row, Answer: turn(c, h.lie, parity(row&uint64(value)), 2)}
}

func parity(x uint64) uint64 { return uint64(bits.OnesCount64(x)) & 1 }

func (h *Hadamard) check(r Report) error {
	if r.Row >= h.rows || r.Answer > 1 {
		return fmt.Errorf("%w: there is no such row or sign", ErrReport)
	}
	return nil
}

func (h *Hadamard) room() int { return int(h.rows) }

func (h *Hadamard) add(sums []int64, r Report) { sums[r.Row] += 1 - 2*int64(r.Answer) }

// counts transforms the sums of signs of the rows: the reports that agree with x less those
// that do not are the sum over the rows, each with its sign of x.
func (h *Hadamard) counts(sums []int64, n int64) []int64 {
	transform(sums)
	for x, s := range sums[:h.size] {
		sums[x] = (n + s) / 2
	}
	return sums[:h.size]
}

// transform is the fast Walsh-Hadamard transform, in place.
func transform(a []int64) {
	for h := 1; h < len(a); h *= 2 {
		for i := 0; i < len(a); i += 2 * h {
			x, y := a[i:i+h], a[i+h:i+2*h]
			for j := range x {
				x[j], y[j] = x[j]+y[j], x[j]-y[j]
			}
		}
	}
}

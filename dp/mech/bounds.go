package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/dp"
)

// errBounds is returned when a private range is asked for in a way that has no answer.
var errBounds = errors.New("these bounds cannot be estimated")

// BoundsBins is the number of bins of the integers: 64 of negative numbers, one
// for zero and 64 of positive numbers.
const BoundsBins = 129

const zeroBin = BoundsBins / 2

// BoundsBin returns the bin of v, from 0 to 128. Bins end at powers of two: bin 64 holds 0, bin 65
// holds 1, and bin 65+k holds the integers above 2^(k-1) up to 2^k. Negative numbers mirror them.
func BoundsBin(v int64) int {
	switch {
	case v > 0:
		return zeroBin + 1 + bits.Len64(uint64(v)-1)
	case v < 0:
		return zeroBin - 1 - bits.Len64(-uint64(v)-1)
	}
	return zeroBin
}

// boundsOf returns the ends of a bin: powers of two, with a sign, or 0. The one
// nearer to zero belongs to the next bin, except that of bins of one integer.
// 2^63 itself is no int64; the largest there is stands for it.
func boundsOf(bin int) (low, high int64) {
	k := bin - zeroBin
	switch {
	case k == 0:
		return 0, 0
	case k < 0:
		low, high = boundsOf(zeroBin - k)
		if k == -64 {
			return math.MinInt64, -low
		}
		return -high, -low
	case k == 1:
		return 1, 1
	case k == 64:
		return 1 << 62, math.MaxInt64
	}
	return 1 << (k - 2), 1 << (k - 1)
}

// BoundsConfig says what a private range may cost and how sure it is to be.
type BoundsConfig struct {
	// RowsPerUnit is how many values one unit has at most.
	RowsPerUnit int64
	// Neighbours is the relation of the policy.
	Neighbours dp.Neighbours
	// Epsilon or Rho is the budget: Laplace noise for the one, Gaussian noise for the other.
	Epsilon dp.Amount
	Rho     dp.Amount
	// Beta is the probability, at most, that an end of the range is where no value is.
	Beta float64
}

// Bounds estimates the range of a column of integers whose range nobody knows (Wilson et al. 2020,
// "approximate bounds"; here on signed integers with exact tails): count the values in bins that
// end at powers of two, add noise to the counts, and take the lowest and the highest bin whose
// noisy count reaches a threshold.
//
// What is private is the vector of noisy counts; the range is read off it. A unit moves the counts
// by RowsPerUnit in l1, and under substitution by twice that, and one count by RowsPerUnit. In l2
// the worst case is that all rows are in one bin, or in two.
type Bounds struct {
	countThreshold
}

// NewBounds calibrates noise and threshold.
func NewBounds(c BoundsConfig) (*Bounds, error) {
	switch {
	case c.RowsPerUnit < 1:
		return nil, fmt.Errorf("%w: a unit has at least 1 row, not %d; bound how many rows one unit can have", errBounds, c.RowsPerUnit)
	case !(c.Beta > 0 && c.Beta < 1):
		return nil, fmt.Errorf("%w with probability 1 - beta for beta = %v; choose one such as 0.01", errBounds, c.Beta)
	case c.Epsilon > 0 && c.Rho > 0:
		return nil, fmt.Errorf("%w on two budgets: give an epsilon or a rho", errBounds)
	}
	m, err := boundsNoise(c)
	if err != nil {
		return nil, err
	}
	// All bins, because all of them can be empty.
	x, err := newCountThreshold(m, 0, BoundsBins, c.Beta)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBounds, err)
	}
	return &Bounds{x}, nil
}

func boundsNoise(c BoundsConfig) (Mechanism, error) {
	rows, sides := big.NewInt(c.RowsPerUnit), big.NewInt(1)
	if c.Neighbours == dp.Substitute {
		sides.SetInt64(2)
	}
	if c.Rho > 0 {
		// Counts u leave and v come, both of at most R rows and none negative:
		// |u - v|^2 <= |u|^2 + |v|^2 <= 2 R^2.
		square := new(big.Int).Mul(rows, rows)
		return NewGaussian(dp.NewL2Squared(square.Mul(square, sides)), c.Rho)
	}
	return NewLaplace(dp.NewL1Each(new(big.Int).Mul(rows, sides), rows), c.Epsilon)
}

func (b *Bounds) Cost() dp.Cost { return b.noise.Cost() }

// Threshold is the noisy number of rows from which on a bin counts as occupied.
func (b *Bounds) Threshold() int64 { return b.tau }

// MissedRows returns a number such that, with probability at least 1 - beta, every
// bin outside of the range holds fewer rows than that, and so, if no range is
// found, every bin does. Of units there are not more than of rows.
func (b *Bounds) MissedRows(beta float64) int64 {
	// All of them are found where no noise is below -w, and by symmetry one is
	// with half the probability that it is beyond w on either side.
	w := b.noise.HalfWidth(2 * beta / BoundsBins * (1 - 0x1p-50))
	return addClamped(b.tau, w)
}

// Range is an estimated range: values are from Low to High, but for those that were missed.
type Range struct{ Low, High int64 }

// EstimateBounds returns a range whose ends are powers of two, with a sign, or 0, out of the exact
// numbers of rows in each of the BoundsBins bins. The second result is false where no bin is
// occupied enough to be seen, which is the likely answer for few rows; it costs the same.
func (r *Releaser) EstimateBounds(counts Exact, b *Bounds) (Range, bool, error) {
	if n := counts.Len(); n != BoundsBins {
		return Range{}, false, fmt.Errorf("%w from %d bins: count rows by BoundsBin, which has %d", errBounds, n, BoundsBins)
	}
	var noise [BoundsBins]int64
	r.draw(counts, b.noise, noise[:])
	first, last := -1, -1
	for i, n := range counts.Open() {
		if b.passes(n, noise[i]) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return Range{}, false, nil
	}
	low, _ := boundsOf(first)
	_, high := boundsOf(last)
	return Range{low, high}, true, nil
}

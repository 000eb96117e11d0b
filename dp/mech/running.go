package mech

import (
	"errors"
	"fmt"
	"math/big"
	"sync/atomic"

	"github.com/discreet-dp/discreet/dp"
)

// RunningTotalsConfig asks for numbers in an order, of which running totals will be made.
type RunningTotalsConfig struct {
	Len int
	// Low and High are what one person adds to a number, in steps, and Groups to how many.
	Low, High  *big.Int
	Groups     int64
	Neighbours dp.Neighbours
}

// RunningTotals is noise for a [RunningTotalsConfig] that nearly takes itself away in its running
// totals and in sums of ranges: the factorisation of the matrix of running totals by its square
// root (Fichtenberger, Henzinger, Upadhyay 2023; Henzinger, Upadhyay, Upadhyay 2023), in integers.
//
// Let A be the lower triangle of ones, so that Ax are the running totals of x. It is the square of
// the lower triangle C whose entry (i, j) is f(i-j), with f(k) = binomial(2k, k)/4^k, because f(0)
// + f(1) t + ... is 1/sqrt(1-t), and its square is 1 + t + t^2 + .... Let K be C times 2^14, each
// entry rounded to an integer.
//
// # What is released
//
// y = Kx + z, with z of [NewGaussian] at the sensitivity D of Kx. All else is made of y. One
// person adds m_j to each of at most g numbers, |m_j| <= M, so Kx moves by the sum of m_j times
// column j of K. Let G(l) be the product of the first column and the one l after it. K has no
// negative entry, and f falls, so that G is the largest product of any two columns that are l
// apart, is not negative, and falls in l too. The columns i_1 < i_2 < ... that a person moves are
// at least as far apart as 1, 2, ... are, so
//
//	add-remove: D^2 = M^2 (g G(0) + 2 sum over l from 1 to g-1 of (g-l) G(l)).
//
// Substitute: u goes and w comes, and |K(w-u)|^2 = |Kw|^2 + |Ku|^2 - 2 <Kw, Ku>. K has no negative
// entry. So where nobody adds less than 0, or nobody more, the product is at least 0, and D^2 is
// twice that; and where somebody may, four times, by the triangle inequality.
//
// # What is estimated
//
// The running totals are A K^-1 y, which is Ax + A K^-1 z: unbiased, and A K^-1 is nearly C over
// 2^14. They are rounded to integers, and the numbers are their differences, so that a range is
// the difference of two running totals, and all of them agree. For 365 numbers, one a person, the
// mean variance of a running total is 7.73 times that of one number with the same rho by itself; a
// tree of 365 leaves has 41, and numbers that are added up 183. A single number has 3.7 times.
type RunningTotals struct {
	of RunningTotalsConfig
	*factorisation
	noise       *Gaussian
	each, total *MarginalNoise
	variances   []float64 // of the running totals
}

// factorisation is what follows from the length of a sequence alone. It is shared, and nobody
// changes it.
type factorisation struct {
	factor  []*big.Int // the first column of K
	inverse []*big.Int // the first column of A K^-1, times 2^precision, rounded
	squares []*big.Rat // the squares of its entries, added up so far
	// The same of the differences of the entries, and the absolute values of both, all added up.
	changes, reach, changed *big.Rat
}

// lastFactorisation is the one that was made last. A question has one sequence, and often several
// measures.
var lastFactorisation atomic.Pointer[factorisation]

func factorisationOf(n int) *factorisation {
	if f := lastFactorisation.Load(); f != nil && len(f.factor) == n {
		return f
	}
	f := &factorisation{factor: factorColumn(n)}
	f.inverse = inverseColumn(f.factor)
	squares, changes, reach, changed := new(big.Int), new(big.Int), new(big.Int), new(big.Int)
	before, term := new(big.Int), new(big.Int)
	for _, b := range f.inverse {
		squares.Add(squares, term.Mul(b, b))
		reach.Add(reach, term.Abs(b))
		f.squares = append(f.squares, new(big.Rat).SetFrac(squares, powerOfTwoInt(2*precisionBits)))
		change := new(big.Int).Sub(b, before)
		changes.Add(changes, term.Mul(change, change))
		changed.Add(changed, change.Abs(change))
		before = b
	}
	f.changes = new(big.Rat).SetFrac(changes, powerOfTwoInt(2*precisionBits))
	f.reach = new(big.Rat).SetFrac(reach, powerOfTwoInt(precisionBits))
	f.changed = new(big.Rat).SetFrac(changed, powerOfTwoInt(precisionBits))
	lastFactorisation.Store(f)
	return f
}

// errSequence is returned when there is no sequence to make running totals of.
var errSequence = errors.New("not a sequence for running totals")

const (
	factorBits     = 14
	precisionBits  = 160
	maxSequenceLen = 1 << 10
)

// NewRunningTotals calibrates the noise of a sequence.
func NewRunningTotals(of RunningTotalsConfig, rho dp.Amount) (*RunningTotals, error) {
	if of.Len < 2 || of.Len > maxSequenceLen || of.Groups < 1 || of.Low == nil || of.High == nil || of.Low.Sign() > 0 ||
		of.High.Sign() < 0 || of.Low.Sign() == 0 && of.High.Sign() == 0 {
		return nil, fmt.Errorf("%w: it has from 2 to %d numbers, and people add something to them", errSequence, maxSequenceLen)
	}
	m := &RunningTotals{of: of, factorisation: factorisationOf(of.Len)}
	noise, err := NewGaussian(dp.NewL2Squared(m.sensitivity()), rho)
	if err != nil {
		return nil, err
	}
	m.noise = noise
	return m, m.setMarginals()
}

// factorColumn is f times 2^14, rounded: f(k) is f(k-1) (2k-1)/(2k).
func factorColumn(n int) []*big.Int {
	out := make([]*big.Int, n)
	f := new(big.Rat).SetInt64(1 << factorBits)
	for k := range out {
		if k > 0 {
			f.Mul(f, big.NewRat(int64(2*k-1), int64(2*k)))
			// Many digits are enough, and all of them would be too many.
			f.SetFrac(floorRat(new(big.Rat).Mul(f, new(big.Rat).SetInt(powerOfTwoInt(precisionBits)))), powerOfTwoInt(precisionBits))
		}
		out[k] = floorRat(new(big.Rat).Add(f, big.NewRat(1, 2)))
	}
	return out
}

func powerOfTwoInt(bits uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), bits) }

func floorRat(r *big.Rat) *big.Int {
	return new(big.Int).Div(r.Num(), r.Denom()) // towards minus infinity, as the denominator is positive
}

// inverseColumn is the first column b of A K^-1: K b is a column of ones, which is solved from
// above. How exact it is decides how exact the running totals are, and nothing else.
func inverseColumn(factor []*big.Int) []*big.Int {
	out := make([]*big.Int, len(factor))
	for k := range out {
		b := powerOfTwoInt(precisionBits)
		for i := 1; i <= k; i++ {
			b.Sub(b, new(big.Int).Mul(factor[i], out[k-i]))
		}
		out[k] = b.Quo(b, factor[0])
	}
	return out
}

// sensitivity is D^2: see [RunningTotals].
func (m *RunningTotals) sensitivity() *big.Int {
	groups := min(m.of.Groups, int64(m.of.Len))
	sum := new(big.Int)
	for l := range groups {
		product := int64(0) // at most 2^10 times 2^28
		for k := 0; k+int(l) < m.of.Len; k++ {
			product += m.factor[k].Int64() * m.factor[k+int(l)].Int64()
		}
		times := 2 * (groups - l)
		if l == 0 {
			times = groups
		}
		sum.Add(sum, new(big.Int).Mul(big.NewInt(product), big.NewInt(times)))
	}
	sum.Mul(sum, m.mostPerPerson()).Mul(sum, m.mostPerPerson())
	switch {
	case m.of.Neighbours == dp.AddRemove:
	case m.of.Low.Sign() == 0 || m.of.High.Sign() == 0:
		sum.Lsh(sum, 1)
	default:
		sum.Lsh(sum, 2)
	}
	return sum
}

// mostPerPerson is M: the most that one person adds or takes away.
func (m *RunningTotals) mostPerPerson() *big.Int {
	larger := new(big.Int).Neg(m.of.Low)
	if larger.Cmp(m.of.High) < 0 {
		larger.Set(m.of.High)
	}
	return larger
}

// setMarginals makes the noise of a single number and of the last running total, which have the
// most.
func (m *RunningTotals) setMarginals() error {
	sigma2 := m.noise.Parameter()
	deviation2, _ := sigma2.Float64()
	for _, sum := range m.squares {
		f, _ := sum.Float64()
		m.variances = append(m.variances, f*deviation2)
	}
	each, total := new(big.Rat).Mul(m.changes, sigma2), new(big.Rat).Mul(m.squares[m.of.Len-1], sigma2)
	var err error
	moves := big.NewInt(min(m.of.Groups, int64(m.of.Len))) // of the sequence itself, to be shown
	sens := dp.NewL2Squared(moves.Mul(moves, m.mostPerPerson()).Mul(moves, m.mostPerPerson()))
	if m.each, err = NewMarginalNoise("running totals", sens, m.noise.Cost(), roundUpRat(each), roundUpRat(m.changed)); err != nil {
		return err
	}
	m.total, err = NewMarginalNoise("running totals", sens, m.noise.Cost(), roundUpRat(total), roundUpRat(m.reach))
	return err
}

// roundUpRat is a number of few digits that is not smaller.
func roundUpRat(r *big.Rat) *big.Rat {
	bits := uint(max(0, 64-r.Num().BitLen()+r.Denom().BitLen()))
	n := floorRat(new(big.Rat).Mul(r, new(big.Rat).SetInt(powerOfTwoInt(bits))))
	return new(big.Rat).SetFrac(n.Add(n, big.NewInt(1)), powerOfTwoInt(bits))
}

// Cost is that of the release of y.
func (m *RunningTotals) Cost() dp.Cost { return m.noise.Cost() }

// TermNoise is the noise of a single number, and TotalNoise that of the last running total; no
// other has more.
func (m *RunningTotals) TermNoise() *MarginalNoise { return m.each }

// TotalNoise is the noise of the last running total.
func (m *RunningTotals) TotalNoise() *MarginalNoise { return m.total }

// MeanVariance is the mean of the variances of all running totals.
func (m *RunningTotals) MeanVariance() float64 {
	sum := 0.0
	for _, v := range m.variances {
		sum += v
	}
	return sum / float64(len(m.variances))
}

// Spelling names the noise, with its exact parameter.
func (m *RunningTotals) Spelling() string {
	return fmt.Sprintf("running(%d, %s)", m.of.Len, m.noise.Parameter().RatString())
}

// ReleaseRunningTotals releases a sequence. The promise of m's Cost holds for all that is made of
// it, provided that one person adds to at most Groups of the numbers, from Low to High to each. All
// noise is drawn before the first value is looked at.
func (r *Releaser) ReleaseRunningTotals(x Exact, m *RunningTotals) []int64 {
	if x.Len() != m.of.Len {
		panic(errSequence)
	}
	drawn := make([]int64, m.of.Len)
	r.mu.Lock()
	m.noise.fill(r.src, drawn)
	r.mu.Unlock()
	y := m.multiplyFactor(x.Open())
	r.report("running", m.noise, y)
	for i := range y {
		y[i].Add(&y[i], big.NewInt(drawn[i]))
	}
	out := make([]int64, m.of.Len)
	before := new(big.Int)
	for i := range out {
		total, term := new(big.Int), new(big.Int)
		for j := range i + 1 {
			total.Add(total, term.Mul(m.inverse[i-j], &y[j]))
		}
		total.Add(total, powerOfTwoInt(precisionBits-1)).Rsh(total, precisionBits) // the nearest
		out[i] = nearest([]big.Int{*new(big.Int).Sub(total, before)})[0]
		before = total
	}
	return out
}

// multiplyFactor returns Kx.
func (m *RunningTotals) multiplyFactor(x []int64) []big.Int {
	out := make([]big.Int, len(x))
	term := new(big.Int)
	for i := range out {
		for j := range i + 1 {
			out[i].Add(&out[i], term.Mul(m.factor[i-j], big.NewInt(x[j])))
		}
	}
	return out
}

package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
)

// ResidualsConfig asks for several marginals of one table of counts or sums, to which one person
// adds to one cell: what GROUP BY CUBE (a, b) counts, where nobody has more than one row.
type ResidualsConfig struct {
	// Sizes is how many values each attribute has. The cells of the table are all combinations,
	// and the last attribute changes fastest.
	Sizes []int
	// Hidden says of an attribute that its last value is not shown: it stands for all others that
	// a row may have.
	Hidden []bool
	// Sets are the attributes of each marginal, in the order of its cells.
	Sets [][]int
	// Low and High are what one person adds to a cell, in steps. 0 is between them.
	Low, High  *big.Int
	Neighbours dp.Neighbours
}

// Residuals is calibrated noise for [ResidualsConfig]: ResidualPlanner (Xiao, He, Zhang, Kifer
// 2023), in integers.
//
// Let x be the table, of attributes with n_1, ..., n_d values, and let x_A be its marginal over a
// set A of attributes, of n_A = product of n_i cells. With J the matrix of ones, let
//
//	P_A = tensor product over i in A of (I - J/n_i),
//
// a projection, and r_A = P_A x_A the residual: what x_A says and no smaller marginal does. Then
// x_A is the sum of r_B over all subsets B of A, each spread evenly: divided by n_A/n_B, and the
// same for all values of the attributes that are not in B (I is (I - J/n) + J/n for each
// attribute, multiplied out). So the residuals of all subsets of the sets asked for are enough.
//
// # What is released
//
// For each such B the integers v_B = n_B P_B x_B, which are integers because n (I - J/n) is a
// matrix of integers, with Gaussian noise by the mechanism of [NewGaussian]. All else is made of
// what was released, and of public numbers. Each v_B by itself has a sensitivity D_B, and what it
// costs by itself is its share:
//
// Add-remove: x changes by m in one cell j, Low <= m <= High, so x_B by m in one cell, and v_B by m
// n_B P_B e_j. P_B is a symmetric projection, so the square of the length of P_B e_j is its entry
// (j, j), which is p_B = product of (1 - 1/n_i), whatever j is. So D_B^2 = M^2 n_B^2 p_B = M^2 n_B
// product of (n_i - 1), an integer, with M the larger of -Low and High. The histogram alone would
// have M^2 n_B^2: the factor p_B is what the residual no longer says.
//
// Substitute: m in cell j goes and m' in cell k comes. The square of the length of n_B P_B (m' e_k
// - m e_j) is n_B^2 (m^2 p_B - 2 m m' g + m'^2 p_B), where g is the entry (j, k) of P_B, a product
// of 1 - 1/n_i where j and k agree and of -1/n_i where they do not. It is convex in (m, m'), so it
// is largest where both are Low or High. Of ends with m m' <= 0 the most is (m - m')^2 p_B, where
// j = k, because |g| <= p_B. Of m = m' it is 2 m^2 (p_B - g), and g is least where j and k differ
// in one attribute, that of the fewest values n: -p_B/(n-1). So D_B^2 is the larger of n_B^2 p_B
// (High - Low)^2 and 2 n_B^2 p_B M^2 n/(n-1), which for no attributes is 0.
//
// # What all of them cost
//
// Add-remove: the person who is there or not moves every v_B as far as anybody can, so the cost is
// the sum of the shares.
//
// Substitute: no pair of people moves all of them furthest. See [ResidualsConfig.jointPrice].
//
// # What is estimated
//
// P_B (v_B + z_B)/n_B is r_B with noise, and the sum of those spread evenly is x_A with noise, the
// same sum for all A, so that marginals agree with each other, and unbiased, because z_B is
// symmetric. The noise of a cell of x_A is the sum over B of an entry of P_B z_B over n_A, of
// variance V_A = sum of p_B s_B^2/n_A^2 at most, where s_B^2 = D_B^2/(2 rho_B); see [MarginalNoise]
// for its error bars.
//
// # How the price is divided
//
// Under substitution see [ResidualsConfig.divideSubstituted]. Where people are added or removed:
//
// The sum of the variances of all cells that are shown, w_A of each marginal A, is the sum over B
// of c_B/rho_B with c_B = p_B D_B^2/2 times the sum of w_A/n_A^2 over the A that hold B. By
// Cauchy and Schwarz (sum of c_B/rho_B)(sum of rho_B) >= (sum of sqrt c_B)^2, and it is equal
// for rho_B in proportion to sqrt c_B. Where nothing is hidden no other Gaussian mechanism that
// is linear has a smaller sum (theorem 5 there; a test holds it against the bound by singular
// values of Li and Miklau 2013, which knows nothing of residuals).
type Residuals struct {
	of        ResidualsConfig
	table     table
	parts     []residual
	marginals []*MarginalNoise
	cost      dp.Cost
}

// residual is the release of one v_B.
type residual struct {
	axes  []int // in rising order
	cells int64 // n_B
	noise *Gaussian
}

// errMarginals is returned when marginals make no sense, or are too many to be computed.
var errMarginals = errors.New("not marginals of one table")

// The most cells of a table, and of all residuals when each is spread over it: what is computed.
const (
	maxTableCells    = 1 << 16
	maxResidualCells = 1 << 21
)

// NewResiduals divides rho among the residuals that the marginals are made of.
func NewResiduals(of ResidualsConfig, rho dp.Amount) (*Residuals, error) {
	if err := of.check(); err != nil {
		return nil, err
	}
	if err := checkAmount(rho); err != nil {
		return nil, err
	}
	m := &Residuals{of: of, table: table{of.Sizes}, cost: dp.Cost{Epsilon: dp.Unbounded, Rho: rho}}
	all := of.subsets()
	for i, share := range of.shares(all, rho) {
		noise, err := NewGaussian(dp.NewL2Squared(of.sensitivity(all[i])), share)
		if err != nil {
			return nil, err
		}
		part := residual{axes: all[i], cells: int64(m.table.marginal(all[i]).cells()), noise: noise}
		m.parts = append(m.parts, part)
	}
	for i := range of.Sets {
		m.marginals = append(m.marginals, m.marginal(i))
	}
	return m, nil
}

// check refuses what is no marginal of a table.
func (of ResidualsConfig) check() error {
	cells := 1
	for _, n := range of.Sizes {
		if n < 1 || n > maxTableCells/cells {
			return fmt.Errorf("%w: a table has from 1 to %d cells", errMarginals, maxTableCells)
		}
		cells *= n
	}
	if len(of.Hidden) != len(of.Sizes) || len(of.Sets) == 0 || len(of.Sizes) > 10 {
		return fmt.Errorf("%w: there are no sets, or too many attributes", errMarginals)
	}
	for _, set := range of.Sets {
		for i, axis := range set {
			if axis < 0 || axis >= len(of.Sizes) || slices.Contains(set[:i], axis) {
				return fmt.Errorf("%w: a set names an attribute twice, or one that does not exist", errMarginals)
			}
		}
	}
	if of.Low == nil || of.High == nil || of.Low.Sign() > 0 || of.High.Sign() < 0 || of.Low.Sign() == 0 && of.High.Sign() == 0 {
		return fmt.Errorf("%w: nobody adds anything", errMarginals)
	}
	if len(of.subsets()) > maxResidualCells/cells {
		return fmt.Errorf("%w: they are made of too many residuals", errMarginals)
	}
	return nil
}

// subsets are the subsets of all sets, each once. An attribute of one value says nothing: its
// residuals are zero, and are left out.
func (of ResidualsConfig) subsets() [][]int {
	seen := map[uint]bool{}
	var out [][]int
	for _, set := range of.Sets {
		whole := of.mask(set)
		for b := whole; ; b = (b - 1) & whole {
			if !seen[b] {
				seen[b] = true
				out = append(out, axesOfMask(b))
			}
			if b == 0 {
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b []int) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return slices.Compare(a, b)
	})
	return out
}

// mask is a set as bits, without attributes of one value.
func (of ResidualsConfig) mask(set []int) uint {
	m := uint(0)
	for _, axis := range set {
		if of.Sizes[axis] > 1 {
			m |= 1 << axis
		}
	}
	return m
}

func axesOfMask(mask uint) []int {
	out := make([]int, 0, bits.OnesCount(mask))
	for ; mask != 0; mask &= mask - 1 {
		out = append(out, bits.TrailingZeros(mask))
	}
	return out
}

// sensitivity is D_B^2: see [Residuals].
func (of ResidualsConfig) sensitivity(b []int) *big.Int {
	product, fewest := big.NewInt(1), int64(math.MaxInt64) // of n_i - 1, and the least of them
	for _, axis := range b {
		n := int64(of.Sizes[axis] - 1)
		product.Mul(product, big.NewInt(n))
		fewest = min(fewest, n)
	}
	width, far := of.reach()
	most := new(big.Int).Mul(far, far)
	if most.Mul(most, product); of.Neighbours == dp.Substitute {
		both := new(big.Int).Quo(most, big.NewInt(fewest))
		both.Add(both, most).Lsh(both, 1)
		if most.Mul(width, width).Mul(most, product); len(b) > 0 && both.Cmp(most) > 0 {
			most = both
		}
	}
	return most.Mul(most, big.NewInt(int64(table{of.Sizes}.marginal(b).cells())))
}

// Cost is what all residuals cost together.
func (m *Residuals) Cost() dp.Cost { return m.cost }

// Noise is the noise in the cells of the i-th marginal.
func (m *Residuals) Noise(i int) *MarginalNoise { return m.marginals[i] }

// Len is how many cells the table has.
func (m *Residuals) Len() int { return m.table.cells() }

// PartCount is how many residuals are released.
func (m *Residuals) PartCount() int { return len(m.parts) }

// Spelling names all of the noise, with its exact parameters.
func (m *Residuals) Spelling() string {
	var out strings.Builder
	for _, part := range m.parts {
		fmt.Fprintf(&out, "%v:%s ", part.axes, part.noise.Parameter().RatString())
	}
	return out.String()
}

// table is the shape of cells: how many values each attribute has. The last changes fastest.
type table struct{ sizes []int }

func (t table) cells() int {
	n := 1
	for _, size := range t.sizes {
		n *= size
	}
	return n
}

func (t table) marginal(axes []int) table {
	out := table{make([]int, len(axes))}
	for i, axis := range axes {
		out.sizes[i] = t.sizes[axis]
	}
	return out
}

// marginalIndex says for each cell which cell of a marginal it is in.
func (t table) marginalIndex(axes []int) []int {
	steps := make([]int, len(t.sizes)) // how far a step along an attribute goes in the marginal
	step := 1
	for i := len(axes) - 1; i >= 0; i-- {
		steps[axes[i]] = step
		step *= t.sizes[axes[i]]
	}
	out := make([]int, t.cells())
	digits := make([]int, len(t.sizes))
	at := 0
	for cell := range out {
		out[cell] = at
		for i := len(digits) - 1; i >= 0; i-- {
			digits[i]++
			at += steps[i]
			if digits[i] < t.sizes[i] {
				break
			}
			at -= digits[i] * steps[i]
			digits[i] = 0
		}
	}
	return out
}

// project replaces v by n P v, where n is the number of cells and P the projection of [Residuals]:
// along each attribute, the number of its values times each cell less the sum of the line.
func (t table) project(v []big.Int) {
	line, sum := 1, new(big.Int)
	for i := len(t.sizes) - 1; i >= 0; i-- {
		size := t.sizes[i]
		n := big.NewInt(int64(size))
		for block := 0; block < len(v); block += size * line {
			for start := block; start < block+line; start++ {
				sum.SetInt64(0)
				for at := start; at < start+size*line; at += line {
					sum.Add(sum, &v[at])
				}
				for at := start; at < start+size*line; at += line {
					v[at].Mul(&v[at], n).Sub(&v[at], sum)
				}
			}
		}
		line *= size
	}
}

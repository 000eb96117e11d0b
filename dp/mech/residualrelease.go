package mech

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/sealed"
)

// NoisyMarginals are marginals with noise. They are sums of one table of integers, so they agree
// with each other: a cell is the sum of the cells of any finer marginal that it is made of.
type NoisyMarginals struct {
	// Values are the cells that are shown of each marginal.
	Values [][]int64
	// ExtraSteps is by how much more than one step rounding has moved a cell of each marginal. It
	// follows from what was released.
	ExtraSteps []int64
}

// ReleaseMarginals releases the marginals of a table. The promise of m's Cost holds for all of them
// together, provided that between neighbouring databases one person adds to one cell of x, or is
// taken from one, or both, a number between Low and High. Proving that is the caller's part.
//
// All noise is drawn before the first value is looked at, as in [Releaser.Release]. What comes
// after the noise is computed exactly, in integers of any size.
func (r *Releaser) ReleaseMarginals(x Exact, m *Residuals) NoisyMarginals {
	if x.Len() != m.Len() {
		panic(errMarginals)
	}
	drawn := r.drawResiduals(x, m)
	// The sum of all residuals, spread evenly, times the square of the number of cells.
	whole := make([]big.Int, m.Len())
	term := new(big.Int)
	for i, part := range m.parts {
		noisy := drawn[i]
		m.table.marginal(part.axes).project(noisy)
		weight := big.NewInt(int64(m.Len()) / part.cells)
		for cell, at := range m.table.marginalIndex(part.axes) {
			whole[cell].Add(&whole[cell], term.Mul(&noisy[at], weight))
		}
	}
	return m.round(whole)
}

// drawResiduals returns v_B with noise for each residual.
func (r *Releaser) drawResiduals(x Exact, m *Residuals) [][]big.Int {
	drawn := make([][]int64, len(m.parts))
	r.mu.Lock()
	for i, part := range m.parts {
		drawn[i] = make([]int64, part.cells)
		part.noise.fill(r.src, drawn[i])
	}
	r.mu.Unlock()
	out := make([][]big.Int, len(m.parts))
	for i, part := range m.parts {
		out[i] = m.residualOf(x.Open(), part)
		r.report("residual", part.noise, out[i])
		for j := range out[i] {
			out[i][j].Add(&out[i][j], big.NewInt(drawn[i][j]))
		}
	}
	return out
}

// report tells of a release of which everything is made that is shown, and whose values may be
// larger than 64 bits.
func (r *Releaser) report(name string, m Mechanism, values []big.Int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.record != nil {
		r.record(Call{Mechanism: name, Parameter: m.Parameter(), Sensitivity: m.Sensitivity(), Values: sealed.Seal(nearest(values))})
	}
}

// residualOf is v_B of a table.
func (m *Residuals) residualOf(x []int64, part residual) []big.Int {
	v := make([]big.Int, part.cells)
	for cell, at := range m.table.marginalIndex(part.axes) {
		v[at].Add(&v[at], big.NewInt(x[cell]))
	}
	m.table.marginal(part.axes).project(v)
	return v
}

// nearest are the integers of 64 bits that are nearest.
func nearest(v []big.Int) []int64 {
	out := make([]int64, len(v))
	for i := range v {
		switch {
		case v[i].IsInt64():
			out[i] = v[i].Int64()
		case v[i].Sign() > 0:
			out[i] = math.MaxInt64
		default:
			out[i] = math.MinInt64
		}
	}
	return out
}

// round makes a table of integers whose marginals are near those of a table of fractions, and
// returns its marginals.
//
// Each cell is rounded to the nearest integer, and then cells, and pairs of them, are moved by one
// where that makes the squares of what rounding has added to the marginals' cells smaller, added
// up, until no such move is left or all were tried often. Cells alone would be off by at most one
// half and a total by the root of how many they are; so all are off by about one. It is a function
// of what was released, and how well it does is said in Off, so nothing rests on where the search
// ends.
func (m *Residuals) round(whole []big.Int) NoisyMarginals {
	n := big.NewInt(int64(m.Len()))
	n.Mul(n, n)
	twice := new(big.Int).Lsh(n, 1)
	scale, _ := new(big.Float).SetInt(n).Float64()
	cells, off := make([]big.Int, len(whole)), make([]float64, len(whole))
	quotient, rest := new(big.Int), new(big.Int)
	for i := range whole {
		// floor((2 whole + n)/(2 n)) is the nearest.
		rest.Lsh(&whole[i], 1).Add(rest, n)
		quotient.DivMod(rest, twice, rest)
		cells[i].Set(quotient)
		over, _ := new(big.Float).SetInt(rest).Float64() // 2 n times (whole/n - nearest + 1/2)
		off[i] = 0.5 - over/(2*scale)
	}
	s := newRoundingSearch(m, off)
	moves := s.run(m.table)
	for i, by := range moves {
		cells[i].Add(&cells[i], big.NewInt(int64(by)))
	}
	return m.margins(cells, s)
}

func (m *Residuals) margins(cells []big.Int, s *roundingSearch) NoisyMarginals {
	var out NoisyMarginals
	for i, set := range m.of.Sets {
		sums := make([]big.Int, m.table.marginal(set).cells())
		for cell, at := range s.cellIndex[s.marginalOfSet[i]] {
			sums[at].Add(&sums[at], &cells[cell])
		}
		values, worst := []int64{}, 0.0
		for at, n := range nearest(sums) {
			if m.isShown(set, at) {
				values = append(values, n)
				worst = math.Max(worst, math.Abs(s.off[s.marginalOfSet[i]][at]))
			}
		}
		out.Values = append(out.Values, values)
		out.ExtraSteps = append(out.ExtraSteps, int64(math.Max(0, math.Ceil(worst-roundingSteps+1e-6))))
	}
	return out
}

// isShown reports whether a cell of a marginal has no value that is hidden.
func (m *Residuals) isShown(set []int, at int) bool {
	for i := len(set) - 1; i >= 0; i-- {
		size := m.of.Sizes[set[i]]
		if at%size >= m.of.shownValues(set[i]) {
			return false
		}
		at /= size
	}
	return true
}

// roundingSearch moves cells of a rounded table by one, so that its marginals are near those of the
// table that was rounded.
type roundingSearch struct {
	cellIndex     [][]int     // for each different marginal, the place of each cell
	off           [][]float64 // by how much rounding has moved it
	marginalOfSet []int       // which of them each set is
	moved         []int8
}

func newRoundingSearch(m *Residuals, off []float64) *roundingSearch {
	s := &roundingSearch{moved: make([]int8, len(off))}
	var known [][]int
	for _, set := range m.of.Sets {
		i := slices.IndexFunc(known, func(k []int) bool { return slices.Equal(k, set) })
		if i < 0 {
			i = len(known)
			known = append(known, set)
			places, sums := m.table.marginalIndex(set), make([]float64, m.table.marginal(set).cells())
			for cell, at := range places {
				sums[at] += off[cell]
			}
			s.cellIndex, s.off = append(s.cellIndex, places), append(s.off, sums)
		}
		s.marginalOfSet = append(s.marginalOfSet, i)
	}
	return s
}

// maxSweeps is how often all cells are looked at: a few are enough, because each move makes the sum
// of squares smaller. maxCellPairs is how many pairs of cells are worth it.
const (
	maxSweeps    = 64
	maxCellPairs = 1 << 17
)

// run returns by how much each cell is moved.
func (s *roundingSearch) run(t table) []int8 {
	for range maxSweeps {
		if !s.moveSingles() && !s.movePairs(t) {
			break
		}
	}
	return s.moved
}

// moveSingles moves cells one by one. A move by d adds 2 d off + 1 to the square at each of the
// marginals' cells that the cell is in.
func (s *roundingSearch) moveSingles() (moved bool) {
	half := float64(len(s.cellIndex)) / 2
	for cell := range s.moved {
		sum := 0.0
		for i, places := range s.cellIndex {
			sum += s.off[i][places[cell]]
		}
		if math.Abs(sum) <= half+1e-9 {
			continue
		}
		by := int8(1)
		if sum > 0 {
			by = -1
		}
		moved = s.move(cell, by) || moved
	}
	return moved
}

// movePairs moves one up and one down of two cells that differ in one attribute, which leaves the
// marginals without it as they are, and adds 2 (up - down) + 2 to the squares of each other.
func (s *roundingSearch) movePairs(t table) (moved bool) {
	line := 1
	for axis := len(t.sizes) - 1; axis >= 0; axis-- {
		size := t.sizes[axis]
		if len(s.moved)*size > maxCellPairs {
			line *= size
			continue
		}
		for cell := range s.moved {
			for other := cell + line; other/(line*size) == cell/(line*size); other += line {
				apart, sets := 0.0, 0.0
				for i, places := range s.cellIndex {
					if a, b := places[cell], places[other]; a != b {
						apart += s.off[i][a] - s.off[i][b]
						sets++
					}
				}
				switch {
				case apart > sets+1e-9:
					moved = s.move(cell, -1) && s.move(other, 1) || moved
				case apart < -sets-1e-9:
					moved = s.move(cell, 1) && s.move(other, -1) || moved
				}
			}
		}
		line *= size
	}
	return moved
}

// move moves a cell, and never far.
func (s *roundingSearch) move(cell int, by int8) bool {
	if s.moved[cell] > 100 || s.moved[cell] < -100 {
		return false
	}
	s.moved[cell] += by
	for i, places := range s.cellIndex {
		s.off[i][places[cell]] += float64(by)
	}
	return true
}

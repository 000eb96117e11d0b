package mech

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/entropy"
)

func countMarginals(sizes []int, sets ...[]int) ResidualsConfig {
	return ResidualsConfig{Sizes: sizes, Hidden: make([]bool, len(sizes)), Sets: sets, Low: new(big.Int), High: big.NewInt(1)}
}

func residuals(of ResidualsConfig, rho string) *Residuals {
	return must(NewResiduals(of, amount(rho)))
}

// cube is all sets of some attributes.
func cube(n int) [][]int {
	var out [][]int
	for mask := range uint(1) << n {
		out = append(out, axesOfMask(mask))
	}
	return out
}

func madeUpTable(n int, seed uint64) []int64 {
	out := make([]int64, n)
	for i := range out {
		seed = seed*6364136223846793005 + 1442695040888963407
		out[i] = int64(seed>>33)%100 - 20
	}
	return out
}

// marginalBySum adds up a table by its definition: every cell of the marginal, and all cells that
// have its values.
func marginalBySum(of ResidualsConfig, x []int64, set []int) (all []int64, shown []int64) {
	digits := func(cell int, sizes []int) []int {
		out := make([]int, len(sizes))
		for i := len(sizes) - 1; i >= 0; i-- {
			out[i], cell = cell%sizes[i], cell/sizes[i]
		}
		return out
	}
	sizes, n := []int{}, 1
	for _, axis := range set {
		sizes, n = append(sizes, of.Sizes[axis]), n*of.Sizes[axis]
	}
	for at := range n {
		want, sum, hidden := digits(at, sizes), int64(0), false
		for i, axis := range set {
			hidden = hidden || of.Hidden[axis] && want[i] == of.Sizes[axis]-1
		}
		for cell, v := range x {
			have, fits := digits(cell, of.Sizes), true
			for i, axis := range set {
				fits = fits && have[axis] == want[i]
			}
			if fits {
				sum += v
			}
		}
		all = append(all, sum)
		if !hidden {
			shown = append(shown, sum)
		}
	}
	return all, shown
}

var tables = []ResidualsConfig{
	countMarginals([]int{2}, []int{0}, []int{}),
	countMarginals([]int{3, 2}, cube(2)...),
	countMarginals([]int{2, 3, 4}, cube(3)...),
	countMarginals([]int{4, 2, 3}, []int{2, 0}, []int{1}, []int{0, 2, 1}),      // in any order
	countMarginals([]int{3, 3, 2}, []int{0, 1}, []int{1, 2}),                   // no set has all
	countMarginals([]int{3, 1, 2}, []int{0, 1, 2}, []int{1}, []int{}, []int{}), // one value; twice
	{Sizes: []int{3, 4}, Hidden: []bool{true, false}, Sets: cube(2), Low: big.NewInt(-3), High: big.NewInt(5)},
	{Sizes: []int{2, 3}, Hidden: []bool{false, true}, Sets: cube(2), Low: big.NewInt(-3), High: big.NewInt(2), Neighbours: dp.Substitute},
}

// Without noise the marginals are those of the table: the residuals are put together again rightly.
func TestMarginalsOfNoNoise(t *testing.T) {
	for i, of := range tables {
		m := residuals(of, "1000000")
		x := madeUpTable(m.Len(), uint64(i))
		got := seeded(1).ReleaseMarginals(Seal(x...), m)
		for k, set := range of.Sets {
			if _, want := marginalBySum(of, x, set); !slices.Equal(got.Values[k], want) || got.ExtraSteps[k] != 0 {
				t.Errorf("%v of %v: %v (%d), want %v", set, of.Sizes, got.Values[k], got.ExtraSteps[k], want)
			}
		}
		if m.Cost() != (dp.Cost{Epsilon: dp.Unbounded, Rho: amount("1000000")}) {
			t.Errorf("it costs %v", m.Cost())
		}
	}
}

// With noise they agree with each other, to the last unit, where nothing is hidden.
func TestMarginalsAgree(t *testing.T) {
	worst := int64(0)
	for i, of := range append(slices.Clone(tables), countMarginals([]int{4, 3, 6, 7, 2}, cube(5)...)) {
		of.Hidden = make([]bool, len(of.Sizes))
		m := residuals(of, "0.05")
		x := madeUpTable(m.Len(), uint64(i))
		got := seeded(byte(i)).ReleaseMarginals(Seal(x...), m)
		for k, set := range of.Sets {
			worst = max(worst, got.ExtraSteps[k])
			for l, finer := range of.Sets {
				at := make([]int, len(set)) // where the coarser attributes stand among the finer
				for j, axis := range set {
					at[j] = slices.Index(finer, axis)
				}
				if slices.Contains(at, -1) {
					continue
				}
				sums := make([]int64, len(got.Values[k]))
				for cell, place := range m.table.marginal(finer).marginalIndex(at) {
					sums[place] += got.Values[l][cell]
				}
				if !slices.Equal(sums, got.Values[k]) {
					t.Errorf("%v: %v is %v and the sum of %v is %v", of.Sizes, set, got.Values[k], finer, sums)
				}
			}
		}
	}
	if worst > 2 {
		t.Errorf("rounding has moved a marginal by %d more than it should", worst)
	}
}

// residualOf is v_B by its definition: the matrix, entry by entry.
func residualOf(of ResidualsConfig, b []int, x []int64) []*big.Int {
	marginal, _ := marginalBySum(of, x, b)
	sizes := table{of.Sizes}.marginal(b).sizes
	out := make([]*big.Int, len(marginal))
	for i := range out {
		out[i] = new(big.Int)
		for j, v := range marginal {
			entry, p, q := int64(1), i, j
			for k := len(sizes) - 1; k >= 0; k-- {
				if p%sizes[k] == q%sizes[k] {
					entry *= int64(sizes[k] - 1)
				} else {
					entry = -entry
				}
				p, q = p/sizes[k], q/sizes[k]
			}
			out[i].Add(out[i], new(big.Int).Mul(big.NewInt(entry), big.NewInt(v)))
		}
	}
	return out
}

// One person moves each residual as far as it is calibrated to, and no further; the largest is
// reached.
func TestResidualSensitivity(t *testing.T) {
	for _, of := range tables {
		m := residuals(of, "1")
		for _, part := range m.parts {
			worst := new(big.Int)
			try := func(change map[int]int64) {
				x := make([]int64, m.Len())
				for cell, by := range change {
					x[cell] += by
				}
				sum := new(big.Int)
				for i, v := range m.residualOf(x, part) {
					if want := residualOf(of, part.axes, x)[i]; v.Cmp(want) != 0 {
						t.Fatalf("%v of %v: %v, want %v", part.axes, of.Sizes, &v, want)
					}
					sum.Add(sum, new(big.Int).Mul(&v, &v))
				}
				if sum.Cmp(worst) > 0 {
					worst = sum
				}
			}
			for j := range m.Len() {
				for _, a := range []int64{of.Low.Int64(), of.High.Int64()} {
					try(map[int]int64{j: a})
					for k := range m.Len() {
						for _, b := range []int64{of.Low.Int64(), of.High.Int64()} {
							if of.Neighbours == dp.Substitute && j != k {
								try(map[int]int64{j: a, k: -b})
							} else if of.Neighbours == dp.Substitute {
								try(map[int]int64{j: a - b})
							}
						}
					}
				}
			}
			if claim := part.noise.Sensitivity().L2Squared(); claim.Cmp(worst) != 0 {
				t.Errorf("%v of %v: one person moves it by %v, and %v is claimed", part.axes, of.Sizes, worst, claim)
			}
		}
	}
}

// loss is the Renyi divergence between what is released of two tables: the laws are enumerated,
// outcome by outcome, of what is left of each residual after it is projected.
func loss(m *Residuals, noise func(residual) *big.Rat, x, y []int64, alpha float64) float64 {
	total := 0.0
	for _, part := range m.parts {
		p, q := residualLaw(m, part, noise(part), x), residualLaw(m, part, noise(part), y)
		sum := 0.0
		for outcome, a := range p {
			if b := q[outcome]; b > 0 {
				sum += math.Exp(alpha*math.Log(a) + (1-alpha)*math.Log(b))
			}
		}
		total += math.Log(sum) / (alpha - 1)
	}
	return total
}

// residualLaw lists the outcomes of at most four numbers with their probabilities. Noise is looked
// at as far as order 2 needs: around twice what one person moves.
func residualLaw(m *Residuals, part residual, sigma2 *big.Rat, x []int64) map[[4]int64]float64 {
	s2, _ := sigma2.Float64()
	most := int64(1) // one person moves no number of it by more
	for _, axis := range part.axes {
		most *= int64(m.of.Sizes[axis] - 1)
	}
	if m.of.Neighbours == dp.Substitute {
		width, _ := m.of.reach()
		most = part.cells * width.Int64()
	}
	reach := 2*most + int64(math.Ceil(5*math.Sqrt(s2)))
	projected := func(v []big.Int) (out [4]int64) {
		m.table.marginal(part.axes).project(v)
		copy(out[:], nearest(v))
		return out
	}
	at := projected(m.residualOf(x, part))
	units := make([][4]int64, part.cells) // the projection is linear
	for i := range units {
		one := make([]big.Int, part.cells)
		one[i].SetInt64(1)
		units[i] = projected(one)
	}
	norm := 0.0
	for k := -reach; k <= reach; k++ {
		norm += math.Exp(-float64(k*k) / (2 * s2))
	}
	law := map[[4]int64]float64{}
	var draw func(i int, at [4]int64, p float64)
	draw = func(i int, at [4]int64, p float64) {
		if i == len(units) {
			law[at] += p
			return
		}
		for z := -reach; z <= reach; z++ {
			next := at
			for j := range next {
				next[j] += z * units[i][j]
			}
			draw(i+1, next, p*math.Exp(-float64(z*z)/(2*s2))/norm)
		}
	}
	draw(0, at, 1)
	return law
}

// The law itself, on tables so small that every outcome can be listed: it loses what is claimed and
// no more. What others have forgotten loses more: the noise of the wrong factor, of the wrong share
// of the price, and a residual that nobody paid for.
func TestResidualsExactly(t *testing.T) {
	calibrated := func(p residual) *big.Rat { return p.noise.Parameter() }
	for _, of := range []ResidualsConfig{countMarginals([]int{2}, []int{0}, []int{}), countMarginals([]int{3}, []int{0}, []int{}),
		countMarginals([]int{2, 2}, cube(2)...)} {
		m := residuals(of, "4")
		x := madeUpTable(m.Len(), 3)
		y := slices.Clone(x)
		y[m.Len()-1]++
		rho := m.Cost().Rho.Float()
		for _, alpha := range []float64{1.5, 2} {
			for _, pair := range [][2][]int64{{x, y}, {y, x}} {
				got := loss(m, calibrated, pair[0], pair[1], alpha)
				if got > alpha*rho*(1+1e-6) || got < 0.8*alpha*rho {
					t.Errorf("%v: the divergence of order %v is %v, and %v is claimed", of.Sizes, alpha, got, alpha*rho)
				}
			}
		}
		bugs := map[string]func(residual) *big.Rat{
			"p_B is taken twice": func(p residual) *big.Rat {
				return new(big.Rat).Mul(p.noise.Parameter(), of.projectionShare(p.axes))
			},
			"all of the price for each": func(p residual) *big.Rat {
				s := new(big.Rat).SetInt(p.noise.Sensitivity().L2Squared())
				return s.Quo(s, new(big.Rat).Mul(big.NewRat(2, 1), m.Cost().Rho.Rat()))
			},
			"the noise is not multiplied by n_B": func(p residual) *big.Rat {
				return new(big.Rat).Quo(p.noise.Parameter(), big.NewRat(p.cells, 1))
			},
		}
		for name, noise := range bugs {
			got := loss(m, noise, x, y, 2) / (2 * rho)
			if t.Logf("%v: %s: %.3f of the claim", of.Sizes, name, got); got < 1.05 {
				t.Errorf("%v: %s, and nobody sees it", of.Sizes, name)
			}
		}
	}
}

// Neighbours with the same randomness: the same calls, as much randomness, and residuals that are
// within what their noise is calibrated to.
func TestMarginalsReplay(t *testing.T) {
	for i, of := range tables {
		m := residuals(of, "0.5")
		x := madeUpTable(m.Len(), uint64(i))
		y := slices.Clone(x)
		y[i%m.Len()] += of.High.Int64()
		if of.Neighbours == dp.Substitute {
			y[(i+1)%m.Len()] -= of.High.Int64()
		}
		silent := func(r *Releaser, v []int64) []int64 {
			r.ReleaseMarginals(Seal(v...), m)
			return nil
		}
		if err := checkReplay(silent, x, y, dp.L2); err != nil {
			t.Errorf("%v: %v", of.Sizes, err)
		}
		y[0] += 40 // more than a person
		if checkReplay(silent, x, y, dp.L2) == nil {
			t.Errorf("%v: two that are no neighbours were not told apart", of.Sizes)
		}
	}
}

// releaseTwo releases both cells and the total of a table of two.
func releaseTwo(m *Residuals) releaseFunc {
	return func(r *Releaser, x []int64) []int64 {
		got := r.ReleaseMarginals(Seal(x...), m)
		return append(got.Values[0], got.Values[1]...)
	}
}

// deltaOf is what zCDP says at epsilon (Canonne, Kamath, Steinke 2020).
func deltaOf(rho, epsilon float64) float64 {
	best := 1.0
	for a := 1.01; a < 100; a *= 1.05 {
		best = math.Min(best, math.Exp((a-1)*(a*rho-epsilon)+a*math.Log1p(-1/a)-math.Log(a-1)))
	}
	return best
}

// As a black box it loses no more than it charges, and a release that claims half of what it costs
// is caught.
func TestMarginalsBlackBox(t *testing.T) {
	m := residuals(countMarginals([]int{2}, []int{0}, []int{}), "0.5")
	x, y := []int64{10, 20}, []int64{11, 20}
	claims := func(rho float64) map[float64]float64 {
		out := map[float64]float64{}
		for _, e := range []float64{0.5, 1, 1.5, 2} {
			out[e] = deltaOf(rho, e)
		}
		return out
	}
	if err := checkHockeyStick(releaseTwo(m), x, y, draws/32, claims(0.5)); err != nil {
		t.Error(err)
	}
	cheap := residuals(countMarginals([]int{2}, []int{0}, []int{}), "4")
	if catchHockeyStick(releaseTwo(cheap), x, y, draws/16, claims(0.5)) == nil {
		t.Error("eight times the price was not noticed")
	}
}

// cellWeights are what one cell of a marginal is of the noises, found by putting in one noise after
// the other.
func cellWeights(m *Residuals, set []int, at int) map[int][]*big.Rat {
	out := map[int][]*big.Rat{}
	places := m.table.marginalIndex(set)
	for i, part := range m.parts {
		lift := m.table.marginalIndex(part.axes)
		for j := range part.cells {
			v := make([]big.Int, part.cells)
			v[j].SetInt64(1)
			m.table.marginal(part.axes).project(v)
			sum := new(big.Rat)
			for cell, p := range places {
				if p == at {
					sum.Add(sum, new(big.Rat).SetFrac(&v[lift[cell]], big.NewInt(part.cells*int64(m.Len()))))
				}
			}
			out[i] = append(out[i], sum)
		}
	}
	return out
}

// isJustAbove reports whether a number is another that was rounded up, a little.
func isJustAbove(a, b *big.Rat) bool {
	ratio, _ := new(big.Rat).Quo(a, b).Float64()
	return a.Cmp(b) >= 0 && ratio < 1+1e-15
}

// The variance and the reach of every cell are those of what is really added up.
func TestMarginalVariance(t *testing.T) {
	for _, of := range tables[:6] {
		m := residuals(of, "0.3")
		for k, set := range of.Sets {
			for at := range m.table.marginal(set).cells() {
				variance, reach := new(big.Rat), new(big.Rat)
				for i, all := range cellWeights(m, set, at) {
					for _, w := range all {
						square := new(big.Rat).Mul(w, w)
						variance.Add(variance, square.Mul(square, m.parts[i].noise.Parameter()))
						reach.Add(reach, w.Abs(w))
					}
				}
				got := m.Noise(k)
				if !isJustAbove(got.Parameter(), variance) || !isJustAbove(got.Reach(), reach) {
					t.Errorf("%v of %v, cell %d: variance %v and reach %v, want %v and %v", set, of.Sizes, at,
						got.Parameter(), got.Reach(), variance, reach)
				}
			}
		}
	}
}

// sumOfSingularValues adds up the singular values of a workload: every cell of every marginal is a
// row. By Jacobi's rotations of its Gram matrix.
func sumOfSingularValues(of ResidualsConfig) float64 {
	n := table{of.Sizes}.cells()
	gram := make([][]float64, n)
	for i := range gram {
		gram[i] = make([]float64, n)
	}
	for _, set := range of.Sets {
		places := table{of.Sizes}.marginalIndex(set)
		for i := range n {
			for j := range n {
				if places[i] == places[j] {
					gram[i][j]++
				}
			}
		}
	}
	for range 60 {
		for p := range n {
			for q := p + 1; q < n; q++ {
				if math.Abs(gram[p][q]) < 1e-14 {
					continue
				}
				theta := math.Atan2(2*gram[p][q], gram[q][q]-gram[p][p]) / 2
				c, s := math.Cos(theta), math.Sin(theta)
				for k := range n {
					gram[k][p], gram[k][q] = c*gram[k][p]-s*gram[k][q], s*gram[k][p]+c*gram[k][q]
				}
				for k := range n {
					gram[p][k], gram[q][k] = c*gram[p][k]-s*gram[q][k], s*gram[p][k]+c*gram[q][k]
				}
			}
		}
	}
	sum := 0.0
	for i := range n {
		sum += math.Sqrt(math.Max(0, gram[i][i]))
	}
	return sum
}

// No Gaussian mechanism that is linear has a smaller sum of variances than (sum of singular
// values)^2/n over 2 rho (Li, Miklau 2013), and the residuals reach it.
func TestResidualsAreOptimal(t *testing.T) {
	for _, of := range []ResidualsConfig{countMarginals([]int{2, 3, 4}, cube(3)...), countMarginals([]int{5, 3}, cube(2)...),
		countMarginals([]int{2, 2, 2, 2}, []int{0, 1}, []int{1, 2}, []int{2, 3}, []int{0, 3}),
		countMarginals([]int{3, 4, 2}, []int{0, 1, 2}, []int{0, 1}, []int{0}, []int{})} {
		m := residuals(of, "0.01")
		sum := 0.0
		for k, set := range of.Sets {
			v, _ := m.Noise(k).Parameter().Float64()
			sum += v * float64(of.shownCells(set))
		}
		s := sumOfSingularValues(of)
		best := s * s / float64(m.Len()) / (2 * 0.01)
		if ratio := sum / best; ratio < 1-1e-6 || ratio > 1+1e-6 {
			t.Errorf("%v %v: the variances add up to %v, and %v is the least: %v", of.Sizes, of.Sets, sum, best, ratio)
		}
		// Planted: one attribute's residuals get a tenth of their share.
		for i := range m.parts {
			if len(m.parts[i].axes) == 1 {
				share := m.parts[i].noise.Cost().Rho
				worse, _ := NewGaussian(m.parts[i].noise.Sensitivity(), share/10)
				m.parts[i].noise = worse
			}
		}
		off := 0.0
		for k, set := range of.Sets {
			v, _ := m.marginal(k).Parameter().Float64()
			off += v * float64(of.shownCells(set))
		}
		if off < best*1.01 {
			t.Errorf("%v: a share that is wrong is not seen", of.Sizes)
		}
	}
}

// A set that is left out of what is released shows in the answers.
func TestResidualLeftOut(t *testing.T) {
	of := countMarginals([]int{2, 3}, cube(2)...)
	m := residuals(of, "1000000")
	x := madeUpTable(m.Len(), 5)
	for i := range m.parts {
		broken := *m
		broken.parts = slices.Delete(slices.Clone(m.parts), i, i+1)
		got := seeded(1).ReleaseMarginals(Seal(x...), &broken)
		wrong := false
		for k, set := range of.Sets {
			_, want := marginalBySum(of, x, set)
			wrong = wrong || !slices.Equal(got.Values[k], want)
		}
		if !wrong {
			t.Errorf("the residual of %v is of no use", m.parts[i].axes)
		}
	}
}

// The discrete Gaussian is between two normals, one step apart: what the error bars rest on.
func TestDiscreteGaussianIsNearANormal(t *testing.T) {
	for _, s := range []float64{0.05, 0.2, 0.3, 0.5, 0.7, 1, 2, 10, 300} {
		sum := 0.0
		last := int(12*s) + 3
		for k := -last; k <= last; k++ {
			sum += math.Exp(-float64(k*k) / (2 * s * s))
		}
		tail := 0.0
		for m := last; m >= 1-last; m-- {
			tail += math.Exp(-float64(m*m) / (2 * s * s))
			low, high := math.Erfc(float64(m)/s/math.Sqrt2)/2, math.Erfc(float64(m-1)/s/math.Sqrt2)/2
			if p := tail / sum; p < low*(1-1e-9)-1e-15 || p > high*(1+1e-9)+1e-15 {
				t.Fatalf("s = %v: P(z >= %d) is %v, not between %v and %v", s, m, p, low, high)
			}
		}
	}
}

// Error bars hold, and are not much wider than need be.
func TestMarginalErrorBars(t *testing.T) {
	of := countMarginals([]int{4, 3, 2}, cube(3)...)
	m := residuals(of, "0.02")
	x := madeUpTable(m.Len(), 9)
	r := NewReleaser(entropy.FromReader(newStream(4)))
	const n = 1500
	outside := make([]int, len(of.Sets))
	for range n {
		got := r.ReleaseMarginals(Seal(x...), m)
		for k, set := range of.Sets {
			_, want := marginalBySum(of, x, set)
			if abs(got.Values[k][0]-want[0]) > m.Noise(k).HalfWidth(0.05)+got.ExtraSteps[k] {
				outside[k]++
			}
		}
	}
	for k, set := range of.Sets {
		if share := float64(outside[k]) / n; share > 0.07 || share < 0.015 {
			t.Errorf("%v: %v are outside of %d", set, share, m.Noise(k).HalfWidth(0.05))
		}
		h := m.Noise(k).HalfWidth(0.05)
		if p := m.Noise(k).Tail(h); p > 0.05*(1+1e-6) {
			t.Errorf("the tail at the half width is %v", p)
		}
	}
	if _, err := HalfWidthOfSum(0.05, Term{Mechanism: m.Noise(0), Count: 2, Weight: 1}); err == nil {
		t.Error("cells are not independent, and their noises were added up as if they were")
	}
}

func TestMarginalsRefused(t *testing.T) {
	for _, of := range []ResidualsConfig{
		{}, countMarginals([]int{0}, []int{0}), countMarginals([]int{2}, []int{1}), countMarginals([]int{2}, []int{0, 0}),
		countMarginals([]int{1 << 10, 1 << 10}, []int{0}),
		countMarginals([]int{300, 200}, []int{0, 1}, []int{0}, []int{1}),
		{Sizes: []int{2}, Hidden: []bool{false}, Sets: [][]int{{0}}, Low: new(big.Int), High: new(big.Int)},
		{Sizes: []int{2}, Hidden: []bool{false}, Sets: [][]int{{0}}, Low: big.NewInt(1), High: big.NewInt(2)},
	} {
		if _, err := NewResiduals(of, dp.One); (err == nil) != (len(of.Sizes) == 2 && of.Sizes[0] == 300) {
			t.Errorf("%v: %v", of.Sizes, err)
		}
	}
	if _, err := NewResiduals(tables[0], 0); err == nil {
		t.Error("no price")
	}
	defer func() {
		if recover() == nil {
			t.Error("a marginal was drawn by itself")
		}
	}()
	seeded(1).Release(Seal(1, 2), residuals(tables[0], "1").Noise(0))
}

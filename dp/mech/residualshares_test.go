package mech

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

func substituted(low, high int64, sizes []int, sets ...[]int) ResidualsConfig {
	return ResidualsConfig{Sizes: sizes, Hidden: make([]bool, len(sizes)), Sets: sets, Low: big.NewInt(low), High: big.NewInt(high),
		Neighbours: dp.Substitute}
}

// rollup is what ROLLUP makes of some attributes.
func rollup(n int) (out [][]int) {
	for i := range n + 1 {
		set := []int{}
		for axis := range i {
			set = append(set, axis)
		}
		out = append(out, set)
	}
	return out
}

var substitutedTables = []ResidualsConfig{
	substituted(0, 1, []int{2}, []int{0}, []int{}),
	substituted(0, 1, []int{2, 3}, cube(2)...),
	substituted(0, 3, []int{2, 2, 2}, cube(3)...),
	substituted(-1, 2, []int{3, 2}, cube(2)...),
	substituted(-2, 2, []int{2, 3}, cube(2)...),
	substituted(-2, 0, []int{4}, []int{0}, []int{}),
	substituted(0, 1, []int{3, 1, 2}, []int{0, 1, 2}, []int{1}, []int{}, []int{}),
	substituted(0, 1, []int{3, 3, 2}, []int{0, 1}, []int{1, 2}), // not all subsets
	substituted(0, 2, []int{3, 4, 2}, []int{2}, []int{0, 1}),
	substituted(0, 1, []int{2, 3, 3}, rollup(3)...),
	{Sizes: []int{3, 4}, Hidden: []bool{true, false}, Sets: cube(2), Low: big.NewInt(-1), High: big.NewInt(1), Neighbours: dp.Substitute},
}

// change is what one person who is replaced changes: gone goes from one cell, come comes to
// another.
type change struct {
	gone, come int64
	agree      int // in how many attributes the cells agree
	x          []int64
}

// changes are all that one person can change.
func changes(of ResidualsConfig) (out []change) {
	n := table{of.Sizes}.cells()
	for j := range n {
		for k := range n {
			agree, p, q := 0, j, k
			for i := len(of.Sizes) - 1; i >= 0; i-- {
				if p%of.Sizes[i] == q%of.Sizes[i] {
					agree++
				}
				p, q = p/of.Sizes[i], q/of.Sizes[i]
			}
			for gone := of.Low.Int64(); gone <= of.High.Int64(); gone++ {
				for come := of.Low.Int64(); come <= of.High.Int64(); come++ {
					c := change{gone, come, agree, make([]int64, n)}
					c.x[j] -= gone
					c.x[k] += come
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// squares are, for each change that may be, the squares of how far it moves each residual: by the
// definition, entry by entry of the matrix. Those that are the same are listed once.
func squares(of ResidualsConfig, all [][]int, may func(change) bool) map[string][]*big.Int {
	out := map[string][]*big.Int{}
	for _, c := range changes(of) {
		if !may(c) {
			continue
		}
		var moved []*big.Int
		for _, b := range all {
			sum := new(big.Int)
			for _, v := range residualOf(of, b, c.x) {
				sum.Add(sum, v.Mul(v, v))
			}
			moved = append(moved, sum)
		}
		out[fmt.Sprint(moved)] = moved
	}
	return out
}

func anyChange(change) bool { return true }

// dearest is what the dearest change costs, with so much for each unit of a square.
func dearest(squares map[string][]*big.Int, each []*big.Rat) *big.Rat {
	worst := new(big.Rat)
	for _, moved := range squares {
		sum := new(big.Rat)
		for i, s := range moved {
			sum.Add(sum, new(big.Rat).Mul(each[i], new(big.Rat).SetInt(s)))
		}
		worst = larger(worst, sum)
	}
	return worst
}

// dearestOf is the same for shares.
func dearestOf(of ResidualsConfig, squares map[string][]*big.Int, all [][]int, shares []*big.Int) *big.Rat {
	each := make([]*big.Rat, len(all))
	for i, b := range all {
		each[i] = new(big.Rat).SetFrac(shares[i], of.sensitivity(b))
	}
	return dearest(squares, each)
}

// checkPrice compares a price with what the dearest change costs: never below, and hardly above.
func checkPrice(price, want *big.Rat) error {
	ratio, _ := new(big.Rat).Quo(price, want).Float64()
	if price.Cmp(want) < 0 || ratio > 1+1e-15 {
		return fmt.Errorf("all residuals cost %v together, and %v is claimed", want.FloatString(6), price.FloatString(6))
	}
	return nil
}

// Of each residual by itself the largest square is the one that is claimed.
func TestSubstitutedSensitivity(t *testing.T) {
	for _, of := range substitutedTables {
		all := of.subsets()
		known := squares(of, all, anyChange)
		for i, b := range all {
			worst := new(big.Int)
			for _, moved := range known {
				if moved[i].Cmp(worst) > 0 {
					worst = moved[i]
				}
			}
			if got := of.sensitivity(b); got.Cmp(worst) != 0 {
				t.Errorf("%v of %v: one person moves it by %v, and %v is claimed", b, of.Sizes, worst, got)
			}
		}
	}
}

// The theorem, by all pairs of cells, all numbers between the ends, and random shares.
func TestJointPriceIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, of := range substitutedTables {
		all := of.subsets()
		known := squares(of, all, anyChange)
		for range 50 {
			shares := make([]*big.Int, len(all))
			for i := range shares {
				shares[i] = big.NewInt(1 + int64(math.Exp(r.Float64()*30)))
			}
			if err := checkPrice(of.jointPrice(all, shares), dearestOf(of, known, all, shares)); err != nil {
				t.Errorf("%v %v: %v", of.Sizes, of.Sets, err)
			}
		}
	}
}

// What is easily mistaken is found by the check above: as if people were added or removed; only
// cells that agree in nothing; only those that agree in all but one attribute; only people who add
// as much.
func TestJointPricePlanted(t *testing.T) {
	for name, may := range map[string]func(of ResidualsConfig, c change) bool{
		"people are added or removed":    func(_ ResidualsConfig, c change) bool { return c.gone == 0 || c.come == 0 },
		"cells that agree in nothing":    func(_ ResidualsConfig, c change) bool { return c.agree == 0 },
		"cells next to each other":       func(of ResidualsConfig, c change) bool { return c.agree == len(of.Sizes)-1 },
		"people who add the same number": func(_ ResidualsConfig, c change) bool { return c.gone == c.come },
	} {
		found := 0
		for _, of := range substitutedTables {
			all := of.subsets()
			known, some := squares(of, all, anyChange), squares(of, all, func(c change) bool { return may(of, c) })
			for heavy := range all { // one residual has nearly all of the price
				shares := make([]*big.Int, len(all))
				for i := range shares {
					shares[i] = big.NewInt(1 << 10)
				}
				shares[heavy].Lsh(shares[heavy], 30)
				if checkPrice(dearestOf(of, some, all, shares), dearestOf(of, known, all, shares)) != nil {
					found++
				}
			}
		}
		if t.Logf("%s: found %d times", name, found); found == 0 {
			t.Errorf("%s, and nobody sees it", name)
		}
	}
}

// What is released costs what was asked for, for the dearest of all pairs, and hardly less.
func TestSubstitutedResidualsCostTheirPrice(t *testing.T) {
	for _, of := range substitutedTables {
		known := squares(of, of.subsets(), anyChange)
		for _, rho := range []string{"0.00001", "0.3", "7"} {
			m := residuals(of, rho)
			var each []*big.Rat
			for _, part := range m.parts {
				twice := new(big.Rat).Mul(part.noise.Parameter(), big.NewRat(2, 1))
				each = append(each, twice.Inv(twice))
			}
			worst, price := dearest(known, each), m.Cost().Rho.Rat()
			if part, _ := new(big.Rat).Quo(worst, price).Float64(); worst.Cmp(price) > 0 || part < 1-1e-5 || m.Cost().Rho != amount(rho) {
				t.Errorf("%v %v: %v is charged, and the dearest pair costs %v of it", of.Sizes, of.Sets, m.Cost().Rho, part)
			}
		}
	}
}

// The law itself, outcome by outcome, over all pairs of neighbours: none loses more than is
// claimed, and the dearest nearly as much. With the noise of before the sum of the shares was
// claimed.
func TestSubstitutedResidualsExactly(t *testing.T) {
	for _, of := range []ResidualsConfig{substituted(0, 1, []int{2}, []int{0}, []int{}), substituted(-1, 1, []int{2}, []int{0}, []int{}),
		substituted(0, 1, []int{3}, []int{0}, []int{}), substituted(0, 1, []int{2, 2}, cube(2)...)} {
		m := residuals(of, "4")
		worst := worstLoss(m, func(p residual) *big.Rat { return p.noise.Parameter() })
		less := worstLoss(m, func(p residual) *big.Rat { return new(big.Rat).Mul(p.noise.Parameter(), big.NewRat(9, 10)) })
		for alpha, got := range worst {
			claim := alpha * m.Cost().Rho.Float()
			t.Logf("%v, %v to %v: order %v has %.4f of the claim", of.Sizes, of.Low, of.High, alpha, got/claim)
			if got > claim*(1+1e-6) || got < 0.98*claim {
				t.Errorf("%v: the divergence of order %v is %v, and %v is claimed", of.Sizes, alpha, got, claim)
			}
			if less[alpha] < claim*1.05 {
				t.Errorf("%v: nine tenths of the variance, and nobody sees it: %v of %v", of.Sizes, less[alpha], claim)
			}
		}
	}
}

// worstLoss is the largest Renyi divergence of some orders between what is released of two
// neighbours. Noise is added, so the law of one table is that of another, moved.
func worstLoss(m *Residuals, noise func(residual) *big.Rat) map[float64]float64 {
	laws := make([]map[[4]int64]float64, len(m.parts))
	for i, part := range m.parts {
		laws[i] = residualLaw(m, part, noise(part), make([]int64, m.Len()))
	}
	worst, seen := map[float64]float64{1.5: 0, 2: 0}, map[string]bool{}
	for _, c := range changes(m.of) {
		moves := make([][4]int64, len(m.parts))
		for i, part := range m.parts {
			v := m.residualOf(c.x, part)
			m.table.marginal(part.axes).project(v)
			copy(moves[i][:], nearest(v))
		}
		if name := fmt.Sprint(moves); seen[name] {
			continue
		} else {
			seen[name] = true
		}
		for alpha := range worst {
			total := 0.0
			for i, law := range laws {
				sum := 0.0
				for outcome, a := range law {
					for j := range outcome {
						outcome[j] -= moves[i][j]
					}
					if b := law[outcome]; b > 0 {
						sum += math.Exp(alpha*math.Log(a) + (1-alpha)*math.Log(b))
					}
				}
				total += math.Log(sum) / (alpha - 1)
			}
			worst[alpha] = math.Max(worst[alpha], total)
		}
	}
	return worst
}

// sumOfVariances is that of all cells that are shown.
func (m *Residuals) sumOfVariances() (sum float64) {
	for i, set := range m.of.Sets {
		sum += Variance(m.marginal(i)) * float64(m.of.shownCells(set))
	}
	return sum
}

// What is saved, and that nearly nothing more can be: no other division that costs as much has
// variances that add up to a part in five hundred less.
func TestSubstitutedResidualsAreOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		of   ResidualsConfig
		part float64 // of the variance of before
	}{
		{substituted(0, 1, []int{2, 3}, cube(2)...), 0.539},
		{substituted(0, 1, []int{2, 3, 3}, rollup(3)...), 0.525},
		{substituted(0, 1, []int{4, 4, 4}, cube(3)...), 0.724},
		{substituted(0, 1, []int{5, 10}, cube(2)...), 0.775},
		{substituted(0, 1, []int{2, 2, 2, 2}, cube(4)...), 0.489},
		{substituted(-3, 5, []int{2, 3}, cube(2)...), 0.801},
		{substituted(-5, 5, []int{4, 4, 4}, cube(3)...), 1},
	} {
		m := residuals(c.of, "0.1")
		all, sum := c.of.subsets(), m.sumOfVariances()
		with := func(shares []dp.Amount) float64 {
			other := *m
			other.parts = nil
			for i, share := range shares {
				other.parts = append(other.parts, residual{all[i], m.parts[i].cells,
					must(NewGaussian(m.parts[i].noise.Sensitivity(), share))})
			}
			return other.sumOfVariances()
		}
		weights := c.of.importance(all)
		for i, b := range all {
			weights[i] *= floatOf(c.of.sensitivity(b))
		}
		before := with(divideByRoots(weights, amount("0.1")))
		t.Logf("%v, %d sets: variances add up to %.1f, before %.1f: %.3f", c.of.Sizes, len(c.of.Sets), sum, before, sum/before)
		if math.Abs(sum/before-c.part) > 0.002 {
			t.Errorf("%v: the variances are %.4f of those of before", c.of.Sizes, sum/before)
		}
		x := make([]float64, len(all))
		for range 100 {
			for i, part := range m.parts {
				x[i] = part.noise.Cost().Rho.Float() / floatOf(part.noise.Sensitivity().L2Squared()) * math.Exp(r.NormFloat64()*0.1)
			}
			if other := with(c.of.scaleShares(all, x, amount("0.1"))); other < sum*0.998 {
				t.Errorf("%v: another division has %v of the variances", c.of.Sizes, other/sum)
			}
		}
	}
}

// As a black box: both cells and the total, where somebody of the first is replaced by one of the
// second. What is made for people who are there or not is caught.
func TestSubstitutedResidualsBlackBox(t *testing.T) {
	x, y := []int64{10, 20}, []int64{9, 21}
	claims := map[float64]float64{}
	for _, e := range []float64{0.5, 1, 1.5, 2} {
		claims[e] = deltaOf(0.5, e)
	}
	of := substituted(0, 1, []int{2}, []int{0}, []int{})
	if err := checkHockeyStick(releaseTwo(residuals(of, "0.5")), x, y, draws/32, claims); err != nil {
		t.Error(err)
	}
	of.Neighbours = dp.AddRemove
	if catchHockeyStick(releaseTwo(residuals(of, "4")), x, y, draws/16, claims) == nil {
		t.Error("eight times the price was not noticed")
	}
}

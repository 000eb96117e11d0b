package mech

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
)

// projectionShare is p_B, the part of the variance of a cell that a projection keeps.
func (of ResidualsConfig) projectionShare(b []int) *big.Rat {
	p := big.NewRat(1, 1)
	for _, axis := range b {
		n := int64(of.Sizes[axis])
		p.Mul(p, big.NewRat(n-1, n))
	}
	return p
}

func (of ResidualsConfig) shownCells(set []int) int {
	n := 1
	for _, axis := range set {
		n *= of.shownValues(axis)
	}
	return n
}

func (of ResidualsConfig) shownValues(axis int) int {
	if of.Hidden[axis] {
		return of.Sizes[axis] - 1
	}
	return of.Sizes[axis]
}

// importance is what each residual adds to the sum of variances for each unit of its own.
func (of ResidualsConfig) importance(all [][]int) []float64 {
	out := make([]float64, len(all))
	counted := map[uint]bool{}
	for _, set := range of.Sets {
		whole := of.mask(set)
		if counted[whole] {
			continue // the same numbers, shown twice
		}
		counted[whole] = true
		n := float64(table{of.Sizes}.marginal(set).cells())
		for i, b := range all {
			if mask := of.mask(b); mask&whole == mask {
				out[i] += float64(of.shownCells(set)) / (n * n)
			}
		}
	}
	for i, b := range all {
		p, _ := of.projectionShare(b).Float64()
		out[i] *= p
	}
	return out
}

// shares divides a price among the residuals: see [Residuals].
func (of ResidualsConfig) shares(all [][]int, rho dp.Amount) []dp.Amount {
	importance := of.importance(all)
	if of.Neighbours == dp.Substitute {
		return of.divideSubstituted(all, importance, rho)
	}
	for i, b := range all {
		importance[i] *= floatOf(of.sensitivity(b)) / 2
	}
	return divideByRoots(importance, rho)
}

// divideByRoots divides an amount in proportion to square roots, rounded down; what is left over
// goes to the largest. How well that is done decides how exact the answer is, and nothing else:
// noise is calibrated to the share, and the price is the sum of the shares.
func divideByRoots(importance []float64, amount dp.Amount) []dp.Amount {
	sum := 0.0
	for _, c := range importance {
		sum += math.Sqrt(c)
	}
	out := make([]dp.Amount, len(importance))
	left, largest := amount, 0
	for i, c := range importance {
		out[i] = min(left, dp.Amount(float64(amount)*(math.Sqrt(c)/sum)))
		left -= out[i]
		if c > importance[largest] {
			largest = i
		}
	}
	out[largest] += left
	return out
}

// jointPrice is what residuals cost together under substitution, of which each costs its share by
// itself: in the units of the shares, and rounded up by less than a part in 2^63.
//
// Theorem. Let x_B = share_B/D_B^2 = 1/(2 s_B^2), V = sum of x_B n_B^2 p_B, and for a set S of
// attributes
//
//	G(S) = sum of x_B n_B^2 g_B(S),  g_B(S) = product over B of 1 - 1/n_i in S and -1/n_i outside.
//
// With R = High - Low and M the larger of -Low and High, all residuals together are rho-zCDP with
//
//	rho = max(R^2 V, 2 M^2 (V - min over S of G(S))).
//
// Proof. The release is a product of discrete Gaussians. Moved by u_B, the divergence of order
// alpha of v_B and its noise is at most alpha x_B |u_B|^2 (Canonne, Kamath, Steinke 2020, Theorem
// 14), and those of independent releases add up, so two tables cost alpha times the sum of x_B
// |u_B|^2. Where m in cell j goes and m' in cell k comes, and S is where j and k agree, that is
//
//	(m^2 + m'^2) V - 2 m m' G(S),
//
// by what [Residuals] says of |u_B|^2. It is a sum of squares of what is linear in (m, m'), and so
// convex, and largest where both are Low or High. As |g_B(S)| <= p_B, G is from -V to V, and V
// where j = k. Of two ends m m' <= 0 the most is (m - m')^2 V, at S of all attributes: R^2 V. Of m
// = m' it is 2 m^2 (V - G(S)): 2 M^2 (V - min G).
//
// Each sum of squares is not below itself with smaller x_B, so x_B may be rounded up. All of the
// rest is in integers. All G are computed at once, attribute by attribute: with y_0 the sum over
// sets without it and y_1 with it, y_0 + (n-1) y_1 is that of tables that agree on it, and y_0 -
// y_1 of others (n_B g_B is the product of n_i - 1 and -1). An attribute of one value is in no B.
func (of ResidualsConfig) jointPrice(all [][]int, shares []*big.Int) *big.Rat {
	moved, unit := make([]*big.Int, len(all)), new(big.Int)
	for i, b := range all {
		if moved[i] = of.sensitivity(b); moved[i].Cmp(unit) > 0 {
			unit.Set(moved[i])
		}
	}
	unit.Lsh(unit, 64)
	g := make([]big.Int, 1<<len(of.Sizes))
	for i, b := range all {
		x, rest := new(big.Int).Mul(shares[i], unit), new(big.Int)
		if x.QuoRem(x, moved[i], rest); rest.Sign() > 0 {
			x.Add(x, big.NewInt(1))
		}
		g[of.mask(b)].Mul(x, big.NewInt(int64(table{of.Sizes}.marginal(b).cells())))
	}
	times := new(big.Int)
	of.eachAttribute(func(with, without, n int) {
		times.Mul(&g[with], big.NewInt(int64(n-1)))
		times.Add(times, &g[without])
		g[without].Sub(&g[without], &g[with])
		g[with].Set(times)
	})
	most := &g[len(g)-1] // V
	least := new(big.Int).Set(most)
	for s := range g {
		if g[s].Cmp(least) < 0 {
			least.Set(&g[s])
		}
	}
	width, far := of.reach()
	apart := new(big.Int).Mul(width.Mul(width, width), most)
	least.Sub(most, least).Lsh(least, 1)
	if both := least.Mul(least, far.Mul(far, far)); both.Cmp(apart) > 0 {
		apart = both
	}
	return new(big.Rat).SetFrac(apart, unit)
}

// eachAttribute calls f for all pairs of sets of attributes that differ in one, which has n values.
func (of ResidualsConfig) eachAttribute(f func(with, without, n int)) {
	for i, n := range of.Sizes {
		for set := range 1 << len(of.Sizes) {
			if set>>i&1 == 1 {
				f(set, set&^(1<<i), n)
			}
		}
	}
}

// reach is how far apart what two people add is, and the most that one adds or takes.
func (of ResidualsConfig) reach() (width, far *big.Int) {
	far = new(big.Int).Neg(of.Low)
	if far.Cmp(of.High) < 0 {
		far.Set(of.High)
	}
	return new(big.Int).Sub(of.High, of.Low), far
}

// divisionRounds is how often the division is improved: after that its sum of variances is within
// about a part in a thousand of the least.
const divisionRounds = 100

// divideSubstituted divides a price so that the variances of all cells that are shown add up to
// little, where people are substituted.
//
// The variances are the sum of c_B/(2 x_B), with c_B the importance, and each way in which two
// people can differ says that a sum of a_B x_B is at most rho, as in jointPrice. If the ways had
// weights w and only their mean counted, the best x_B would be in proportion to the root of c_B
// over the mean of a_B (Cauchy, Schwarz). Of the weights those are wanted for which this is worst:
// those of ways that cost more rise, in proportion.
//
// How well that is done decides how exact the answer is, and nothing else: the x_B that come out
// are scaled by what they cost, exactly, and each share is rounded down, so that the shares cost no
// more than the price.
func (of ResidualsConfig) divideSubstituted(all [][]int, importance []float64, rho dp.Amount) []dp.Amount {
	width, far := of.reach()
	r := floatOf(width) / floatOf(far) // all is in units of M
	cells := make([]float64, len(all))
	for i, b := range all {
		cells[i] = float64(table{of.Sizes}.marginal(b).cells())
	}
	full := 1<<len(of.Sizes) - 1
	x := make([]float64, len(all))
	weights, apart := make([]float64, full+1), 1.0 // of cells that agree in a set, and of what is added
	for s := range weights {
		weights[s] = 1
	}
	g := make([]float64, full+1)
	for range divisionRounds {
		// The mean of a_B is n_B^2 times R^2 p_B apart + 2 M^2 (p_B sum of w - sum of w g_B).
		total := 0.0
		for s, w := range weights {
			g[s], total = w, total+w
		}
		of.eachAttribute(func(with, without, n int) {
			g[with], g[without] = float64(n-1)*g[with]-g[without], g[with]+g[without]
		})
		for i, b := range all {
			p := 1.0
			for _, axis := range b {
				p *= float64(of.Sizes[axis] - 1)
			}
			mean := r*r*apart*p + 2*(p*total-g[of.mask(b)])
			x[i] = math.Sqrt(importance[i] / (cells[i] * math.Max(mean, p*(total+apart)*1e-12)))
		}
		clear(g)
		for i, b := range all {
			g[of.mask(b)] = x[i] * cells[i]
		}
		of.eachAttribute(func(with, without, n int) {
			g[with], g[without] = g[without]+float64(n-1)*g[with], g[without]-g[with]
		})
		// What each way costs, relative to all.
		v := g[full]
		scale := 1 / ((r*r + 4) * v)
		for s := range weights {
			weights[s] *= 2 * (v - g[s]) * scale
		}
		apart *= r * r * v * scale
	}
	return of.scaleShares(all, x, rho)
}

// scaleShares makes shares in proportion to x_B D_B^2 that cost no more than a price.
func (of ResidualsConfig) scaleShares(all [][]int, x []float64, rho dp.Amount) []dp.Amount {
	largest := 0.0
	for i, b := range all {
		x[i] *= floatOf(of.sensitivity(b))
		largest = math.Max(largest, x[i])
	}
	parts, out := make([]*big.Int, len(all)), make([]dp.Amount, len(all))
	if !(largest > 0 && largest <= math.MaxFloat64) {
		return out // nothing is shown, or it is beyond all bounds
	}
	for i := range all {
		parts[i], _ = big.NewFloat(x[i] / largest * 0x1p60).Int(nil)
	}
	price := of.jointPrice(all, parts)
	for i, part := range parts {
		// floor(part rho/price). No residual by itself costs more than all.
		n := part.Mul(part, amountInt(rho))
		out[i] = dp.Amount(n.Mul(n, price.Denom()).Quo(n, price.Num()).Uint64())
	}
	return out
}

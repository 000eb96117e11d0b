package mech

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/stat"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

func l1Each(d, each int64) dp.Sensitivity { return dp.NewL1Each(big.NewInt(d), big.NewInt(each)) }

// denseOrders are orders from just above 1 to where the divergence is nearly epsilon.
func denseOrders() (out []float64) {
	for w := 1e-3; w < 1e3; w *= 1.3 {
		out = append(out, 1+w)
	}
	return out
}

// The theorem for one number, by listing the outcomes: no order is above rho, the order next to 1
// comes near to it, and what is divided by the order only falls, as the proof says it does.
func TestLaplaceRhoOfOneNumber(t *testing.T) {
	for _, a := range []float64{0.02, 0.1, 0.5, 1, 2.5, 6} {
		p := laplaceLogs(new(big.Rat).SetFloat64(1 / a))
		for _, m := range []int64{1, 2, 3, 4, 7, 20} {
			want := oneNumber(a, m)
			last := math.Inf(1)
			for _, order := range denseOrders() {
				got := renyi(p, m, order) / order
				margin := 1e-13/(order-1) + 1e-12*want
				if got > want+margin || got > last+margin {
					t.Fatalf("a %v, %d steps: order %v has %v, the one before %v, and rho is %v", a, m, order, got, last, want)
				}
				last = got
			}
			if first := renyi(p, m, 1.0001) / 1.0001; first < want*0.999-1e-9 {
				t.Errorf("a %v, %d steps: rho is %v, and order 1 has %v", a, m, want, first)
			}
			if sum := leastOrder(p, m); math.Abs(sum-want) > 1e-9*want+1e-14 {
				t.Errorf("a %v, %d steps: the divergence is %v, and the formula says %v", a, m, sum, want)
			}
		}
	}
}

// oneNumber is rho(m) by the other way of writing it.
func oneNumber(a float64, m int64) float64 {
	q := math.Exp(-a)
	return a * (float64(m) - 2*q/(1-q*q)*(1-math.Pow(q, float64(m))))
}

// leastOrder is the divergence of order 1, of Kullback and Leibler, between a law and itself moved
// by d.
func leastOrder(p []float64, d int64) (sum float64) {
	for i := int(d); i < len(p); i++ {
		sum += math.Exp(p[i]) * (p[i] - p[i-int(d)])
	}
	return sum
}

// moves calls f with all ways to move a vector by at most d steps, none of its numbers by more than
// each. Their order and their signs make no difference.
func moves(d, each int64, f func([]int64)) {
	var walk func(v []int64, left, most int64)
	walk = func(v []int64, left, most int64) {
		f(v)
		for m := int64(1); m <= min(left, most); m++ {
			walk(append(v, m), left-m, m)
		}
	}
	walk(nil, d, each)
}

// The theorem for vectors, by all moves of small ones: none costs more at any order, and one costs
// as much.
func TestLaplaceRhoOfVectors(t *testing.T) {
	for _, epsilon := range []string{"0.05", "0.5", "1", "4", "20"} {
		for d := int64(1); d <= 9; d++ {
			for each := int64(1); each <= d; each++ {
				m := must(NewLaplace(l1Each(d, each), amount(epsilon)))
				if err := checkVectors(m, d, each); err != nil {
					t.Errorf("epsilon %v, %v: %v", epsilon, m.Sensitivity(), err)
				}
			}
		}
	}
}

func checkVectors(m *Laplace, d, each int64) error {
	p, rho := laplaceLogs(m.Parameter()), m.Cost().Rho.Float()
	known := map[float64][]float64{} // by order, of each number of steps
	all := []float64{1, 1.01, 1.3, 2, 5, 30}
	for _, order := range all {
		for steps := range d + 1 {
			v := 0.0
			if order == 1 && steps > 0 {
				v = leastOrder(p, steps)
			} else if steps > 0 {
				v = renyi(p, steps, order) / order
			}
			known[order] = append(known[order], v)
		}
	}
	worst, at := 0.0, ""
	moves(d, each, func(v []int64) {
		for _, order := range all {
			sum := 0.0
			for _, steps := range v {
				sum += known[order][steps]
			}
			if sum > worst {
				worst, at = sum, fmt.Sprintf("moved by %v, order %v", v, order)
			}
		}
	})
	if margin := 1e-9*rho + 2e-12; worst > rho+margin || worst < rho-margin {
		return fmt.Errorf("%s costs %v, and rho is %v", at, worst, rho)
	}
	return nil
}

// What is easily mistaken is found by the check above: all of the steps as if each number moved
// one, what is left forgotten, one move less, and the noise of fewer steps.
func TestLaplaceRhoOfVectorsPlanted(t *testing.T) {
	claim := func(d, each, ofD, ofEach int64, epsilon string) error {
		m := must(NewLaplace(l1Each(d, each), amount(epsilon)))
		wrong := *m
		wrong.cost.Rho = must(rhoOfLaplace(l1Each(ofD, ofEach), must(dp.Ceil(new(big.Rat).Quo(big.NewRat(ofD, 1), m.Parameter())))))
		return checkVectors(&wrong, d, each)
	}
	for name, err := range map[string]error{
		"as if each moved one":      claim(6, 3, 6, 1, "1"),
		"as if each moved one less": claim(6, 3, 6, 2, "1"),
		"what is left is forgotten": claim(7, 3, 6, 3, "1"),
		"one number less":           claim(5, 1, 4, 1, "0.5"),
		"one number moves all":      claim(5, 1, 5, 5, "0.5"),
	} {
		if err == nil {
			t.Errorf("%s, and nobody sees it", name)
		}
	}
	if err := claim(7, 3, 7, 3, "1"); err != nil {
		t.Errorf("the right claim: %v", err)
	}
}

// Vectors that are too large to be listed: no random move that is allowed costs more.
func TestLaplaceRhoIsTheWorst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		each := rapid.Int64Range(1, 1000).Draw(t, "each")
		d := rapid.Int64Range(each, 50*each).Draw(t, "d")
		epsilon := dp.Amount(rapid.Uint64Range(uint64(dp.One)>>10, uint64(dp.One)<<6).Draw(t, "epsilon"))
		m := must(NewLaplace(l1Each(d, each), epsilon))
		a := epsilon.Float() / float64(d)
		left, sum := d, 0.0
		for left > 0 {
			step := rapid.Int64Range(max(1, each-3), each).Draw(t, "step")
			if rapid.Bool().Draw(t, "any") {
				step = rapid.Int64Range(1, each).Draw(t, "step")
			}
			step = min(step, left)
			sum, left = sum+oneNumber(a, step), left-step
		}
		// The other way of writing it loses digits where q is near 1.
		if rho := m.Cost().Rho.Float(); sum > rho+1e-9*epsilon.Float() {
			t.Fatalf("a vector costs %v, and rho is %v", sum, rho)
		}
	})
}

// expMinus is exp(-x) for x >= 0, to 200 bits after the point.
func expMinus(x *big.Float) *big.Float {
	half, n := new(big.Float).SetPrec(500).Set(x), 0
	for half.Cmp(big.NewFloat(0.5)) > 0 {
		half.Quo(half, big.NewFloat(2))
		n++
	}
	sum, term := big.NewFloat(1).SetPrec(500), big.NewFloat(1).SetPrec(500)
	for k := 1; k < 90; k++ {
		term.Mul(term, half).Quo(term, big.NewFloat(float64(-k)))
		sum.Add(sum, term)
	}
	for range n {
		sum.Mul(sum, sum)
	}
	return sum
}

// Rounding: what is charged is never below the sum in 500 bits, and at most a unit and a little
// above.
func TestLaplaceRhoIsRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Range(1, 1<<uint(rapid.IntRange(1, 45).Draw(t, "bits"))).Draw(t, "d")
		each := rapid.Int64Range(1, d).Draw(t, "each")
		if rapid.Bool().Draw(t, "few") {
			each = max(1, d/rapid.Int64Range(1, 20).Draw(t, "numbers"))
		}
		epsilon := dp.Amount(rapid.Uint64Range(1, uint64(dp.One)<<uint(rapid.IntRange(0, 8).Draw(t, "size"))).Draw(t, "epsilon"))
		got := must(rhoOfLaplace(l1Each(d, each), epsilon))
		f := func(x int64) *big.Float { return new(big.Float).SetPrec(500).SetInt64(x) }
		a := new(big.Float).SetPrec(500).SetRat(epsilon.Rat())
		a.Quo(a, f(d))
		q := expMinus(a)
		// rho(m) = a m - 2 a q/(1-q^2) (1-q^m)
		of := func(m int64) *big.Float {
			factor := new(big.Float).Sub(f(1), new(big.Float).Mul(q, q))
			factor.Quo(new(big.Float).Mul(f(2), q), factor)
			factor.Mul(factor, new(big.Float).Sub(f(1), expMinus(new(big.Float).Mul(a, f(m)))))
			return factor.Mul(a, factor.Sub(f(m), factor))
		}
		want := new(big.Float).Mul(f(d/each), of(each))
		want.Add(want, of(d%each))
		have := new(big.Float).SetPrec(500).SetRat(got.Rat())
		over, _ := have.Sub(have, want).Float64()
		if e := epsilon.Float(); over < 0 || over > 0x1p-40+e*0x1p-46 {
			t.Fatalf("d %d, each %d, epsilon %v: charged %v too much", d, each, epsilon, over)
		}
	})
}

// What is saved: C counts that one person moves by one, and the two of a person who is replaced.
func TestLaplaceRhoOfCounts(t *testing.T) {
	for _, c := range []struct {
		d       int64
		epsilon string
		times   float64
	}{{5, "0.5", 4.29}, {10, "1", 7.38}, {2, "0.1", 1.95}, {2, "1", 1.61}} {
		before := laplace(c.d, c.epsilon).Cost().Rho.Float()
		after := must(NewLaplace(l1Each(c.d, 1), amount(c.epsilon))).Cost()
		one := must(NewLaplace(l1(1), amount(c.epsilon)/dp.Amount(c.d))).Cost().Rho.Float()
		times := before / after.Rho.Float()
		t.Logf("%d counts at epsilon %s: rho %.6f, before %.6f: %.2f times", c.d, c.epsilon, after.Rho.Float(), before, times)
		if math.Abs(after.Rho.Float()-float64(c.d)*one) > 1e-9 || after.Epsilon != amount(c.epsilon) {
			t.Errorf("%d counts cost %v, and one %v", c.d, after, one)
		}
		if math.Abs(times-c.times) > 0.01 {
			t.Errorf("%d counts at epsilon %s are %.3f times cheaper", c.d, c.epsilon, times)
		}
	}
}

// checkRho bounds the divergence between the answers on two neighbours from below, by that of every
// event, and compares it to rho.
func (s answers) checkRho(rho float64) error {
	alpha := lossError / float64(4*len(s.events))
	for i, e := range s.events {
		for _, pair := range [][2]int{{s.a[i], s.b[i]}, {s.b[i], s.a[i]}} {
			p, q := stat.LowerBound(pair[0], s.n, alpha), stat.UpperBound(pair[1], s.n, alpha)
			if p <= q || p <= 0 || q >= 1 {
				continue
			}
			got := p * math.Log(p/q)
			if p < 1 {
				got += (1 - p) * math.Log((1-p)/(1-q))
			}
			if got > rho {
				return fmt.Errorf("%s: the divergence is at least %v, above %v", e.name, got, rho)
			}
		}
	}
	return nil
}

// Replay and black box: two counts that one person moves by one each, and those who move one of
// them by two are no neighbours.
func TestLaplaceOfCounts(t *testing.T) {
	m := must(NewLaplace(l1Each(2, 1), 4*dp.One))
	f := releaseWith(m)
	for _, y := range [][]int64{{11, 11}, {11, 9}, {10, 11}, {9, 10}} {
		if err := checkReplay(f, []int64{10, 10}, y, dp.L1); err != nil {
			t.Errorf("%v: %v", y, err)
		}
	}
	if checkReplay(f, []int64{10, 10}, []int64{12, 10}, dp.L1) == nil {
		t.Error("one number moved by two, and nobody saw it")
	}
	n := daily.Rounds(draws/8, draws)
	if err := drawAnswers(f, []int64{10, 10}, []int64{11, 11}, n).checkRho(m.Cost().Rho.Float()); err != nil {
		t.Error(err)
	}
	// Planted: the rho of counts for a sum that one person moves by two.
	if drawAnswers(f, []int64{10, 10}, []int64{12, 10}, n).checkRho(m.Cost().Rho.Float()) == nil {
		t.Error("a number that moves by two was paid for as two that move by one, and nobody saw it")
	}
}

// Private keys in rho: a person in C groups moves each count by one, so the noise is that of C
// times the price of one, and the threshold is lower than where one count might move by C.
func TestKeysInRho(t *testing.T) {
	for _, groups := range []int{1, 2, 5, 10} {
		for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
			c := KeyConfig{GroupsPerUnit: groups, Neighbours: n, Rho: amount("0.1"), Delta: amount("1e-6"), Noise: "laplace"}
			k := keyThreshold(c)
			d := c.movedGroups()
			if err := checkVectors(k.noise.(*Laplace), d, 1); err != nil {
				t.Errorf("%d groups, %v: %v", groups, n, err)
			}
			if spent := k.Cost().Rho; spent > c.Rho || spent < c.Rho-c.Rho/1000 {
				t.Errorf("%d groups, %v: %v is spent of %v", groups, n, spent, c.Rho)
			}
			before := must(newKeyThreshold(c, must(c.laplace(l1(d))), dp.Cost{}, c.Delta))
			t.Logf("%d groups, %v: threshold %d, before %d", groups, n, k.tau, before.tau)
			if d > 1 && k.tau >= before.tau || d == 1 && k.tau != before.tau {
				t.Errorf("%d groups, %v: threshold %d, and %d where one count moves by %d", groups, n, k.tau, before.tau, d)
			}
		}
	}
	// Weights are not counts: a person with one key moves its weight by all that there is.
	c := KeyConfig{GroupsPerUnit: 3, Rho: amount("0.1"), Delta: amount("1e-6"), Noise: "laplace"}
	if s := must(NewKeyWeights(c)).noise.Sensitivity(); s.Each().Cmp(s.L1()) != 0 {
		t.Errorf("weights move by %v", s)
	}
}

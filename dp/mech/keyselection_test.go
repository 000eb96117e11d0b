package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/stat"
)

// expSeries is a partial sum of exp(x), below it by less than 1e-50 for x <= 4.
func expSeries(x *big.Rat) *big.Rat {
	sum, term := big.NewRat(1, 1), big.NewRat(1, 1)
	for n := int64(1); n < 90; n++ {
		term.Mul(term, x).Quo(term, big.NewRat(n, 1))
		sum.Add(sum, term)
	}
	return sum
}

// checkKeySelection checks a table in exact rationals: both inequalities and their mirror images,
// from the first entry, which must be 0, to the last, which must be 1.
func checkKeySelection(keep []uint64, e, d *big.Rat) error {
	unit := new(big.Int).SetUint64(probabilityOne)
	at := func(n int) *big.Rat { return new(big.Rat).SetFrac(new(big.Int).SetUint64(keep[n]), unit) }
	not := func(p *big.Rat) *big.Rat { return new(big.Rat).Sub(big.NewRat(1, 1), p) }
	growth := expSeries(e)
	if keep[0] != 0 || keep[len(keep)-1] != probabilityOne {
		return fmt.Errorf("from %v to %v", at(0), at(len(keep)-1))
	}
	for n := range len(keep) - 1 {
		for _, pair := range [][2]*big.Rat{
			{at(n), at(n + 1)}, {at(n + 1), at(n)}, {not(at(n)), not(at(n + 1))}, {not(at(n + 1)), not(at(n))},
		} {
			bound := new(big.Rat).Mul(growth, pair[1])
			if pair[0].Cmp(bound.Add(bound, d)) > 0 {
				return fmt.Errorf("%d units: %s is above exp(e) %s + d", n, pair[0].FloatString(12), pair[1].FloatString(12))
			}
		}
	}
	return nil
}

func TestKeySelectionIsPrivateExactly(t *testing.T) {
	for _, c := range []KeyConfig{
		{GroupsPerUnit: 1, Epsilon: dp.One, Delta: amount("1e-6")},
		{GroupsPerUnit: 3, Epsilon: dp.One * 2, Delta: amount("1e-9")},
		{GroupsPerUnit: 1, Epsilon: amount("0.1"), Delta: amount("1e-3")},
		{GroupsPerUnit: 2, Neighbours: dp.Substitute, Epsilon: dp.One * 8, Delta: 4},
	} {
		k := must(NewKeySelection(c))
		groups := big.NewRat(c.movedGroups(), 1)
		e, d := new(big.Rat).Quo(c.Epsilon.Rat(), groups), new(big.Rat).Quo(c.Delta.Rat(), groups)
		if err := checkKeySelection(k.keep, e, d); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if cost := k.Cost(); cost.Epsilon != c.Epsilon || cost.Delta != c.Delta || cost.Rho >= c.Epsilon {
			t.Errorf("%v", cost)
		}
	}
}

// It is the largest table there is: the closed form of Desfontaines, Voss,
// Gipson 2020 up to the middle, and never below a threshold of the same price.
func TestKeySelectionIsOptimal(t *testing.T) {
	c := KeyConfig{GroupsPerUnit: 1, Epsilon: dp.One, Delta: amount("1e-6")}
	k := must(NewKeySelection(c))
	delta := c.Delta.Float()
	middle := 1 + int64(math.Floor(math.Log((math.E+2*delta-1)/((math.E+1)*delta))))
	for n := int64(0); n <= middle; n++ {
		want := delta * math.Expm1(float64(n)) / math.Expm1(1)
		if got := ratFloat(k.Probability(n)); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%d units: %v, want %v", n, got, want)
		}
	}
	threshold := must(laplaceKeys(c))
	law := lawOfKeys(threshold, honestKeys(threshold))
	for n := int64(1); n < 60; n++ {
		if a, b := ratFloat(k.Probability(n)), 1-law(n)[hidden]; a < b-1e-12 {
			t.Errorf("%d units: kept with %v, and with %v by a threshold", n, a, b)
		}
	}
	if k.KeptFrom(0.5) > threshold.tau || k.KeptFrom(0) != int64(len(k.keep)-1) ||
		k.keepProbability(math.MaxInt64) != probabilityOne || k.keepProbability(-1) != 0 {
		t.Errorf("kept from %d, threshold %d", k.KeptFrom(0.5), threshold.tau)
	}
	t.Logf("half of the groups of %d units are kept, threshold %d; all from %d", k.KeptFrom(0.5), threshold.tau, k.KeptFrom(0))
}

// expBelow is below, by less than 2^-100 of itself.
func TestExpBelow(t *testing.T) {
	for _, x := range []*big.Rat{big.NewRat(0, 1), big.NewRat(1, 1<<40), big.NewRat(1, 3), big.NewRat(4, 1)} {
		got := new(big.Rat).SetFrac(expBelow(x), new(big.Int).Lsh(big.NewInt(1), expBits))
		want := expSeries(x)
		gap := new(big.Rat).Sub(want, got)
		if gap.Sign() < 0 || gap.Quo(gap, want).Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 100))) > 0 {
			t.Errorf("exp(%v): %v", x, got.FloatString(40))
		}
	}
	if expBelow(big.NewRat(1000, 1)).Cmp(expBelow(big.NewRat(40, 1))) != 0 {
		t.Error("exp(1000)")
	}
}

func TestKeySelectionDraws(t *testing.T) {
	k := must(NewKeySelection(KeyConfig{GroupsPerUnit: 1, Epsilon: dp.One, Delta: dp.One / 20}))
	const runs = 20000
	hits, r := make([]int, 10), seeded(51)
	for range runs {
		for _, i := range r.SelectKeys(Seal(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), k) {
			hits[i]++
		}
	}
	for n, h := range hits {
		p := ratFloat(k.Probability(int64(n)))
		if low, high := stat.LowerBound(h, runs, 1e-7), stat.UpperBound(h, runs, 1e-7); p < low || p > high+1e-15 {
			t.Errorf("%d units: %d of %d, want %v", n, h, runs, p)
		}
	}
}

func TestKeySelectionPlantedBugs(t *testing.T) {
	e, d := big.NewRat(1, 2), big.NewRat(1, 2000)
	table := func(e, d *big.Rat) []uint64 {
		return must(selectionTable(e, d))
	}
	good := table(e, d)
	if err := checkKeySelection(good, e, d); err != nil {
		t.Fatal(err)
	}
	change := func(f func(keep []uint64)) []uint64 {
		keep := append([]uint64(nil), good...)
		f(keep)
		return keep
	}
	for _, c := range []struct {
		name string
		keep []uint64
	}{
		{"epsilon not shared by two groups", table(big.NewRat(1, 1), d)},
		{"delta not shared by two groups", table(e, big.NewRat(1, 1000))},
		{"an empty group is kept", change(func(k []uint64) { k[0] = k[1] })},
		{"one unit off in the first half", change(func(k []uint64) { k[1] += 2 })},
		{"one unit off in the second half", change(func(k []uint64) { k[len(k)-3] += 1 << 13 })},
		{"off by one place", append([]uint64{0}, good[2:]...)},
		{"only the first inequality", change(func(k []uint64) {
			for n := 1; n < len(k); n++ {
				k[n] = uint64(math.Min(1, math.Ldexp(float64(k[n-1]), -63)*math.Exp(0.5)+0.0004999) * probabilityOne)
			}
		})},
	} {
		if err := checkKeySelection(c.keep, e, d); err == nil {
			t.Errorf("%s: not caught", c.name)
		} else {
			t.Logf("%s: %v", c.name, err)
		}
	}
}

func TestKeySelectionRefuses(t *testing.T) {
	for _, c := range []KeyConfig{
		{GroupsPerUnit: 1, Rho: dp.One, Delta: dp.One / 10},
		{GroupsPerUnit: 1 << 30, Epsilon: dp.One, Delta: 1},
		{GroupsPerUnit: 1, Epsilon: 10, Delta: 1},
	} {
		if k, err := NewKeySelection(c); !errors.Is(err, errKeys) {
			t.Errorf("%+v: %v, %v", c, k, err)
		}
	}
}

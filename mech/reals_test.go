package mech

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"
	"testing"
)

// Scaled numbers are within their bound of better ones, for large and small scales.
func TestRealsApproximate(t *testing.T) {
	for _, gaussian := range []bool{false, true} {
		unit := seeded(4).Reals(5, gaussian, 1).Approximate(2000)
		for _, scale := range []float64{1, 0.7, 1e-300, 3e5, 1.5e300, math.SmallestNonzeroFloat64} {
			r := seeded(4).Reals(5, gaussian, scale)
			if r.Len() != 5 || r.Scale() != scale {
				t.Errorf("%d numbers of scale %v", r.Len(), r.Scale())
			}
			for _, bits := range []uint{0, 10, 64, 300, 500} {
				for i, x := range r.Approximate(bits) {
					want := new(big.Float).SetPrec(4000).Mul(unit[i], big.NewFloat(scale))
					d := want.Sub(want, x)
					if d.Abs(d).Cmp(new(big.Float).SetMantExp(big.NewFloat(1.0001), -int(bits))) > 0 {
						t.Errorf("scale %v, %d bits: number %d is off by %v", scale, bits, i, d)
					}
				}
			}
		}
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("scale %v was accepted", bad)
				}
			}()
			seeded(1).Reals(1, false, bad)
		}()
	}
}

// What is drawn of them, and when, changes nothing that the releaser draws for others,
// and the other way around.
func TestRealsAreApart(t *testing.T) {
	m := laplace(t, 1, "0.01")
	run := func(bits []uint, between bool) (noisy []int64, a, b []*big.Float) {
		r := seeded(6)
		x := r.Reals(3, false, 2)
		for _, n := range bits {
			x.Approximate(n)
		}
		y := r.Reals(3, true, 2)
		if between {
			x.Approximate(400)
		}
		noisy = r.Release(Exactly(1, 2, 3), m)
		return noisy, x.Approximate(900), y.Approximate(900)
	}
	n1, a1, b1 := run(nil, false)
	for _, bits := range [][]uint{{64}, {500, 10}, {1, 200, 1000}} {
		n2, a2, b2 := run(bits, true)
		if !slices.Equal(n1, n2) {
			t.Errorf("%v: the releases are %v and %v", bits, n1, n2)
		}
		for i := range a1 {
			if a1[i].Text('g', 200) != a2[i].Text('g', 200) || b1[i].Text('g', 200) != b2[i].Text('g', 200) {
				t.Errorf("%v: number %d depends on who asks when", bits, i)
			}
		}
		if a1[0].Cmp(b1[0]) == 0 {
			t.Error("two vectors are one")
		}
	}
}

// A call says which noise, and its scale, and holds no value.
func TestRealsRecord(t *testing.T) {
	r := seeded(1)
	var calls []Call
	r.Record(func(c Call) { calls = append(calls, c) })
	x := r.Reals(3, false, 0.75)
	r.Reals(4, true, 3)
	x.Approximate(1000)
	if len(calls) != 2 || calls[0].Mechanism != ObjectiveRadial || calls[1].Mechanism != ObjectiveGaussian {
		t.Fatalf("calls %v", calls)
	}
	if calls[0].Parameter.RatString() != "3/4" || calls[1].Parameter.RatString() != "3" || calls[0].Values.Len() != 0 ||
		calls[0].Sensitivity.Norm() != 0 {
		t.Errorf("calls %v", calls)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%d"} {
		if text := fmt.Sprintf(verb, x); text != "[noise]" {
			t.Errorf("%s shows %s", verb, text)
		}
	}
}

// TestRealsConcurrent is for the race detector.
func TestRealsConcurrent(t *testing.T) {
	r := seeded(1)
	x, m := r.Reals(10, false, 3), laplace(t, 1, "1")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 20 {
				x.Approximate(uint(100*i + 50*j))
				r.Release(Exactly(1, 2), m)
			}
		})
	}
	wg.Wait()
}

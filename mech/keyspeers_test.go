package mech

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// zipf are the numbers of people of keys that people have with probabilities in proportion to
// rank^-1.2, one key each: 100,000 people and 5,000 keys, of which some 4,000 are there.
func zipf() []int64 {
	rng := rand.New(rand.NewPCG(20, 3))
	sums := make([]float64, 5000)
	for i := range sums {
		sums[i] = math.Pow(float64(i+1), -1.2)
		if i > 0 {
			sums[i] += sums[i-1]
		}
	}
	counts := make([]int64, len(sums))
	for range 100_000 {
		x := rng.Float64() * sums[len(sums)-1]
		low, high := 0, len(sums)-1
		for low < high {
			if middle := (low + high) / 2; sums[middle] <= x {
				low = middle + 1
			} else {
				high = middle
			}
		}
		counts[low]++
	}
	return counts
}

// Keys and counts against those of peers at the same budget, by the exact laws of both: no fewer
// keys are shown, and what is shown is no further off. The peers' noise is continuous, or on a
// lattice so fine that it may as well be: Laplace noise with the threshold 1 - ln(2 delta)/epsilon
// (Google's library, at (1, 1e-6)), and Gaussian noise with the threshold of its own tail (OpenDP,
// at the same rho and delta).
func TestKeysAgainstPeers(t *testing.T) {
	counts := zipf()
	type law struct {
		tail   func(x float64) float64 // of noise beyond x
		second func(x float64) float64 // the second moment of what is beyond x
		tau    float64
	}
	laplace := law{func(x float64) float64 {
		if x < 0 {
			return 1 - math.Exp(x)/2
		}
		return math.Exp(-x) / 2
	}, func(x float64) float64 {
		half := func(x float64) float64 { return math.Exp(-x) * (x*x + 2*x + 2) / 2 }
		if x < 0 {
			return 2 - half(-x)
		}
		return half(x)
	}, 1 - math.Log(2e-6)}
	sigma := 1 / math.Sqrt(2*0.02)
	normal := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	gaussian := law{func(x float64) float64 { return normal(x / sigma) }, func(x float64) float64 {
		z := x / sigma
		return sigma * sigma * (z*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi) + normal(z))
	}, 0}
	for gaussian.tau = 1; normal((gaussian.tau-1)/sigma) > 5e-7; gaussian.tau += 1e-4 {
	}
	for name, c := range map[string]struct {
		config KeyConfig
		peer   law
	}{
		"laplace at (1, 1e-6)":          {KeyConfig{GroupsPerUnit: 1, Epsilon: dp.One, Delta: amount(t, "1e-6")}, laplace},
		"gaussian at rho 0.02 and 5e-7": {KeyConfig{GroupsPerUnit: 1, Rho: amount(t, "0.02"), Delta: amount(t, "5e-7")}, gaussian},
	} {
		k := keyThreshold(t, c.config)
		ours := lawOfKeys(k, honestKeys(k))
		var shown, squares, theirs, theirSquares float64
		present := 0
		for _, n := range counts {
			if n == 0 {
				continue
			}
			present++
			for u, p := range ours(n) {
				if u != hidden {
					shown += p
					squares += p * float64(u-n) * float64(u-n)
				}
			}
			theirs += c.peer.tail(c.peer.tau - float64(n))
			theirSquares += c.peer.second(c.peer.tau - float64(n))
		}
		rmse, theirRMSE := math.Sqrt(squares/shown), math.Sqrt(theirSquares/theirs)
		t.Logf("%s, of %d keys: %.1f are shown, with RMSE %.3f; by the peer %.1f, with %.3f", name, present, shown, rmse, theirs, theirRMSE)
		if shown < theirs*0.999 || rmse > theirRMSE*1.001 {
			t.Errorf("%s: %.1f keys with RMSE %.3f, and the peer has %.1f with %.3f", name, shown, rmse, theirs, theirRMSE)
		}
	}
}

// Where people have several keys, weights show more keys than counts at the same price, and tokens
// that come back show more than weights by degree alone.
func TestWeightsAgainstCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	const people, keys, most = 20_000, 4000, 8
	units := make([][]int32, people)
	for i := range units {
		for range 1 + int(math.Min(most-1, rng.ExpFloat64()*3)) {
			g := int32(math.Min(keys-1, math.Exp(rng.Float64()*math.Log(keys))-1))
			if !slices.Contains(units[i], g) {
				units[i] = append(units[i], g)
			}
		}
	}
	slices.SortStableFunc(units, func(a, b []int32) int { return cmp.Compare(len(a), len(b)) }) // as engines do
	counts := make([]int64, keys)
	for _, own := range units {
		for _, g := range own {
			counts[g]++
		}
	}
	for _, c := range []KeyConfig{{GroupsPerUnit: most, Rho: amount(t, "0.05"), Delta: amount(t, "1e-6")},
		{GroupsPerUnit: most, Epsilon: dp.One, Delta: amount(t, "1e-6"), Noise: "laplace"}} {
		expected := func(x crossing, values []int64) (sum float64) {
			for _, n := range values {
				if least := x.least(n); n > 0 && least > 0 {
					sum += x.noise.Tail(least-1) / 2
				} else if n > 0 {
					sum += 1 - x.noise.Tail(-least)/2
				}
			}
			return sum
		}
		k, err := NewKeyWeights(c)
		if err != nil {
			t.Fatal(err)
		}
		plain := *k // without tokens, and with the room that never ends
		plain.room = math.MaxInt32
		counted := expected(keyThreshold(t, c).crossing, counts)
		byDegree := expected(k.crossing, honestly(&plain, keys)(units))
		adapted := expected(k.crossing, honestly(k, keys)(units))
		t.Logf("%s noise: counts show %.1f keys, weights by degree %.1f, and adapted ones %.1f", k.noise.Name(), counted, byDegree, adapted)
		if !(adapted > 1.02*byDegree && byDegree > 1.2*counted) {
			t.Errorf("%s noise: counts show %.1f keys, weights by degree %.1f, and adapted ones %.1f", k.noise.Name(), counted, byDegree,
				adapted)
		}
	}
}

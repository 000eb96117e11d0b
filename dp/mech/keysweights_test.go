package mech

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/sealed"
)

// smallWeights are weights of few steps, whose groups are soon full, so that all that can happen
// does.
func smallWeights(t testing.TB, c KeyConfig, norm dp.Norm, steps, room int64) *KeyWeights {
	t.Helper()
	k := must(newWeightsInNorm(c, norm, steps))
	if room > 0 {
		k.groupTokens = room
	}
	return k
}

// weigher is how weights are added up, by the code under test or by one with a bug.
type weigher func(units [][]int32) []int64

func weighHonestly(k *KeyWeights, groups int) weigher {
	return func(units [][]int32) []int64 { return k.weigh(MembersOf(units...), groups).Open() }
}

// furthestMove compares many databases with and without one unit, and returns the largest move as a
// part of what is claimed, or an error where something falls, or a new group weighs more than it
// may.
func furthestMove(k *KeyWeights, weigh weigher, groups, c int, norm dp.Norm, n int) (ratio float64, err error) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	claim := new(big.Float).SetInt(k.sensitivityIn(norm))
	for range n {
		units := make([][]int32, rng.IntN(14))
		popular := rng.IntN(groups)
		for i := range units {
			for g := range groups {
				if len(units[i]) < c && (rng.IntN(3) == 0 || g == popular && rng.IntN(3) > 0) {
					units[i] = append(units[i], int32(g))
				}
			}
		}
		var v []int32
		for _, g := range rng.Perm(groups)[:1+rng.IntN(c)] {
			v = append(v, int32(g))
		}
		slices.Sort(v)
		x, y := weigh(units), weigh(slices.Insert(slices.Clone(units), rng.IntN(len(units)+1), v))
		move, others := new(big.Int), 0
		for g := range x {
			d := y[g] - x[g]
			if d < 0 {
				return ratio, fmt.Errorf("with %v more, of %v, the weight of %d falls from %d to %d", v, units, g, x[g], y[g])
			}
			if x[g] == 0 && y[g] > 0 {
				others++
			}
			if norm == dp.L1 {
				move.Add(move, big.NewInt(d))
			} else {
				move.Add(move, square(d))
			}
		}
		for g := range x {
			if most := k.tokensByDegree[len(v)]*(k.stepsPerToken+int64(len(v)-others)) + k.extraSteps[len(v)]; x[g] == 0 && y[g] > most {
				return ratio, fmt.Errorf("of %d groups %d are new, and one weighs %d; at most %d may", len(v), others, y[g], most)
			}
		}
		r, _ := new(big.Float).Quo(new(big.Float).SetInt(move), claim).Float64()
		ratio = math.Max(ratio, r)
	}
	if ratio > 1 {
		return ratio, fmt.Errorf("one unit moves the weights %v times as far as is claimed", ratio)
	}
	return ratio, nil
}

// One unit moves the weights no further than the noise is made for, in either norm, wherever it
// stands, whoever is there, however full groups are; and a bound that nothing came near would prove
// nothing.
func TestWeightsMoveNoFurther(t *testing.T) {
	for _, c := range []int{1, 2, 3, 5} {
		for _, norm := range []dp.Norm{dp.L1, dp.L2} {
			for _, room := range []int64{1, 3, 20, 0} {
				k := smallWeights(t, KeyConfig{GroupsPerUnit: c, Rho: dp.One, Delta: amount("1e-3")}, norm, 120, 0)
				if room > 0 {
					k.groupTokens = max(room, slices.Max(k.tokensByDegree))
				}
				ratio, err := furthestMove(k, weighHonestly(k, 6), 6, c, norm, 1000)
				if err != nil || ratio < 0.8 {
					t.Errorf("%d groups, %v, room %d: %v, %v", c, norm, k.groupTokens, ratio, err)
				}
			}
		}
	}
}

// To share what comes back costs nothing: one unit moves the weights by the norm that they were cut
// to, and by no more.
func TestSharingCostsNothing(t *testing.T) {
	for _, c := range []int{1, 2, 3, 4, 7, 20, 64, 100, 1000} {
		for _, norm := range []dp.Norm{dp.L1, dp.L2} {
			k := smallWeights(t, KeyConfig{GroupsPerUnit: c, Rho: dp.One, Delta: amount("1e-6")}, norm, weightSteps, 0)
			want := big.NewInt(weightSteps)
			if norm == dp.L2 {
				want = square(weightSteps)
			}
			if got := k.sensitivityIn(norm); got.Cmp(want) > 0 {
				t.Errorf("%d groups, %v: %v steps, and the weights are of %v", c, norm, got, want)
			}
			if got := k.weight(1); got < weightSteps*999/1000 {
				t.Errorf("%d groups, %v: one key weighs %d", c, norm, got)
			}
		}
	}
}

// Planted bugs: each moves the weights too far, or lets one fall.
func TestWeightsPlanted(t *testing.T) {
	const c, groups = 3, 6
	for _, norm := range []dp.Norm{dp.L1, dp.L2} {
		k := smallWeights(t, KeyConfig{GroupsPerUnit: c, Rho: dp.One, Delta: amount("1e-3")}, norm, 120, 0)
		k.groupTokens = slices.Max(k.tokensByDegree)
		for name, weigh := range map[string]weigher{
			"what comes back counts twice": func(units [][]int32) []int64 {
				return weighPlanted(k, units, groups, func(_ int, back int64) int64 { return 3 * back })
			},
			"units in more groups than they may be": func(units [][]int32) []int64 {
				for i, own := range units {
					if len(own) == c {
						units[i] = []int32{0, 1, 2, 3, 4, 5}
					}
				}
				more := *k
				more.tokensByDegree, more.extraSteps = slices.Clone(k.tokensByDegree), slices.Clone(k.extraSteps)
				for len(more.tokensByDegree) < 7 {
					more.tokensByDegree = append(more.tokensByDegree, k.tokensByDegree[c])
					more.extraSteps = append(more.extraSteps, k.extraSteps[c])
				}
				return more.weigh(MembersOf(units...), groups).Open()
			},
			"an order that follows from how many there are": func(units [][]int32) []int64 {
				if len(units)%2 == 1 {
					units = slices.Clone(units)
					slices.Reverse(units)
				}
				return k.weigh(MembersOf(units...), groups).Open()
			},
			"room that follows from how many there are": func(units [][]int32) []int64 {
				other := *k
				other.groupTokens += int64(len(units)%2) * 10
				return other.weigh(MembersOf(units...), groups).Open()
			},
			"the weights of one key for all": func(units [][]int32) []int64 {
				other := *k
				other.extraSteps = slices.Repeat([]int64{k.weight(1)}, len(k.extraSteps))
				other.tokensByDegree = make([]int64, len(k.tokensByDegree))
				return other.weigh(MembersOf(units...), groups).Open()
			},
		} {
			if ratio, err := furthestMove(k, weigh, groups, c, norm, 20_000); err == nil {
				t.Errorf("%v: %s was not noticed: %v", norm, name, ratio)
			}
		}
	}
}

// weighPlanted is weigh, with another rule for what comes back.
func weighPlanted(k *KeyWeights, units [][]int32, groups int, back func(d int, n int64) int64) []int64 {
	weights, taken := make([]int64, groups), make([]int64, groups)
	for _, own := range units {
		n := int64(0)
		for _, g := range own {
			fit := min(k.tokensByDegree[len(own)], k.groupTokens-taken[g])
			taken[g] += fit
			n += k.tokensByDegree[len(own)] - fit
		}
		for _, g := range own {
			weights[g] += k.extraSteps[len(own)] + back(len(own), n)
		}
	}
	for g := range weights {
		weights[g] += taken[g] * k.stepsPerToken
	}
	return weights
}

// What cannot be is left out: a unit counts once in a group, and nowhere where it is in too many.
func TestWeighClamps(t *testing.T) {
	k := smallWeights(t, KeyConfig{GroupsPerUnit: 2, Rho: dp.One, Delta: amount("1e-3")}, dp.L2, 120, 0)
	once, twice := k.weigh(MembersOf([]int32{1}), 3).Open(), k.weigh(MembersOf([]int32{1, 1, 1}), 3).Open()
	if !slices.Equal(once, twice) || once[1] == 0 {
		t.Errorf("%v, and three times %v", once, twice)
	}
	for _, own := range [][]int32{{0, 1, 2}, {-1}, {3}, {}} {
		if got := k.weigh(MembersOf(own), 3).Open(); !slices.Equal(got, []int64{0, 0, 0}) {
			t.Errorf("%v weighs %v", own, got)
		}
	}
}

// The exact delta at epsilon of what is released of two groups, over databases with and without one
// unit in one or both of them, is within the claim.
func TestWeightsArePrivateExactly(t *testing.T) {
	for _, norm := range []dp.Norm{dp.L1, dp.L2} {
		c := KeyConfig{GroupsPerUnit: 2, Epsilon: 2 * dp.One, Delta: amount("0.01")}
		k := smallWeights(t, c, norm, 12, 0)
		law := lawOfKeys(&KeyThreshold{countThreshold: k.countThreshold}, func(n, noise int64) bool { return n > 0 && k.passes(n, noise) })
		weigh := weighHonestly(k, 2)
		lost := func(x, y []int64) float64 {
			p, q, worst := []map[int64]float64{law(x[0]), law(x[1])}, []map[int64]float64{law(y[0]), law(y[1])}, 0.0
			for range 2 {
				sum := 0.0
				for u, pu := range p[0] {
					for v, pv := range p[1] {
						sum += math.Max(0, pu*pv-math.Exp(c.Epsilon.Float())*q[0][u]*q[1][v])
					}
				}
				worst, p, q = math.Max(worst, sum), q, p
			}
			return worst
		}
		most := 0.0
		for _, units := range [][][]int32{{}, {{0}}, {{0, 1}}, {{0}, {0}, {0}, {0, 1}}, slices.Repeat([][]int32{{0, 1}}, 5),
			slices.Repeat([][]int32{{0}}, 12)} {
			for _, v := range [][]int32{{0, 1}, {1}} {
				most = math.Max(most, lost(weigh(units), weigh(append([][]int32{v}, units...))))
			}
		}
		if claim := k.Cost().Delta.Float(); most > claim*(1+1e-9) || most < claim/20 {
			t.Errorf("%v: delta is %v, and %v is claimed", norm, most, claim)
		}
		// A planted bug: a threshold for units that are in one group only.
		low := *k
		low.tau = k.weight(1) / 2
		passes := func(n, noise int64) bool { return n > 0 && low.passes(n, noise) }
		law = lawOfKeys(&KeyThreshold{countThreshold: low.countThreshold}, passes)
		if got := lost(weigh(nil), weigh([][]int32{{0, 1}})); got <= k.Cost().Delta.Float() {
			t.Errorf("%v: a threshold of %d loses %v", norm, low.tau, got)
		}
	}
}

// The claim covers every number of new groups that a unit can have, of what they weigh at most.
func TestWeightsOfNewGroups(t *testing.T) {
	for _, c := range []int{1, 2, 5, 9, 40, 100} {
		for _, norm := range []dp.Norm{dp.L1, dp.L2} {
			k := smallWeights(t, KeyConfig{GroupsPerUnit: c, Rho: dp.One / 8, Delta: amount("1e-6")}, norm, weightSteps, 0)
			for d := 1; d <= c; d++ {
				for alone := 1; alone <= d; alone += 1 + d/8 {
					w := k.tokensByDegree[d]*(k.stepsPerToken+int64(d-alone)) + k.extraSteps[d]
					if got := k.anyPassProbability(w, alone); got > k.Cost().Delta.Float() {
						t.Errorf("%d groups, %v: %d of %d new are released with probability %v, and %v is charged", c, norm, alone, d, got,
							k.Cost().Delta)
					}
				}
			}
		}
	}
}

// In both currencies the charge is what was given, and groups that are kept are those with more.
func TestKeyWeights(t *testing.T) {
	delta := amount("1e-6")
	for _, neighbours := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
		for _, c := range []KeyConfig{{GroupsPerUnit: 5, Epsilon: dp.One, Delta: delta}, {GroupsPerUnit: 5, Rho: dp.One / 2, Delta: delta},
			{GroupsPerUnit: 2, Epsilon: dp.One, Delta: delta, Noise: "laplace"}} {
			c.Neighbours = neighbours
			k := must(NewKeyWeights(c))
			if k.Cost().Delta > delta || c.Rho > 0 && k.Cost().Rho > c.Rho || c.Epsilon > 0 && k.Cost().Epsilon != c.Epsilon {
				t.Errorf("%+v costs %v", c, k.Cost())
			}
			plain := keyThreshold(c)
			// Where everybody is in as many groups as they may be, weights are counts, and as good.
			if got, want := k.KeptFrom(0.05), plain.KeptFrom(0.05); float64(got) > float64(want)*1.1+1 {
				t.Errorf("%+v keeps groups of %d, and a count those of %d", c, got, want)
			}
			r := NewReleaser(entropy.FromReader(rand.NewChaCha8([32]byte{1})))
			var units [][]int32
			for range plain.KeptFrom(0.001) { // in one group each, where they may be in several
				units = append(units, []int32{0})
			}
			units = append(units, []int32{0, 1})
			kept := 0
			for range 200 {
				keys := r.ReleaseWeighedKeys(MembersOf(units...), 2, k)
				if len(keys) > 1 || len(keys) == 1 && keys[0].Index != 0 {
					t.Fatalf("%+v: %v", c, keys)
				}
				kept += len(keys)
			}
			if kept < 190 {
				t.Errorf("%+v: kept %d of 200", c, kept)
			}
		}
	}
	if _, err := NewKeyWeights(KeyConfig{GroupsPerUnit: 2000, Epsilon: dp.One, Delta: delta}); err == nil {
		t.Error("units in 2000 groups are weighed")
	}
}

// Replay: two neighbours ask the releaser for the same noise, draw as much, and what it is added to
// is no further apart than it is made for.
func TestReleaseWeighedReplay(t *testing.T) {
	for _, neighbours := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
		k := must(NewKeyWeights(KeyConfig{GroupsPerUnit: 3, Neighbours: neighbours, Rho: dp.One, Delta: amount("1e-6")}))
		rng := rand.New(rand.NewPCG(3, 4))
		own := func() (out []int32) {
			for _, g := range rng.Perm(6)[:1+rng.IntN(3)] {
				out = append(out, int32(g))
			}
			return out
		}
		worst := 0.0
		for range 300 {
			units := make([][]int32, 40+rng.IntN(100))
			for i := range units {
				units[i] = own()
			}
			at := rng.IntN(len(units))
			other := slices.Delete(slices.Clone(units), at, at+1)
			if neighbours == dp.Substitute {
				other = slices.Insert(other, rng.IntN(len(units)), own())
			}
			var calls []Call
			for _, u := range [][][]int32{units, other} {
				r := NewReleaser(entropy.FromReader(rand.NewChaCha8([32]byte{9})))
				r.Record(func(c Call) { calls = append(calls, c) })
				r.ReleaseWeighedKeys(MembersOf(u...), 6, k)
			}
			a, b := calls[0], calls[1]
			move, ok := sealed.Between(a.Values, b.Values)
			if !ok || a.Mechanism != b.Mechanism || a.Parameter.Cmp(b.Parameter) != 0 || a.Sensitivity.String() != b.Sensitivity.String() ||
				move.L2Squared.Cmp(a.Sensitivity.L2Squared()) > 0 || neighbours == dp.AddRemove && move.Up {
				t.Fatalf("%v: %+v and %+v are %v apart", neighbours, a, b, move)
			}
			r, _ := new(big.Rat).SetFrac(move.L2Squared, a.Sensitivity.L2Squared()).Float64()
			worst = math.Max(worst, r)
		}
		if worst < 0.7 {
			t.Errorf("%v: at most %v of the way", neighbours, worst)
		}
	}
}

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
		"laplace at (1, 1e-6)":          {KeyConfig{GroupsPerUnit: 1, Epsilon: dp.One, Delta: amount("1e-6")}, laplace},
		"gaussian at rho 0.02 and 5e-7": {KeyConfig{GroupsPerUnit: 1, Rho: amount("0.02"), Delta: amount("5e-7")}, gaussian},
	} {
		k := keyThreshold(c.config)
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
	for _, c := range []KeyConfig{{GroupsPerUnit: most, Rho: amount("0.05"), Delta: amount("1e-6")},
		{GroupsPerUnit: most, Epsilon: dp.One, Delta: amount("1e-6"), Noise: "laplace"}} {
		expected := func(x countThreshold, values []int64) (sum float64) {
			for _, n := range values {
				if least := x.leastNoise(n); n > 0 && least > 0 {
					sum += x.noise.Tail(least-1) / 2
				} else if n > 0 {
					sum += 1 - x.noise.Tail(-least)/2
				}
			}
			return sum
		}
		k := must(NewKeyWeights(c))
		plain := *k // without tokens, and with the room that never ends
		plain.groupTokens = math.MaxInt32
		counted := expected(keyThreshold(c).countThreshold, counts)
		byDegree := expected(k.countThreshold, weighHonestly(&plain, keys)(units))
		adapted := expected(k.countThreshold, weighHonestly(k, keys)(units))
		t.Logf("%s noise: counts show %.1f keys, weights by degree %.1f, and adapted ones %.1f", k.noise.Name(), counted, byDegree, adapted)
		if !(adapted > 1.02*byDegree && byDegree > 1.2*counted) {
			t.Errorf("%s noise: counts show %.1f keys, weights by degree %.1f, and adapted ones %.1f", k.noise.Name(), counted, byDegree,
				adapted)
		}
	}
}

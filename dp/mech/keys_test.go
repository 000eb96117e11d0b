package mech

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/entropy"
)

func keyThreshold(c KeyConfig) *KeyThreshold { return must(NewKeyThreshold(c)) }

// keyLaw is the exact distribution of what is released of a group of n units,
// made with the test under test: the noisy count, or hidden.
type keyLaw func(n int64) map[int64]float64

const (
	hidden  = math.MinInt64
	swapped = -1
)

func lawOfKeys(k *KeyThreshold, passes func(n, noise int64) bool) keyLaw {
	var at func(z int64) float64
	reach := int64(0)
	switch l := k.noise.law().(type) {
	case laplaceLaw:
		at, reach = func(z int64) float64 { return lapAt(l.b, z) }, int64(40*l.b)+40
	case gaussianLaw:
		at, reach = func(z int64) float64 { return l.Weight(float64(z)) / l.Z }, int64(12*l.S)+12
	}
	return func(n int64) map[int64]float64 {
		out := map[int64]float64{}
		for z := -reach; z <= reach; z++ {
			p := 0.0
			switch {
			case passes != nil && passes(n, z), passes == nil && k.keeps(n, z, probabilityOne-1):
				p = 1
			case passes == nil && k.keeps(n, z, 0): // at the edge
				p, _ = k.EdgeProbability().Float64()
			}
			if p > 0 {
				out[n+z] += p * at(z)
			}
			out[hidden] += (1 - p) * at(z)
		}
		return out
	}
}

// honestKeys is the test of ReleaseKeys, with its edge.
func honestKeys(*KeyThreshold) func(n, noise int64) bool { return nil }

// checkKeys computes the exact delta at epsilon between two vectors of groups in which one unit is
// in all of one or two groups or in none, in both directions. With groups = swapped it is replaced:
// it leaves one group and enters the other.
func checkKeys(law keyLaw, groups int, starts []int64, epsilon, delta float64) error {
	for _, a := range starts {
		for _, b := range starts {
			x := []map[int64]float64{law(a), law(b)}
			y := []map[int64]float64{law(a + 1), law(b + 1)}
			switch groups {
			case 1:
				y[1] = x[1]
			case swapped:
				x[1], y[1] = y[1], x[1]
			}
			for _, pair := range [][2][]map[int64]float64{{x, y}, {y, x}} {
				p, q, sum := pair[0], pair[1], 0.0
				for u, pu := range p[0] {
					if groups == 1 {
						sum += math.Max(0, pu-math.Exp(epsilon)*q[0][u])
						continue
					}
					for v, pv := range p[1] {
						sum += math.Max(0, pu*pv-math.Exp(epsilon)*q[0][u]*q[1][v])
					}
				}
				if sum > delta*(1+1e-9)+1e-12 {
					return fmt.Errorf("from %d and %d units: delta is %v, above %v", a, b, sum, delta)
				}
			}
		}
	}
	return nil
}

func TestKeyThresholdIsPrivateExactly(t *testing.T) {
	for _, c := range []KeyConfig{
		{GroupsPerUnit: 1, Epsilon: dp.One, Delta: amount("1e-4")},
		{GroupsPerUnit: 1, Epsilon: amount("0.4"), Delta: amount("1e-3")},
		{GroupsPerUnit: 2, Epsilon: dp.One * 2, Delta: amount("1e-4")},
		{GroupsPerUnit: 2, Epsilon: dp.One, Delta: amount("0.01")},
	} {
		k := keyThreshold(c)
		starts := []int64{0, 1, k.tau - 1, k.tau + 3}
		if err := checkKeys(lawOfKeys(k, honestKeys(k)), c.GroupsPerUnit, starts, c.Epsilon.Float(), k.Cost().Delta.Float()); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		g := must(gaussianKeys(c))
		starts = []int64{0, 1, g.tau - 1, g.tau + 3}
		if err := checkKeys(lawOfKeys(g, honestKeys(g)), c.GroupsPerUnit, starts, c.Epsilon.Float(), g.Cost().Delta.Float()); err != nil {
			t.Errorf("%+v, Gaussian: %v", c, err)
		}
	}
}

// Under substitution both sides can have a group of their own, and delta is paid once.
func TestKeyThresholdIsPrivateUnderSubstitution(t *testing.T) {
	c := KeyConfig{GroupsPerUnit: 1, Neighbours: dp.Substitute, Epsilon: dp.One, Delta: amount("0.01")}
	k := keyThreshold(c)
	starts := []int64{0, 1, k.tau - 1, k.tau + 3}
	if err := checkKeys(lawOfKeys(k, honestKeys(k)), swapped, starts, 1, k.Cost().Delta.Float()); err != nil {
		t.Error(err)
	}
	c.Neighbours = dp.AddRemove
	k = keyThreshold(c)
	if err := checkKeys(lawOfKeys(k, honestKeys(k)), swapped, starts, 1, k.Cost().Delta.Float()); err == nil {
		t.Error("noise for adding and removing passes for replacing")
	}
}

// The threshold is the lowest that delta pays for, and what is charged is what the tail comes to.
func TestKeyThresholdIsLowest(t *testing.T) {
	for _, groups := range []int{1, 2, 5, 100} {
		for _, rho := range []bool{false, true} {
			c := KeyConfig{GroupsPerUnit: groups, Epsilon: dp.One, Delta: amount("1e-6")}
			if rho {
				c.Epsilon, c.Rho = 0, dp.One/2
			}
			k := keyThreshold(c)
			lower := countThreshold{k.noise, k.tau - 1}
			pays := c.Delta
			if !rho && k.noise.Name() == "gaussian" {
				pays -= c.Delta / 2
			}
			if k.anyPassProbability(1, groups) > pays.Float() || lower.anyPassProbability(1, groups) <= pays.Float() {
				t.Errorf("%d groups: threshold %d has tail %v", groups, k.tau, k.anyPassProbability(1, groups))
			}
			// With its edge it spends nearly all of it, and never more.
			if got := probabilityOfAny(k.probabilityAlone()(k.edge), groups); got > pays.Float() || got < pays.Float()*0.999 {
				t.Errorf("%d groups: threshold %d with edge %v has tail %v of %v", groups, k.tau, k.EdgeProbability(), got, pays)
			}
			if k.Cost().Delta > c.Delta || k.Cost().Delta == 0 {
				t.Errorf("%d groups: %v is charged", groups, k.Cost())
			}
		}
	}
}

// The continuous threshold, 1 - C ln(2 - 2(1-d)^(1/C))/e, and ours, which is
// the next integer or the one after it: on the integers P(noise >= k) is larger
// than the continuous tail, by the share of k itself.
func TestKeyThresholdGolden(t *testing.T) {
	for _, c := range []struct {
		groups int
		want   float64
		ours   int64
	}{{1, 14.1, 15}, {5, 74.7, 76}} {
		n := float64(c.groups)
		continuous := 1 - n*math.Log(-2*math.Expm1(math.Log1p(-1e-6)/n))
		if math.Abs(continuous-c.want) > 0.05 {
			t.Errorf("%d groups: %v, want %v", c.groups, continuous, c.want)
		}
		k, err := laplaceKeys(KeyConfig{GroupsPerUnit: c.groups, Epsilon: dp.One, Delta: amount("1e-6")})
		if err != nil || k.tau != c.ours || float64(k.tau) < continuous || float64(k.tau) > continuous+2 {
			t.Errorf("%d groups: threshold %d, continuous %v, %v", c.groups, k.tau, continuous, err)
		}
	}
}

// Gaussian noise is better where a unit is in many groups.
func TestKeyThresholdChooses(t *testing.T) {
	first := map[bool]int{}
	for _, rho := range []bool{false, true} {
		was := "laplace"
		for groups := 1; groups <= 40; groups++ {
			c := KeyConfig{GroupsPerUnit: groups, Epsilon: dp.One, Delta: amount("1e-6")}
			if rho {
				c.Epsilon, c.Rho = 0, dp.One/10
			}
			k := keyThreshold(c)
			if k.other == nil || k.other.tau < k.tau {
				t.Errorf("%d groups: %s", groups, k.Reason())
			}
			if now := k.noise.Name(); now != was {
				if was == "gaussian" {
					t.Errorf("%d groups: back to %s", groups, now)
				}
				was, first[rho] = now, groups
				t.Logf("rho %v, from %d groups: %s", rho, groups, k.Reason())
			}
		}
	}
	if first[false] < 3 || first[false] > 12 || first[true] > 4 {
		t.Errorf("Gaussian noise from %v", first)
	}
}

func TestKeyThresholdKeeps(t *testing.T) {
	k := keyThreshold(KeyConfig{GroupsPerUnit: 1, Epsilon: dp.One, Delta: amount("1e-6")})
	n := k.KeptFrom(0.05)
	law := lawOfKeys(k, honestKeys(k))
	if p := law(n)[hidden]; p > 0.05 || law(n - 1)[hidden] <= 0.05 {
		t.Errorf("from %d: hidden with %v", n, p)
	}
	if k.KeptFrom(0) != math.MaxInt64 {
		t.Error("nothing is kept for certain")
	}
}

func TestReleaseKeys(t *testing.T) {
	k := keyThreshold(KeyConfig{GroupsPerUnit: 1, Epsilon: dp.One, Delta: amount("1e-6")})
	counts := Seal(1000, 0, 1, math.MaxInt64, -5, math.MinInt64, 500)
	got := seeded(5).ReleaseKeys(counts, k)
	if len(got) != 3 || got[0].Index != 0 || got[1].Index != 3 || got[2].Index != 6 || abs(got[2].Units-500) > 40 ||
		got[1].Units < math.MaxInt64-40 {
		t.Errorf("%v", got)
	}
	if got := seeded(5).ReleaseKeys(Seal(), k); len(got) != 0 {
		t.Errorf("%v out of nothing", got)
	}
}

// A group without units is never released, even where its noise would pass.
func TestEmptyKeysStayHidden(t *testing.T) {
	c := KeyConfig{GroupsPerUnit: 1, Epsilon: dp.One / 4, Delta: dp.One / 3}
	k := keyThreshold(c)
	if got := seeded(1).ReleaseKeys(Seal(make([]int64, 1000)...), k); len(got) != 0 {
		t.Errorf("%d empty groups are released", len(got))
	}
	s := must(NewKeySelection(c))
	// Zero is the smallest number that can be drawn.
	zeros := NewReleaser(entropy.FromReader(bytes.NewReader(make([]byte, 64))))
	if got := zeros.SelectKeys(Seal(0, 1, 0), s); len(got) != 1 || got[0] != 1 {
		t.Errorf("%v are kept", got)
	}
}

// keysUnder is a release of keys as the checkers of Release know it: hidden groups are 0.
func keysUnder(release func(*Releaser, Exact) []Key) releaseFunc {
	return func(r *Releaser, x []int64) []int64 {
		out := make([]int64, len(x))
		for _, k := range release(r, Seal(x...)) {
			out[k.Index] = k.Units
		}
		return out
	}
}

// checkKeysReplay compares what is drawn and called on neighbours.
func checkKeysReplay(f releaseFunc, x, y []int64) error {
	run := func(v []int64) (calls []Call, next uint64) {
		r := NewReleaser(entropy.FromReader(newStream(7)))
		r.Record(func(c Call) { calls = append(calls, c) })
		f(r, v)
		return calls, r.src.Uint64()
	}
	a, nextA := run(x)
	b, nextB := run(y)
	if len(a) != 1 || len(b) != 1 || a[0].Mechanism != b[0].Mechanism || a[0].Parameter.Cmp(b[0].Parameter) != 0 {
		return fmt.Errorf("the calls are %v and %v", a, b)
	}
	if nextA != nextB {
		return errors.New("more was drawn on one side")
	}
	return checkDistance(a[0].Values, b[0].Values, a[0].Sensitivity)
}

func TestKeysReplayAndStatistics(t *testing.T) {
	c := KeyConfig{GroupsPerUnit: 2, Epsilon: dp.One, Delta: amount("0.05")}
	k := keyThreshold(c)
	s := must(NewKeySelection(c))
	for name, f := range map[string]releaseFunc{
		"threshold": keysUnder(func(r *Releaser, x Exact) []Key { return r.ReleaseKeys(x, k) }),
		"selection": keysUnder(func(r *Releaser, x Exact) (out []Key) {
			for _, i := range r.SelectKeys(x, s) {
				out = append(out, Key{i, 1})
			}
			return out
		}),
	} {
		for _, pair := range [][2][]int64{
			{{0, 1, 30}, {1, 1, 31}}, {{k.tau, k.tau}, {k.tau + 1, k.tau - 1}}, {{1 << 40, 0, 0}, {1<<40 - 1, 0, 1}},
		} {
			if err := checkKeysReplay(f, pair[0], pair[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, pair := range [][2][]int64{{{0, 0}, {1, 1}}, {{k.tau, 0}, {k.tau + 1, 1}}, {{3, 4}, {4, 5}}} {
			m := drawAnswers(f, pair[0], pair[1], 30000)
			if err := m.check(map[float64]float64{1: k.Cost().Delta.Float()}); err != nil && name == "threshold" {
				t.Errorf("%s: %v", name, err)
			}
			if err := m.check(map[float64]float64{1: s.Cost().Delta.Float()}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestKeysPlantedBugs(t *testing.T) {
	c := KeyConfig{GroupsPerUnit: 1, Epsilon: dp.One, Delta: amount("1e-3")}
	k := keyThreshold(c)
	starts := []int64{0, 1, k.tau - 1, k.tau, k.tau + 3}
	check := func(passes func(n, noise int64) bool) error {
		return checkKeys(lawOfKeys(k, passes), 1, starts, 1, k.Cost().Delta.Float())
	}
	two := KeyConfig{GroupsPerUnit: 2, Epsilon: dp.One, Delta: amount("1e-3")}
	checkTwo := func(k *KeyThreshold) error {
		return checkKeys(lawOfKeys(k, honestKeys(k)), 2, []int64{0, k.tau + 3}, 1, amount("1e-3").Float())
	}
	honest2 := keyThreshold(two)
	if err := check(honestKeys(k)); err != nil {
		t.Error(err)
	}
	if err := checkTwo(honest2); err != nil {
		t.Error(err)
	}
	pureTwo, _ := NewLaplace(l1(2), dp.One)
	once, _ := newCountThreshold(pureTwo, 1, 1, two.Delta.Float()) // delta for one group only
	for _, b := range []struct {
		name string
		err  error
	}{
		// The threshold that P(noise > k) allows is one lower than that of P(noise >= k).
		{"the tail is for > and the test is >=", check(func(n, z int64) bool { return n > 0 && n+z >= k.tau-1 })},
		{"the exact count is tested", check(func(n, _ int64) bool { return n >= k.tau })},
		{"large groups are not tested", check(func(n, z int64) bool { return n > k.tau || n > 0 && k.passes(n, z) })},
		{"no threshold", check(func(n, _ int64) bool { return n > 0 })},
		{"noise for one group, used for two", checkTwo(k)},
		{"delta for one group, used for two", checkTwo(&KeyThreshold{countThreshold: once})},
		{"small groups draw nothing, replay", checkKeysReplay(keysUnder(func(r *Releaser, x Exact) []Key {
			var v []int64
			for _, n := range x.Open() {
				if n > 1 {
					v = append(v, n)
				}
			}
			return r.ReleaseKeys(Seal(v...), k)
		}), []int64{9, 1, 7}, []int64{9, 2, 7})},
		{"no threshold, statistical", checkHockeyStick(keysUnder(func(r *Releaser, x Exact) (out []Key) {
			for i, n := range r.Release(x, k.noise) {
				if x.Open()[i] > 0 {
					out = append(out, Key{i, n})
				}
			}
			return out
		}), []int64{0}, []int64{1}, 10000, map[float64]float64{1: 1e-3})},
	} {
		if b.err == nil {
			t.Errorf("%s: not caught", b.name)
		} else {
			t.Logf("%s: %v", b.name, b.err)
		}
	}
}

func TestKeysRefuseBadConfigs(t *testing.T) {
	good := KeyConfig{GroupsPerUnit: 1, Epsilon: dp.One, Delta: dp.One / 1000}
	for _, c := range []struct {
		change func(*KeyConfig)
		want   error
	}{
		{func(k *KeyConfig) { k.GroupsPerUnit = 0 }, errKeys},
		{func(k *KeyConfig) { k.GroupsPerUnit = -3 }, errKeys},
		{func(k *KeyConfig) { k.GroupsPerUnit = math.MaxInt }, errKeys},
		{func(k *KeyConfig) { k.Delta = 0 }, errKeys},
		{func(k *KeyConfig) { k.Delta = dp.One }, errKeys},
		{func(k *KeyConfig) { k.Delta = dp.Unbounded }, errKeys},
		{func(k *KeyConfig) { k.Epsilon = 0 }, ErrNoPrivacy},
		{func(k *KeyConfig) { k.Epsilon = dp.Unbounded }, ErrNoPrivacy},
		{func(k *KeyConfig) { k.Rho = dp.One }, errKeys},
	} {
		bad := good
		c.change(&bad)
		if _, err := NewKeyThreshold(bad); !errors.Is(err, c.want) {
			t.Errorf("threshold, %+v: %v", bad, err)
		}
		if _, err := NewKeySelection(bad); !errors.Is(err, c.want) {
			t.Errorf("selection, %+v: %v", bad, err)
		}
	}
	// Substitution moves twice as many groups.
	sub := good
	sub.Neighbours = dp.Substitute
	a, b := keyThreshold(good), keyThreshold(sub)
	if a.noise.Sensitivity().String() != "1 (l1)" || b.noise.Sensitivity().String() != "2 (l1), each at most 1" || a.tau >= b.tau {
		t.Errorf("%v and %v", a.noise.Sensitivity(), b.noise.Sensitivity())
	}
}

// The order that is found makes delta what it is known to be: within a part in
// a thousand of the best on a fine grid, and never below it.
func TestDeltaOfRho(t *testing.T) {
	for _, c := range [][2]string{{"0.01", "1"}, {"0.1", "1"}, {"0.5", "4.7283869849433139"}, {"0.001", "0.3"}} {
		rho, epsilon := amount(c[0]), amount(c[1])
		best := math.Inf(1)
		for x := -8.0; x < 12; x += 0.001 {
			a := 1 + math.Exp(x)
			best = math.Min(best, (a-1)*(a*rho.Float()-epsilon.Float())+a*math.Log1p(-1/a)-math.Log(a-1))
		}
		if got := deltaOfRho(rho, epsilon); got < math.Exp(best)*(1-1e-4) || got > math.Exp(best)*1.001 {
			t.Errorf("%v: %v, want %v", c, got, math.Exp(best))
		}
	}
	// eps_tight of rho = 0.5 at delta = 1e-5, from the reference values.
	if got := deltaOfRho(dp.One/2, amount("4.7283869849433139")); math.Abs(got/1e-5-1) > 1e-6 {
		t.Errorf("%v", got)
	}
}

// BenchmarkKeys releases keys out of a million groups.
func BenchmarkKeys(b *testing.B) {
	const n = 1_000_000
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i % 50)
	}
	counts, r := Seal(v...), NewReleaser(noise.NewSource())
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/group")
		})
	}
	c := KeyConfig{GroupsPerUnit: 1, Epsilon: dp.One, Delta: dp.One / 1_000_000}
	laplace, _ := laplaceKeys(c)
	gaussian, _ := gaussianKeys(c)
	selection, _ := NewKeySelection(c)
	run("laplace", func() { r.ReleaseKeys(counts, laplace) })
	run("gaussian", func() { r.ReleaseKeys(counts, gaussian) })
	run("selection", func() { r.SelectKeys(counts, selection) })
}

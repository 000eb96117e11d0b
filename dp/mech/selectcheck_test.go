package mech

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// wordReader is a stream of chosen 64-bit words, and then of a byte that is neither all zeros
// nor all ones.
type wordReader struct {
	w    []uint64
	read int
}

func (f *wordReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0x35
		if f.read/8 < len(f.w) {
			p[i] = binary.BigEndian.AppendUint64(nil, f.w[f.read/8])[f.read%8]
		}
		f.read++
	}
	return len(p), nil
}

func sourceOfWords(w ...uint64) *noise.Source { return entropy.FromReader(&wordReader{w: w}) }

// lawOf is the probability of each candidate.
type lawOf func(scores []int64) []float64

// fine is the number of digits to which measured probabilities are right.
const fine = 44

// measureProbability returns for how large a share of first words a monotone decision is true.
func measureProbability(decide func(src *noise.Source) bool) float64 {
	low, high := uint64(0), uint64(1)<<fine
	for low < high {
		if mid := low + (high-low)/2; decide(sourceOfWords(mid << (64 - fine))) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return math.Ldexp(float64(low), -fine)
}

// exponentialLaw measures the law of a selector that is a monotone function of the
// first word that it draws, by bisection through the production code.
func exponentialLaw(m Selector) lawOf {
	return func(scores []int64) []float64 {
		out, before := make([]float64, len(scores)), 0.0
		for i := range scores {
			end := measureProbability(func(src *noise.Source) bool { return m.pick(src, scores) <= i })
			out[i], before = end-before, end
		}
		return out
	}
}

// flipLaw runs the production code for all ways the coins can fall and all heads to choose from,
// each made of crafted bits, and weighs them by the measured probabilities of the coins.
func flipLaw(m Selector) lawOf {
	rate := new(big.Rat).Inv(m.Parameter())
	return func(scores []int64) []float64 {
		n := len(scores)
		p, out := make([]float64, n), make([]float64, n)
		for i, g := range gapsBelow(scores) {
			keep := make([]bool, 1)
			p[i] = measureProbability(func(src *noise.Source) bool {
				noise.Flip(src, rate, []uint64{g}, keep)
				return keep[0]
			})
		}
		for set := range uint(1) << n {
			weight, w := 1.0, make([]uint64, n)
			for i := range n {
				if set>>i&1 == 1 {
					weight *= p[i]
				} else {
					weight *= 1 - p[i]
					w[i] = math.MaxUint64 - 1<<20 // tails, unless it is certain
				}
			}
			if weight < 1e-300 {
				continue
			}
			heads := uint64(bits.OnesCount(set))
			for k := range heads {
				// The middle of the k-th of so many equal parts.
				at, _ := bits.Div64(2*k+1, 0, 2*heads)
				out[m.pick(sourceOfWords(append(w, at)...), scores)] += weight / float64(heads)
			}
		}
		return out
	}
}

// noisyLaw sums the probabilities of all noises of up to three candidates, through the
// production comparison. What is left out is beyond 32 scales, below 1e-13.
func noisyLaw(m *noisyMaxSelector, highest func(scores, z []int64) int) lawOf {
	b, _ := m.b.Float64()
	from, to := -int64(32*b)-1, int64(32*b)+1
	if m.form == GeometricNoise {
		from = 0
	}
	var p []float64 // of from, from + 1, ...
	sum := 0.0
	for k := from; k <= to; k++ {
		p = append(p, math.Exp(-math.Abs(float64(k))/b))
		sum += p[len(p)-1]
	}
	for i := range p {
		p[i] /= sum
	}
	return func(scores []int64) []float64 {
		out, z := make([]float64, len(scores)), make([]int64, len(scores))
		var walk func(i int, weight float64)
		walk = func(i int, weight float64) {
			if i == len(scores) {
				out[highest(scores, z)] += weight
				return
			}
			for z[i] = from; z[i] <= to; z[i]++ {
				walk(i+1, weight*p[z[i]-from])
			}
		}
		walk(0, 1)
		return out
	}
}

// neighboursOf returns all score vectors that a Scoring allows next to this one.
func neighboursOf(scores []int64, s Scoring) [][]int64 {
	var out [][]int64
	var walk func(i int, y []int64, low, high int64)
	walk = func(i int, y []int64, low, high int64) {
		if i == len(scores) {
			out = append(out, slices.Clone(y))
			return
		}
		for d := low; d <= high; d++ {
			walk(i+1, append(y, scores[i]+d), low, high)
		}
	}
	if s.Monotone {
		walk(0, nil, 0, s.Sensitivity)
		walk(0, nil, -s.Sensitivity, 0)
	} else {
		walk(0, nil, -s.Sensitivity, s.Sensitivity)
	}
	return out
}

// checkSelection computes the law on all neighbours of some scores and compares the
// largest log ratio to epsilon. Where the law is known to need it, the bound must be
// nearly attained, or the mechanism wastes its budget.
func checkSelection(law lawOf, s Scoring, cost dp.Cost, bases [][]int64, attained float64) error {
	worst := 0.0
	e := cost.Epsilon.Float()
	for _, x := range bases {
		p := law(x)
		sum := 0.0
		for _, v := range p {
			sum += v
		}
		if math.Abs(sum-1) > 1e-10 {
			return fmt.Errorf("on %v the probabilities sum to %v", x, sum)
		}
		for _, y := range neighboursOf(x, s) {
			q := law(y)
			for i := range p {
				loss := math.Abs(math.Log(p[i] / q[i]))
				// A probability is right to 2^-43 or so.
				if margin := 1e-12 * (1/p[i] + 1/q[i]); loss > e+margin {
					return fmt.Errorf("between %v and %v the loss of %d is %v, above %v", x, y, i, loss, e)
				}
				worst = math.Max(worst, loss)
			}
			for _, a := range orders {
				if got, margin := divergence(p, q, a), 1e-11/(a-1)+1e-9; got > a*cost.Rho.Float()+margin {
					return fmt.Errorf("between %v and %v the divergence of order %v is %v, above %v", x, y, a, got, a*cost.Rho.Float())
				}
			}
		}
	}
	if worst < attained*e {
		return fmt.Errorf("the loss is %v at most, below %v: too much noise", worst, e)
	}
	return nil
}

// divergence is the Renyi divergence of order alpha.
func divergence(p, q []float64, alpha float64) float64 {
	sum := 0.0
	for i := range p {
		sum += p[i] * math.Exp((alpha-1)*(math.Log(p[i])-math.Log(q[i])))
	}
	return math.Log(sum) / (alpha - 1)
}

// chooser is a selection under test, or one that was broken on purpose.
type chooser func(r *Releaser, scores []int64) []int64

func chooseWith(m Selector) chooser {
	return func(r *Releaser, scores []int64) []int64 {
		i, err := r.Select(Seal(scores...), m)
		if err != nil {
			panic(err)
		}
		return []int64{int64(i), 0}
	}
}

// checkSelectReplay runs f on neighbours with the same random bytes: the calls, their parameters
// and the number of bytes must be the same, and the scores must move as the call says.
func checkSelectReplay(f chooser, x, y []int64) error {
	run := func(v []int64) (calls []Call, read int) {
		s := newStream(11)
		r := NewReleaser(entropy.FromReader(s))
		r.Record(func(c Call) { calls = append(calls, c) })
		f(r, slices.Clone(v))
		return calls, s.read
	}
	a, readA := run(x)
	b, readB := run(y)
	if len(a) == 0 || len(a) != len(b) {
		return fmt.Errorf("%d calls against %d", len(a), len(b))
	}
	if readA != readB {
		return fmt.Errorf("%d random bytes against %d", readA, readB)
	}
	for i, c := range a {
		d := b[i]
		if c.Mechanism != d.Mechanism || c.Parameter.Cmp(d.Parameter) != 0 || c.Scoring != d.Scoring {
			return fmt.Errorf("call %d is %v %v (%v) against %v %v (%v)", i, c.Mechanism, c.Parameter, c.Scoring, d.Mechanism,
				d.Parameter, d.Scoring)
		}
		if c.Values.Len() != d.Values.Len() {
			return fmt.Errorf("call %d has %d scores against %d", i, c.Values.Len(), d.Values.Len())
		}
		up, down := int64(0), int64(0)
		for j, v := range c.Values.Open() {
			up, down = max(up, d.Values.Open()[j]-v), max(down, v-d.Values.Open()[j])
		}
		if max(up, down) > c.Scoring.Sensitivity || c.Scoring.Monotone && min(up, down) > 0 {
			return fmt.Errorf("call %d: scores rise by %d and fall by %d, against %v", i, up, down, c.Scoring)
		}
	}
	return nil
}

// The gap is kept as often as it says, where all but one candidate lie just beyond
// it, which is the worst case; a gap of half the size is not.
func TestGap(t *testing.T) {
	const n, beta = 50, 0.1
	runs := daily.Rounds(6_000, 20_000)
	half := must(dp.Parse("0.5"))
	scoring := Scoring{Sensitivity: 1}
	for _, make := range []func() (Selector, error){
		func() (Selector, error) { return NewExponential(scoring, half) },
		func() (Selector, error) { return NewPermuteAndFlip(scoring, half) },
		func() (Selector, error) { return NewNoisyMax(LaplaceNoise, scoring, half) },
		func() (Selector, error) { return NewNoisyMax(GeometricNoise, scoring, half) },
		func() (Selector, error) { return NewNoisyMax(GumbelNoise, scoring, half) },
	} {
		m := must(make())
		missed := func(beyond int64) float64 {
			scores := []int64{beyond}
			for range n - 1 {
				scores = append(scores, 0)
			}
			r, bad := seeded(3), 0
			for range runs {
				if i, err := r.Select(Seal(scores...), m); err != nil {
					t.Fatal(err)
				} else if i != 0 {
					bad++
				}
			}
			return float64(bad) / float64(runs)
		}
		g := m.Gap(n, beta)
		// Three standard deviations above what is promised.
		if p := missed(g + 1); p > beta+3*math.Sqrt(beta/float64(runs)) {
			t.Errorf("%s: more than %d below the best with probability %v, not %v", m.Name(), g, p, beta)
		}
		if p := missed(g / 3); p < beta {
			t.Errorf("%s: a third of the gap is kept with probability %v: the bound says little", m.Name(), 1-p)
		}
		for _, none := range []float64{0, -1, math.NaN()} {
			if got := m.Gap(n, none); got != math.MaxInt64 {
				t.Errorf("%s: a gap of %d is never missed", m.Name(), got)
			}
		}
		if m.Gap(0, beta) != math.MaxInt64 || m.Gap(1, 1) != 0 && m.Name() != "noisy max, laplace" {
			t.Errorf("%s: %d, %d", m.Name(), m.Gap(0, beta), m.Gap(1, 1))
		}
	}
}

// shapes are a million scores that samplers by rejection find easy and hard.
func shapes() map[string][]int64 {
	const n = 1_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	equal, random, one := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range n {
		random[i] = rng.Int64N(1000)
	}
	one[n/2] = 1 << 40
	return map[string][]int64{"equal": equal, "random": random, "one": one}
}

func BenchmarkSelect(b *testing.B) {
	for _, m := range selectors(b, general, "0.1") {
		for name, x := range shapes() {
			b.Run(m.Name()+"/"+name, func(b *testing.B) {
				r, scores := NewReleaser(noise.NewSource()), Seal(x...)
				for b.Loop() {
					if _, err := r.Select(scores, m); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkQuantiles(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	d := make([]int64, 1_000_000)
	for i := range d {
		d[i] = rng.Int64N(1 << 40)
	}
	values := Seal(d...)
	for name, at := range map[string][]string{"median": {"0.5"}, "quartiles": {"0.25", "0.5", "0.75"}} {
		q := quantiles(QuantileQuery{At: rats(at...), Low: 0, High: 1<<40 - 1, PerUnit: 1}, "1")
		b.Run(name, func(b *testing.B) {
			r := NewReleaser(noise.NewSource())
			for b.Loop() {
				r.ReleaseQuantiles(values, q)
			}
		})
	}
}

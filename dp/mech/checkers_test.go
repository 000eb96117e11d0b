package mech

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/stat"
	"github.com/discreet-dp/discreet/internal/sealed"
)

// The checkers return an error where a claim is wrong. The same functions are run on the
// mechanisms, which they must pass, and on planted bugs, which they must catch.

// checkPure enumerates moves (i, j) with |i| + |j| <= d of two coordinates and outputs around them,
// and compares the log of the ratio of probabilities of Laplace noise of the given scale to
// epsilon, in exact rationals. The bound must also be attained, or the noise is too large.
func checkPure(scale *big.Rat, d int64, epsilon dp.Amount) error {
	worst := new(big.Rat)
	for i := -d; i <= d; i++ {
		for j := -(d - abs(i)); j <= d-abs(i); j++ {
			for z1 := -d - 2; z1 <= d+2; z1++ {
				for z2 := -d - 2; z2 <= d+2; z2++ {
					ratio := big.NewRat(abs(z1-i)-abs(z1)+abs(z2-j)-abs(z2), 1)
					worst = larger(worst, ratio.Quo(ratio, scale))
				}
			}
		}
	}
	switch worst.Cmp(epsilon.Rat()) {
	case 1:
		return fmt.Errorf("the privacy loss is %v, above %v", worst.FloatString(6), epsilon)
	case -1:
		return fmt.Errorf("the privacy loss is %v, below %v: too much noise", worst.FloatString(6), epsilon)
	}
	return nil
}

func abs(x int64) int64 { return max(x, -x) }

// logs returns the logarithms of the probabilities of a distribution on -half..half, normalised.
func logs(half int, weight func(k float64) float64) []float64 {
	p, total := make([]float64, 2*half+1), 0.0
	for i := range p {
		p[i] = weight(float64(i - half))
		total += math.Exp(p[i])
	}
	for i := range p {
		p[i] -= math.Log(total)
	}
	return p
}

func laplaceLogs(scale *big.Rat) []float64 {
	b, _ := scale.Float64()
	return logs(int(60*b)+60, func(k float64) float64 { return -math.Abs(k) / b })
}

func gaussianLogs(sigma2 *big.Rat) []float64 {
	s2, _ := sigma2.Float64()
	return logs(int(40*math.Sqrt(s2))+700, func(k float64) float64 { return -k * k / (2 * s2) })
}

// renyi is the Renyi divergence of order alpha between a distribution and itself moved by d. Mass
// that moves out of the array is too small to matter. The sum is taken relative to its largest
// term, which may be far beyond a float64.
func renyi(p []float64, d int64, alpha float64) float64 {
	term := func(i int) float64 { return alpha*p[i-int(d)] + (1-alpha)*p[i] }
	largest, sum := math.Inf(-1), 0.0
	for i := int(d); i < len(p); i++ {
		largest = math.Max(largest, term(i))
	}
	for i := int(d); i < len(p); i++ {
		sum += math.Exp(term(i) - largest)
	}
	return (largest + math.Log(sum)) / (alpha - 1)
}

var orders = []float64{1.0001, 1.01, 1.1, 1.5, 2, 3, 5, 10, 30, 100}

// checkConcentrated compares the Renyi divergences of two coordinates that move
// by each of the splits to alpha rho.
func checkConcentrated(p []float64, splits [][2]int64, rho dp.Amount) error {
	for _, s := range splits {
		for _, a := range orders {
			got := renyi(p, s[0], a) + renyi(p, s[1], a)
			// The logarithm of a sum near 1 is divided by alpha - 1.
			if margin := 1e-13 / (a - 1); got > a*rho.Float()*(1+1e-9)+margin {
				return fmt.Errorf("moved by %v the divergence of order %v is %v, above %v", s, a, got, a*rho.Float())
			}
		}
	}
	return nil
}

// checkReplay runs f on neighbours with the same random bytes. Calls and bytes must be the same,
// and the answers must differ as the inputs do, which must be within the declared sensitivity.
func checkReplay(f releaseFunc, x, y []int64, norm dp.Norm) error {
	type trace struct {
		calls []Call
		read  int
		out   []int64
	}
	run := func(v []int64) (t trace) {
		s := newStream(7)
		r := NewReleaser(entropy.FromReader(s))
		r.Record(func(c Call) { t.calls = append(t.calls, c) })
		t.out = f(r, slices.Clone(v))
		t.read = s.read
		return t
	}
	a, b := run(x), run(y)
	if len(a.calls) == 0 || len(a.calls) != len(b.calls) {
		return fmt.Errorf("%d calls against %d", len(a.calls), len(b.calls))
	}
	if a.read != b.read {
		return fmt.Errorf("%d random bytes against %d", a.read, b.read)
	}
	for i, c := range a.calls {
		d := b.calls[i]
		if c.Mechanism != d.Mechanism || c.Parameter.Cmp(d.Parameter) != 0 || c.Sensitivity.String() != d.Sensitivity.String() {
			return fmt.Errorf("call %d is %v %v (%v) against %v %v (%v)", i,
				c.Mechanism, c.Parameter, c.Sensitivity, d.Mechanism, d.Parameter, d.Sensitivity)
		}
		if c.Sensitivity.Norm() != norm {
			return fmt.Errorf("call %d has a sensitivity in %v", i, c.Sensitivity.Norm())
		}
		if err := checkDistance(c.Values, d.Values, c.Sensitivity); err != nil {
			return err
		}
	}
	for i := range a.out {
		if a.out[i]-b.out[i] != x[i]-y[i] {
			return fmt.Errorf("coordinate %d: the answers differ by %d, the inputs by %d", i, a.out[i]-b.out[i], x[i]-y[i])
		}
	}
	return nil
}

func checkDistance(a, b sealed.Vector, s dp.Sensitivity) error {
	sum, squares, most := int64(0), int64(0), int64(0)
	for i, v := range a.Open() {
		d := v - b.Open()[i]
		sum += abs(d)
		squares += d * d
		most = max(most, abs(d))
	}
	if s.Norm() == dp.L1 && big.NewInt(most).Cmp(s.Each()) > 0 {
		return fmt.Errorf("one of the inputs moves by %d, beyond %v", most, s)
	}
	if s.Norm() == dp.L1 && big.NewInt(sum).Cmp(s.L1()) > 0 || s.Norm() == dp.L2 && big.NewInt(squares).Cmp(s.L2Squared()) > 0 {
		return fmt.Errorf("the inputs are farther apart than %v", s)
	}
	return nil
}

type event struct {
	name string
	in   func(z []int64) bool
}

// events looks at thresholds and points of the first coordinate, at the difference, the sum and the
// smaller of the first two, at the inputs themselves, and at remainders.
func events(x, y []int64) []event {
	var all []event
	for t := min(x[0], y[0]) - 6; t <= max(x[0], y[0])+6; t++ {
		all = append(all, event{fmt.Sprintf("z = %d", t), func(z []int64) bool { return z[0] == t }})
		all = append(all, event{fmt.Sprintf("z >= %d", t), func(z []int64) bool { return z[0] >= t }})
	}
	for _, n := range []int64{2, 5, 10} {
		r := ((x[0] % n) + n) % n
		all = append(all, event{fmt.Sprintf("z mod %d", n), func(z []int64) bool { return ((z[0]%n)+n)%n == r }})
	}
	if len(x) > 1 {
		d := x[0] - x[1]
		all = append(all, event{"z0 - z1", func(z []int64) bool { return z[0]-z[1] == d }})
		for t := x[0] + x[1] - 3; t <= x[0]+x[1]+8; t++ {
			all = append(all, event{fmt.Sprintf("z0 + z1 >= %d", t), func(z []int64) bool { return z[0]+z[1] >= t }})
		}
		for t := int64(-2); t <= 3; t++ {
			all = append(all, event{fmt.Sprintf("both at least %+d", t), func(z []int64) bool { return z[0] >= x[0]+t && z[1] >= x[1]+t }})
		}
		for _, v := range [][]int64{x, y} {
			all = append(all, event{fmt.Sprintf("z = %v", v), func(z []int64) bool { return slices.Equal(z, v) }})
		}
	}
	return all
}

// lossError is the probability that checkLoss or checkHockeyStick cries wolf.
const lossError = 1e-6

// counts returns how often each event happens in n answers.
func counts(f releaseFunc, r *Releaser, x []int64, all []event, n int) []int {
	hits := make([]int, len(all))
	look := func(z []int64, times int) {
		for i, e := range all {
			if e.in(z) {
				hits[i] += times
			}
		}
	}
	// Few answers are different, and each is looked at once. Those too long to be a key are rare.
	type short struct {
		n int
		z [3]int64
	}
	seen := map[short]int{}
	for range n {
		z := f(r, x)
		if k := (short{n: len(z)}); copy(k.z[:], z) == len(z) {
			seen[k]++
			continue
		}
		look(z, 1)
	}
	for k, times := range seen {
		look(k.z[:k.n], times)
	}
	return hits
}

// answers are how often each event was among n answers on each of two neighbours.
type answers struct {
	events []event
	a, b   []int
	n      int
}

// drawAnswers draws n answers on each of two neighbours.
func drawAnswers(f releaseFunc, x, y []int64, n int) answers {
	all := events(x, y)
	return answers{all, counts(f, seeded(1), x, all, n), counts(f, seeded(2), y, all, n), n}
}

// checkHockeyStick draws n answers on each of two neighbours, and checks claims about them.
func checkHockeyStick(f releaseFunc, x, y []int64, n int, claims map[float64]float64) error {
	return drawAnswers(f, x, y, n).check(claims)
}

// catchHockeyStick is for bugs, most of which a few answers show: it draws more until n.
func catchHockeyStick(f releaseFunc, x, y []int64, n int, claims map[float64]float64) error {
	for some := n / 16; some < n; some *= 4 {
		if err := checkHockeyStick(f, x, y, some, claims); err != nil {
			return err
		}
	}
	return checkHockeyStick(f, x, y, n, claims)
}

// check bounds P(E) - exp(e) P'(E) from below, for every event and both directions, by Clopper and
// Pearson's intervals, and compares it to delta(e), for several e. With delta = 0 this is the pure
// claim.
func (s answers) check(claims map[float64]float64) error {
	alpha := lossError / float64(4*len(s.events))
	for i, e := range s.events {
		for _, pair := range [][2]int{{s.a[i], s.b[i]}, {s.b[i], s.a[i]}} {
			low, high := stat.LowerBound(pair[0], s.n, alpha), stat.UpperBound(pair[1], s.n, alpha)
			for epsilon, delta := range claims {
				if got := low - math.Exp(epsilon)*high; got > delta {
					return fmt.Errorf("%s: delta at epsilon %v is at least %v, above %v", e.name, epsilon, got, delta)
				}
			}
		}
	}
	return nil
}

// hockeyStick is the exact delta at epsilon between a distribution and itself moved by d.
func hockeyStick(p []float64, d int64, epsilon float64) float64 {
	sum := 0.0
	for i := range p {
		other := math.Inf(-1)
		if i >= int(d) {
			other = p[i-int(d)]
		}
		sum += math.Max(0, math.Exp(p[i])-math.Exp(epsilon+other))
	}
	return sum
}

// checkCounts bounds the loss of every event from below, by how often it happened in so many runs
// on each of two neighbours, and compares it to epsilon.
func checkCounts(a, b map[string]int, runs int, epsilon float64) error {
	alpha := lossError / float64(4*(len(a)+len(b)))
	for _, pair := range [][2]map[string]int{{a, b}, {b, a}} {
		for k, n := range pair[0] {
			low, high := stat.LowerBound(n, runs, alpha), stat.UpperBound(pair[1][k], runs, alpha)
			if got := math.Log(low / high); got > epsilon {
				return fmt.Errorf("%s: epsilon is at least %v, above %v", k, got, epsilon)
			}
		}
	}
	return nil
}

func amount(text string) dp.Amount { return must(dp.Parse(text)) }

func l1(d int64) dp.Sensitivity        { return dp.NewL1(big.NewInt(d)) }
func l2squared(d int64) dp.Sensitivity { return dp.NewL2Squared(big.NewInt(d)) }

func laplace(d int64, epsilon string) *Laplace { return must(NewLaplace(l1(d), amount(epsilon))) }

func gaussian(d2 int64, rho string) *Gaussian {
	return must(NewGaussian(l2squared(d2), amount(rho)))
}

func radial(d2 int64, n int, epsilon string) *radialNoise {
	return must(NewRadial(l2squared(d2), n, amount(epsilon))).(*radialNoise)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// stream is a deterministic stream of random bytes that counts what was read.
type stream struct {
	r    io.Reader
	read int
}

func newStream(seed byte) *stream {
	var key [32]byte
	key[0] = seed
	return &stream{r: rand.NewChaCha8(key)}
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.read += n
	return n, err
}

func seeded(seed byte) *Releaser { return NewReleaser(entropy.FromReader(newStream(seed))) }

// releaseFunc is a mechanism under test: Release with a mechanism, or something that
// was broken on purpose.
type releaseFunc func(r *Releaser, x []int64) []int64

func releaseWith(m Mechanism) releaseFunc {
	return func(r *Releaser, x []int64) []int64 { return r.Release(Seal(x...), m) }
}

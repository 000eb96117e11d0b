package audit

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/lab/stat"
)

// Options say how hard to try. The zero value is a good choice.
type Options struct {
	// Samples is how often a mechanism is run on each of two neighbours, a million if it is 0.
	Samples int
	// Beta is the probability, at most, that a run refuses an honest claim, 1e-6 if it is
	// 0. The mechanisms of the run share it.
	Beta float64
	// Source makes the randomness of a part of a mechanism's samples. Nil is the operating
	// system's; tests that must repeat themselves give another.
	Source func(mechanism string, part int) *noise.Source
	// Progress, unless it is nil, is told how many mechanisms are done, before each and at the end.
	Progress func(done, of int, next string)
}

const (
	defaultSamples = 1_000_000
	defaultBeta    = 1e-6
	// MinSamples is where a bound begins to say anything at all: without samples every
	// claim would stand.
	MinSamples = 100
	// MaxSamples is up to where the errors of the bounds in package stat are accounted for.
	MaxSamples = 1_000_000_000
)

func (o Options) filled() Options {
	if o.Samples == 0 {
		o.Samples = defaultSamples
	}
	if o.Beta == 0 {
		o.Beta = defaultBeta
	}
	if o.Source == nil {
		o.Source = func(string, int) *noise.Source { return noise.NewSource() }
	}
	if o.Progress == nil {
		o.Progress = func(int, int, string) {}
	}
	return o
}

// ErrSamples is returned when a run is asked for with too few samples to say anything, or
// with too many to be exact about.
var ErrSamples = fmt.Errorf("run a mechanism from %d to %d times on each input", MinSamples, MaxSamples)

// UnknownError is returned when a mechanism is asked for that is not in the catalogue.
type UnknownError struct {
	Name string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no mechanism %q; write one of %s", e.Name, strings.Join(Names(), ", "))
}

// Find returns the mechanisms of these names, or all of them for none.
func Find(names ...string) ([]Mechanism, error) {
	all := Catalogue()
	if len(names) == 0 {
		return all, nil
	}
	var out []Mechanism
	taken := map[string]bool{}
	for _, name := range names {
		found := false
		for _, m := range all {
			if m.Name == name {
				found = true
				if !taken[name] {
					out = append(out, m)
				}
				taken[name] = true
			}
		}
		if !found {
			return nil, &UnknownError{name}
		}
	}
	return out, nil
}

// Run audits the mechanisms of the catalogue with these names, all of them where none is
// given, and yields what it finds as it finds it. It ends with the first error: a name
// that is unknown, a number of samples out of range, or a context that was cancelled.
func Run(ctx context.Context, names []string, o Options) iter.Seq2[enumerate.Finding, error] {
	return func(yield func(enumerate.Finding, error) bool) {
		mechanisms, err := Find(names...)
		if err != nil {
			yield(enumerate.Finding{}, err)
			return
		}
		Audit(ctx, mechanisms, o)(yield)
	}
}

// Audit is Run for mechanisms that need not be in the catalogue.
func Audit(ctx context.Context, mechanisms []Mechanism, o Options) iter.Seq2[enumerate.Finding, error] {
	o = o.filled()
	return func(yield func(enumerate.Finding, error) bool) {
		if o.Samples < MinSamples || o.Samples > MaxSamples {
			yield(enumerate.Finding{}, fmt.Errorf("%w, and not %d", ErrSamples, o.Samples))
			return
		}
		for i, m := range mechanisms {
			o.Progress(i, len(mechanisms), m.Name)
			source := func(part int) *noise.Source { return o.Source(m.Name, part) }
			found, err := m.prepare().sample(ctx, o.Samples, source, o.Beta/float64(len(mechanisms)))
			if err != nil {
				yield(enumerate.Finding{}, err)
				return
			}
			for _, f := range found {
				if !yield(f, nil) {
					return
				}
			}
		}
		o.Progress(len(mechanisms), len(mechanisms), "")
	}
}

// Mechanism is something that claims to be private, with what it takes to test it.
type Mechanism struct {
	Name  string
	Claim Claim
	// Pairs are neighbouring inputs. The loss is computed on all of them; the first is
	// one on which it is large and its events are frequent, and is sampled.
	Pairs []Pair
	// Law is the distribution of the outcome by its definition, or nil where it is tested
	// as a black box only.
	Law func(input []int64) enumerate.Law
	// Open prepares the production code to draw outcomes on an input. An outcome is
	// everything that an analyst sees, as a number.
	Open func(src *noise.Source, input []int64) func() int64
	// Ordered says that outcomes are amounts: then an attack tries half lines too.
	Ordered bool
	// Slow is by how much fewer samples are drawn, where one takes long. 0 is not at all.
	Slow int
}

type Pair struct{ X, Y []int64 }

// String writes the inputs, and of long ones how long they are.
func (p Pair) String() string {
	if max(len(p.X), len(p.Y)) > 12 {
		return fmt.Sprintf("%v... and %v... of lengths %d and %d", p.X[:min(4, len(p.X))], p.Y[:min(4, len(p.Y))], len(p.X), len(p.Y))
	}
	return fmt.Sprint(p.X, " and ", p.Y)
}

// Claim is the promise under test.
type Claim struct {
	Epsilon, Delta float64
	// Rho, where it is not 0, is claimed in the place of epsilon: zCDP.
	Rho float64
	// AlsoRho, where it is not 0, is claimed besides, and computed where there is a law.
	AlsoRho float64
	// Slack is by which share the claim may be surpassed by an event of a mechanism that
	// keeps it. It is for discrete Gaussian noise, which is rho-zCDP and nearly, but not
	// exactly, sqrt(2 rho)-Gaussian private.
	Slack float64
}

// preparedMechanism is a mechanism whose loss has been computed.
type preparedMechanism struct {
	Mechanism
	computed []enumerate.Finding
	x, y     enumerate.Law // of the pair that is sampled
}

func (m Mechanism) prepare() preparedMechanism {
	p := preparedMechanism{Mechanism: m}
	if m.Law == nil {
		return p
	}
	var laws []enumerate.Pair
	for _, n := range m.Pairs {
		laws = append(laws, enumerate.Pair{P: m.Law(n.X), Q: m.Law(n.Y), Name: n.String()})
	}
	p.x, p.y = laws[0].P, laws[0].Q
	if m.Claim.Rho == 0 {
		p.computed = append(p.computed, enumerate.Pure(m.Name, m.Claim.Epsilon, m.Claim.Delta, laws))
	}
	if rho := max(m.Claim.Rho, m.Claim.AlsoRho); rho > 0 {
		p.computed = append(p.computed, enumerate.Concentrated(m.Name, rho, laws))
	}
	return p
}

// checksPerMechanism is how many statements with an error probability are made of one mechanism:
// that its outcomes on two inputs have their laws, and a bound.
const checksPerMechanism = 3

// sample draws outcomes and returns the findings. Beta is the probability of a false alarm.
func (p preparedMechanism) sample(
	ctx context.Context, n int, source func(part int) *noise.Source, beta float64,
) ([]enumerate.Finding, error) {
	n /= max(1, p.Slow)
	var drawn [2]stat.Samples
	inputs := [][]int64{p.Pairs[0].X, p.Pairs[0].Y}
	for i, input := range inputs {
		var err error
		drawn[i], err = stat.Draw(ctx, n, func(part int) *noise.Source { return source(2*part + i) }, func(src *noise.Source) func() int64 {
			return p.Open(src, input)
		})
		if err != nil {
			return nil, err
		}
	}
	var out []enumerate.Finding
	for k, f := range p.computed {
		f.Samples = 2 * n
		for i, l := range []enumerate.Law{p.x, p.y} {
			if k > 0 {
				break // the sampler has been looked at
			}
			if err := stat.Fit(drawn[i].All(), l, beta/checksPerMechanism); err != nil {
				f.Stands = false
				f.Detail = fmt.Sprintf("the sampler does not draw what its definition says: on %v, %v", inputs[i], err)
				break
			}
		}
		out = append(out, f)
	}
	f := enumerate.Finding{Subject: p.Name, Check: "statistical", Claim: p.Claim.Epsilon, Unit: "epsilon", Samples: 2 * n}
	var b stat.Bound
	if p.Claim.Rho > 0 {
		f.Claim, f.Unit = gaussianMu(p.Claim.Rho), "mu"
		b = stat.Mu(drawn[0], drawn[1], beta/checksPerMechanism)
	} else {
		b = stat.Epsilon(drawn[0], drawn[1], p.Ordered, p.Claim.Delta, beta/checksPerMechanism)
	}
	f.Lower, f.Detail = b.Lower, b.Detail
	f.Stands = f.Lower <= f.Claim*(1+p.Claim.Slack)
	return append(out, f), nil
}

// Catalogue returns the mechanisms of Discreet, calibrated to amounts at which an
// error shows: an epsilon of 1 or 2 has events that are neither rare nor certain on both
// neighbours. The claims are the costs that the mechanisms state themselves.
func Catalogue() []Mechanism {
	return []Mechanism{
		laplace(), laplaceVector(), laplaceCounts(), sharpened(), gaussian(), averaged(), residuals(), substitutedResiduals(),
		runningTotals(),
		radial(), radialVector(),
		exponential(), permuteAndFlip(), noisyMaxLaplace(), noisyMaxGeometric(), topK(), quantiles(),
		aboveThreshold(), sparseVector(), sparseValues(),
		aboveRound(), aboveOneSided(), aboveAnswer(),
		keyThreshold(), keySelection(), keyWeights(), bounds(),
		randomizedResponse(), direct(), unary(), hashing(), hadamard(), heavyHitters(),
		objective(), objectiveGaussian(), training(),
	}
}

// Names returns the names of the catalogue, in its order.
func Names() []string { return slices.Clone(catalogueNames()) }

// catalogueNames are made once: every command line has them in its help, and to make mechanisms
// takes time.
var catalogueNames = sync.OnceValue(func() []string {
	var out []string
	for _, m := range Catalogue() {
		out = append(out, m.Name)
	}
	return out
})

// must is for constructors whose arguments are written in this package.
func must[T any](v T, err error) T {
	if err != nil {
		panic("audit: " + err.Error())
	}
	return v
}

func claimOf(c dp.Cost) Claim { return Claim{Epsilon: c.Epsilon.Float(), Delta: c.Delta.Float()} }

// gaussianMu is the sensitivity in standard deviations of Gaussian noise that is rho-zCDP.
func gaussianMu(rho float64) float64 { return math.Sqrt(2 * rho) }

func toFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// neighboursOf returns y for every way of moving each part of x by -d, 0 or d.
func neighboursOf(x []int64, d int64) (out []Pair) {
	y := make([]int64, len(x))
	var walk func(i int)
	walk = func(i int) {
		if i == len(x) {
			out = append(out, Pair{x, append([]int64(nil), y...)})
			return
		}
		for _, by := range []int64{-d, 0, d} {
			y[i] = x[i] + by
			walk(i + 1)
		}
	}
	walk(0)
	return out
}

package audit

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

var (
	fresh = flag.Bool("fresh", false, "draw new randomness in every run")
	soak  = flag.Bool("soak", false, "run the honest code for minutes")
)

// seededSources makes sources that repeat themselves, unless -fresh is given.
func seededSources(seed int) func(string, int) *noise.Source {
	if *fresh {
		return func(string, int) *noise.Source { return noise.NewSource() }
	}
	return func(name string, part int) *noise.Source {
		return entropy.FromReader(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d %s %d", seed, name, part))))
	}
}

func audited(t testing.TB, m Mechanism, samples int) []enumerate.Finding {
	t.Helper()
	var out []enumerate.Finding
	for f, err := range Audit(context.Background(), []Mechanism{m}, Options{Samples: samples, Source: seededSources(1)}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

func collect(t *testing.T, ctx context.Context, names []string, o Options) ([]enumerate.Finding, error) {
	t.Helper()
	var out []enumerate.Finding
	for f, err := range Run(ctx, names, o) {
		if err != nil {
			return out, err
		}
		out = append(out, f)
	}
	return out, nil
}

func TestRun(t *testing.T) {
	var steps []string
	o := Options{Samples: 20_000, Source: seededSources(3), Progress: func(done, of int, next string) { steps = append(steps, next) }}
	names := []string{"hadamard", "laplace", "hadamard"}
	first, err := collect(t, context.Background(), names, o)
	if err != nil || len(first) != 4 || first[0].Subject != "hadamard" || first[3].Subject != "laplace" || first[3].Samples != 40_000 {
		t.Fatalf("got %+v, %v", first, err)
	}
	if want := []string{"hadamard", "laplace", ""}; !slices.Equal(steps, want) {
		t.Errorf("progress is %q; want %q", steps, want)
	}
	if again, _ := collect(t, context.Background(), names, o); !*fresh && !reflect.DeepEqual(first, again) {
		t.Error("the same seed finds something else")
	}
}

func TestRunRefuses(t *testing.T) {
	var unknown *UnknownError
	if _, err := collect(t, context.Background(), []string{"laplace", "laplance"}, Options{}); !errors.As(err, &unknown) ||
		unknown.Name != "laplance" || !strings.Contains(err.Error(), "laplace, ") {
		t.Errorf("got %v", err)
	}
	for _, n := range []int{-1, 1, MaxSamples + 1} {
		if found, err := collect(t, context.Background(), nil, Options{Samples: n}); !errors.Is(err, ErrSamples) || len(found) > 0 {
			t.Errorf("%d samples: %v, %v", n, found, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if found, err := collect(t, ctx, nil, Options{}); !errors.Is(err, context.Canceled) || len(found) > 0 {
		t.Errorf("got %v, %v", found, err)
	}
}

func TestNamesAreUnique(t *testing.T) {
	names := Names()
	slices.Sort(names)
	if n := len(names); n < 20 || len(slices.Compact(names)) != n {
		t.Errorf("got %q", names)
	}
}

// preparedCatalogue has the laws of all mechanisms, which take seconds to compute.
var preparedCatalogue = sync.OnceValue(func() (all []preparedMechanism) {
	for _, m := range Catalogue() {
		all = append(all, m.prepare())
	}
	return all
})

// A thousand runs of the honest code raise no alarm. With -soak each has as many samples
// as it takes to see small errors.
func TestHonestCodeRaisesNoAlarm(t *testing.T) {
	runs, samples := daily.Rounds(50, 400), 100
	if *soak {
		runs, samples = 1000, 20_000
	}
	all := preparedCatalogue()
	beta := defaultBeta / float64(len(all))
	for run := range runs {
		source := seededSources(run)
		for _, p := range all {
			found := must(p.sample(context.Background(), samples, func(part int) *noise.Source { return source(p.Name, part) }, beta))
			for _, f := range found {
				if !f.Stands {
					t.Errorf("run %d: %+v", run, f)
				}
			}
		}
	}
}

// The catalogue's neighbours are bad ones: where a loss is computed it is near to the
// claim, so that a claim that stands was in danger. Short sessions of the sparse vector
// cannot come near, and above-threshold has the long ones.
func TestWorstNeighboursAreBad(t *testing.T) {
	for _, p := range preparedCatalogue() {
		least := 0.95
		if p.Name == "sparse-vector" {
			least = 0.6
		}
		for _, f := range p.computed {
			if !f.Stands || f.Lower < least*f.Claim {
				t.Errorf("%s loses %v %s of %v", f.Subject, f.Lower, f.Unit, f.Claim)
			}
		}
		if p.computed == nil {
			continue
		}
		for _, l := range []float64{p.x.Sum(), p.y.Sum()} {
			if math.Abs(l-1) > 1e-6 {
				t.Errorf("%s: the probabilities sum to %v", p.Name, l)
			}
		}
	}
}

// No half line of discrete Gaussian noise says more of mu than the claim with its slack:
// for all thresholds, from the exact law.
func TestSlackOfGaussian(t *testing.T) {
	m := gaussian()
	x, y := m.Law(m.Pairs[0].X), m.Law(m.Pairs[0].Y)
	claim, worst := gaussianMu(m.Claim.Rho), 0.0
	px, py := 0.0, 0.0
	for _, k := range x.Outcomes() {
		px, py = px+x.P(k), py+y.P(k)
		if px > 1e-15 && py > 1e-15 && px < 0.999 { // beyond, the sums have no digits left
			worst = math.Max(worst, numeric.Quantile(py)-numeric.Quantile(px))
		}
	}
	if worst > claim*(1+m.Claim.Slack) || worst <= claim {
		t.Errorf("the largest mu of a half line is %v; the claim is %v with a slack of %v", worst, claim, m.Claim.Slack)
	}
}

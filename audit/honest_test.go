package audit

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/normal"
	"github.com/discreet-dp/discreet/noise"
)

// A thousand runs of the honest code raise no alarm. With -soak each has as many samples
// as it takes to see small errors.
func TestHonestCodeRaisesNoAlarm(t *testing.T) {
	runs, samples := 400, 100
	if *soak {
		runs, samples = 1000, 20_000
	}
	var all []preparedMechanism
	for _, m := range Catalogue() {
		all = append(all, m.prepare())
	}
	beta := defaultBeta / float64(len(all))
	for run := range runs {
		source := seededSources(run)
		for _, p := range all {
			found, err := p.sample(context.Background(), samples, func(part int) *noise.Source { return source(p.Name, part) }, beta)
			if err != nil {
				t.Fatal(err)
			}
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
	for _, m := range Catalogue() {
		p := m.prepare()
		if p.computed == nil {
			continue
		}
		least := 0.95
		if m.Name == "sparse-vector" {
			least = 0.6
		}
		if f := *p.computed; !f.Stands || f.Lower < least*f.Claim {
			t.Errorf("%s loses %v of %v", f.Subject, f.Lower, f.Claim)
		}
		for _, l := range []float64{p.x.Sum(), p.y.Sum()} {
			if math.Abs(l-1) > 1e-6 {
				t.Errorf("%s: the probabilities sum to %v", m.Name, l)
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
			worst = math.Max(worst, normal.Quantile(py)-normal.Quantile(px))
		}
	}
	if worst > claim*(1+m.Claim.Slack) || worst <= claim {
		t.Errorf("the largest mu of a half line is %v; the claim is %v with a slack of %v", worst, claim, m.Claim.Slack)
	}
}

package audit

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/audit/enumerate"
	"github.com/discreet-dp/discreet/internal/audit/finding"
	"github.com/discreet-dp/discreet/internal/audit/stat"
	"github.com/discreet-dp/discreet/noise"
)

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

// Pair is two neighbouring inputs.
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
	// Slack is by which share the claim may be surpassed by an event of a mechanism that
	// keeps it. It is for discrete Gaussian noise, which is rho-zCDP and nearly, but not
	// exactly, sqrt(2 rho)-Gaussian private.
	Slack float64
}

// preparedMechanism is a mechanism whose loss has been computed.
type preparedMechanism struct {
	Mechanism
	computed *finding.Finding
	x, y     enumerate.Law // of the pair that is sampled
}

func (m Mechanism) prepare() preparedMechanism {
	p := preparedMechanism{Mechanism: m}
	if m.Law == nil {
		return p
	}
	p.x, p.y = m.Law(m.Pairs[0].X), m.Law(m.Pairs[0].Y)
	var laws []enumerate.Pair
	for _, n := range m.Pairs {
		laws = append(laws, enumerate.Pair{P: m.Law(n.X), Q: m.Law(n.Y), Name: n.String()})
	}
	var f finding.Finding
	if m.Claim.Rho > 0 {
		f = enumerate.Concentrated(m.Name, m.Claim.Rho, laws)
	} else {
		f = enumerate.Pure(m.Name, m.Claim.Epsilon, m.Claim.Delta, laws)
	}
	p.computed = &f
	return p
}

// checksPerMechanism is how many statements with an error probability are made of one mechanism: that
// its outcomes on two inputs have their laws, and a bound.
const checksPerMechanism = 3

// sample draws outcomes and returns the findings. Beta is the probability of a false
// alarm.
func (p preparedMechanism) sample(ctx context.Context, n int, source func(part int) *noise.Source, beta float64) ([]finding.Finding, error) {
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
	var out []finding.Finding
	if p.computed != nil {
		f := *p.computed
		f.Samples = 2 * n
		for i, l := range []enumerate.Law{p.x, p.y} {
			all := drawn[i].All()
			if err := stat.Fit(all, l, beta/checksPerMechanism); err != nil {
				f.Stands = false
				f.Detail = fmt.Sprintf("the sampler does not draw what its definition says: on %v, %v", inputs[i], err)
				break
			}
		}
		out = append(out, f)
	}
	f := finding.Finding{Subject: p.Name, Check: "statistical", Claim: p.Claim.Epsilon, Unit: "epsilon", Samples: 2 * n}
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

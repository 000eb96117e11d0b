package learn

import (
	"context"
	"flag"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/lab/stat"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

var samples = flag.Int("samples", 2500, "how often each training is run on each of two tables")

// box is a training as a black box: two tables, what it claims about them, and what is looked at of
// the model.
type box struct {
	name  string
	plan  *Plan
	a, b  [][]int64
	claim float64 // an epsilon, or a mu
	mu    bool
	see   func(p *Plan, m *Model) int64
}

// lower is a lower bound on what the training loses on the two tables, except with a probability of
// one in a million.
func (x box) lower(t *testing.T) stat.Bound {
	t.Helper()
	draw := func(rows [][]int64, side string) stat.Samples {
		s, err := stat.Draw(context.Background(), *samples, func(part int) *noise.Source {
			return detrand.Noise(x.name+side, uint64(part))
		}, func(src *noise.Source) func() int64 {
			r, table := mech.NewReleaser(src), x.plan.NewTable()
			for _, row := range rows {
				table.Add(row)
			}
			return func() int64 {
				m, err := Fit(context.Background(), x.plan, table, r, nil)
				if err != nil {
					panic(err)
				}
				return x.see(x.plan, m)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := draw(x.a, "a"), draw(x.b, "b")
	if x.mu {
		return stat.Mu(a, b, 1e-6)
	}
	return stat.Epsilon(a, b, true, x.plan.Cost.Delta.Float(), 1e-6)
}

// intercepts adds up the intercepts' weights, those of a class against the others', in halves of
// the noise.
func intercepts(p *Plan, m *Model) int64 {
	n := p.Noise()[0]
	unit := n.Scale
	if n.On == "gradient" {
		unit /= p.recipe.lambda
	}
	sum := 0.0
	for k, w := range m.Weights {
		v := float64(w[len(w)-1]) * m.Step
		if k > 0 {
			v = -v
		}
		sum += v
	}
	return int64(math.Floor(2 * sum / unit))
}

// What trainings lose, as black boxes, is not above what they claim; and where they claim too
// little, it is.
func TestBlackBox(t *testing.T) {
	e := &Encoding{Features: []Column{{Name: "x", Lo: -1, Hi: 1, Step: big.NewRat(1, 1)}},
		Target: Column{Name: "y", Values: []string{"no", "yes"}}}
	three := &Encoding{Features: e.Features, Target: Column{Name: "y", Values: []string{"a", "b", "c"}}}
	yes, no := []int64{0, 1}, []int64{0, 0}
	single, pure, gaussian := Group{dp.AddRemove, 1}, Budget{Epsilon: eps("1")}, Budget{Rho: eps("0.5")}
	several := Group{dp.AddRemove, 3}
	substitute := Group{dp.Substitute, 1}
	plan := func(e *Encoding, s Spec, g Group) *Plan {
		s.Radius = 1
		if s.Loss == "" {
			s.Loss = "huber"
		}
		return prepared(e, s, g)
	}
	none := [][]int64{}
	thrice := slices.Repeat([][]int64{yes}, 3)
	estimate := plan(e, Spec{Method: Objective, Budget: Budget{Epsilon: eps("0.125")}, Evaluate: eps("1")}, single)
	counted := func(p *Plan, m *Model) int64 { return m.Evaluation.Wrong + m.Evaluation.Right }
	honest := []box{
		{"objective", plan(e, Spec{Method: Objective, Budget: pure}, single), none, [][]int64{yes}, 1, false, intercepts},
		{"objective, logistic", plan(e, Spec{Loss: "logistic", Method: Objective, Budget: pure}, single), none, [][]int64{yes}, 1,
			false, intercepts},
		{"objective, substituted", plan(e, Spec{Method: Objective, Budget: pure}, substitute), [][]int64{no}, [][]int64{yes}, 1,
			false, intercepts},
		{"objective, three rows", plan(e, Spec{Method: Objective, Budget: pure}, several), none, thrice, 1, false, intercepts},
		{"objective, Gaussian", plan(e, Spec{Method: Objective, Budget: gaussian}, single), none, [][]int64{yes}, 1, true, intercepts},
		{"objective, three classes", plan(three, Spec{Method: Objective, Budget: gaussian, Regulariser: 100}, single), none, [][]int64{no},
			1, true, intercepts},
		{"output", plan(e, Spec{Method: Output, Budget: pure, Regulariser: 50}, single), none, [][]int64{yes}, 1, false, intercepts},
		{"output, Gaussian", plan(e, Spec{Method: Output, Budget: gaussian, Regulariser: 50}, single), none, [][]int64{yes},
			1, true, intercepts},
		{"minima", plan(e, Spec{Method: Minima, Budget: gaussian}, single), none, [][]int64{yes}, 1, true, intercepts},
		{"estimate", estimate, none, [][]int64{yes}, 1.125, false, counted},
		{"tuned", plan(e, Spec{Method: Objective, Budget: pure, Tune: []float64{30, 100}}, single), none, [][]int64{yes}, 1,
			false, intercepts},
	}
	planted := []box{
		{"planted: three rows for one", plan(e, Spec{Method: Objective, Budget: pure}, single), none, thrice, 1, false, intercepts},
		{"planted: substituted for added", plan(e, Spec{Method: Objective, Budget: gaussian, Regulariser: 100}, single), [][]int64{no},
			[][]int64{yes}, 1, true, intercepts},
		{"planted: Gaussian, three rows for one", plan(e, Spec{Method: Objective, Budget: gaussian}, single), none, thrice,
			1, true, intercepts},
		{"planted: output, three rows for one", plan(e, Spec{Method: Output, Budget: pure, Regulariser: 50}, single), none, thrice, 1,
			false, intercepts},
		{"planted: minima, three rows for one", plan(e, Spec{Method: Minima, Budget: gaussian}, single), none, thrice, 1, true, intercepts},
		{"planted: an estimate for nothing", estimate, none, [][]int64{yes}, 0.125, false, counted},
		{"planted: three classes for the price of one",
			plan(three, Spec{Method: Objective, Budget: Budget{Rho: eps("1.5")}, Regulariser: 100}, single), none, [][]int64{no}, 1,
			true, intercepts},
	}
	for _, x := range append(daily.Sample(t, honest, 4), daily.Sample(t, planted, 4)...) {
		b := x.lower(t)
		t.Logf("%s: loses %.3f or more and claims %g; %s", x.name, b.Lower, x.claim, b.Detail)
		if bug := strings.HasPrefix(x.name, "planted"); bug != (b.Lower > x.claim) {
			t.Errorf("%s: loses %v or more, and claims %v; %s", x.name, b.Lower, x.claim, b.Detail)
		}
		if cost := x.plan.Cost.Epsilon; !x.mu && cost != dp.Unbounded && !strings.HasPrefix(x.name, "planted") && cost.Float() > x.claim {
			t.Errorf("%s costs %v", x.name, cost)
		}
	}
}

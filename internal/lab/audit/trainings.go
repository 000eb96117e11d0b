package audit

import (
	"context"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/density"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
)

// singleWeight is objective perturbation of a single weight with the Huber loss. An input is the
// targets, -1 or 1, of rows whose only feature is as long as rows can be. At a score of 1/2 slope
// and curvature are largest together, so that there the loss comes up to the claim.
type singleWeight struct {
	radius float64
	noise  *learn.ObjectiveNoise
}

const halfWidth = 0.5

func problem(radius float64) learn.Problem {
	return learn.Problem{Slope: 1, Curvature: 1 / (2 * halfWidth), OneSided: true, Radius: radius, Weights: 1, Models: 1, Rows: 1,
		Neighbours: dp.AddRemove}
}

func (w singleWeight) mechanism(name string, claim Claim) Mechanism {
	step := math.Ldexp(1, int(math.Floor(math.Log2(1/(64*w.radius)))))
	if w.noise.Gaussian {
		step = math.Ldexp(1, int(math.Floor(math.Log2(w.noise.Scale/(16*w.noise.Lambda)))))
	}
	return Mechanism{
		Name: name, Claim: claim, Ordered: true, Slow: 200,
		Pairs: []Pair{{nil, []int64{1}}, {[]int64{-1}, []int64{-1, 1}}, {[]int64{1, 1, -1}, []int64{1, 1}}},
		Law: func(targets []int64) enumerate.Law {
			m := &density.Mechanism{Bend: density.Huber(halfWidth), Weights: 1, Lambda: [2]float64{w.noise.Lambda}, Scale: w.noise.Scale,
				Gaussian: w.noise.Gaussian}
			var data []density.Row
			for _, y := range targets {
				data = append(data, density.Row{X: [2]float64{w.radius}, Y: float64(y), A: 1})
			}
			return density.Law(m, data, step)
		},
		Open: func(src *noise.Source, targets []int64) func() int64 {
			r, b := mech.NewReleaser(src), solve.NewBuilder(1, w.radius)
			for _, y := range targets {
				b.Add([]float64{w.radius}, float32(y))
			}
			p := &solve.Problem{Loss: must(solve.Huber(halfWidth)), Rows: b.Rows(), Lambda: w.noise.Lambda}
			return func() int64 {
				return must(solve.MinimiseExactly(context.Background(), p, r.DrawReals(1, w.noise.Gaussian, w.noise.Scale), step, nil))[0]
			}
		},
	}
}

// objective is pure objective perturbation, with a regulariser that leaves a fifth of the price to
// the Jacobian.
func objective() Mechanism {
	o := must(problem(1).Pure(dp.One, 1/math.Expm1(0.2)))
	return singleWeight{1, o}.mechanism("objective", claimOf(o.Cost))
}

// objectiveGaussian is objective perturbation with Gaussian noise. Its regulariser is so large that
// slopes are at their bound wherever the weight is likely to be.
func objectiveGaussian() Mechanism {
	o := must(problem(1).Concentrated(dp.One/2, 100))
	return singleWeight{1, o}.mechanism("objective-gaussian", Claim{Rho: o.Cost.Rho.Float()})
}

// training is a whole training with output perturbation, as a black box: an input is the classes of
// rows, and the outcome the weight of the intercept, in halves of the noise.
func training() Mechanism {
	e := &learn.Encoding{
		Features: []learn.Column{{Name: "x", Lo: -1, Hi: 1, Step: big.NewRat(1, 1)}},
		Target:   learn.Column{Name: "y", Values: []string{"no", "yes"}},
	}
	p :=
		must(learn.Prepare(e, learn.Spec{Loss: "huber", Method: learn.Output, Regulariser: 50, Radius: 1,
			Budget: learn.Budget{Epsilon: dp.One}}, learn.Group{Neighbours: dp.AddRemove, MaxRows: 1}))
	return trainedMechanism("training", p)
}

func trainedMechanism(name string, p *learn.Plan) Mechanism {
	return Mechanism{
		Name: name, Claim: claimOf(p.Cost), Ordered: true, Slow: 200, Pairs: []Pair{{nil, []int64{1}}},
		Open: func(src *noise.Source, classes []int64) func() int64 {
			r, t := mech.NewReleaser(src), p.NewTable()
			for _, y := range classes {
				t.Add([]int64{0, y})
			}
			return func() int64 {
				m := must(learn.Fit(context.Background(), p, t, r, nil))
				return int64(math.Floor(2 * float64(m.Weights[0][1]) * m.Step / p.Noise()[0].Scale))
			}
		},
	}
}

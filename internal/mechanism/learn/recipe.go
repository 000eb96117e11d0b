package learn

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
)

// recipe is a calibrated method: how weights are made, and what that costs for all models and
// candidates together.
type recipe struct {
	method    string
	lambda    float64         // the least of all candidates, which noise is calibrated to
	objective *ObjectiveNoise // the random linear term, or nil
	step      float64         // of the lattice, a power of two
	tolerance float64         // how long a gradient may be where minimising ends; 0 for the exact minimiser
	release   mech.Mechanism  // noise on the whole numbers, or nil
	noise     []Noise
	cost      dp.Cost
}

func noiseKind(gaussian bool) string {
	if gaussian {
		return "gaussian"
	}
	return "radial"
}

// task is what methods are calibrated to: all of it is public.
type task struct {
	encoding *Encoding
	spec     Spec
	group    Group
	loss     solve.Loss
	radius   float64
}

// problem is what noise is calibrated to. All candidates are one problem, see calibrate.go.
func (t *task) problem(candidates int) Problem {
	return Problem{
		Slope: t.loss.Slope(), Curvature: t.loss.Curvature(), OneSided: t.loss.OneSided(), Tapered: t.loss.Name() == "logistic",
		Radius:  t.radius,
		Weights: t.encoding.Dim() * candidates, Models: t.encoding.Models(), Rows: t.group.MaxRows, Neighbours: t.group.Neighbours,
	}
}

// differing is M: in how many rows neighbours differ at most.
func (t *task) differing() int64 {
	if t.group.Neighbours == dp.AddRemove {
		return int64(t.group.MaxRows)
	}
	return 2 * int64(t.group.MaxRows)
}

// guessedRows is how many rows we think of where nobody says. Privacy does not depend on it.
const guessedRows = 100_000

// rows is about how many rows one model is trained on.
func (t *task) rows() float64 {
	n := float64(t.spec.Rows)
	if n == 0 {
		n = guessedRows
	}
	if k := len(t.spec.Tune); k > 0 {
		n /= float64(k + 1)
	}
	return n
}

// bend is what the rows may add to the second derivative in a direction, on average over
// directions; a guess, for the choice of steps.
func (t *task) bend() float64 {
	return t.rows() * t.loss.Curvature() * t.radius * t.radius / float64(t.encoding.Dim())
}

// least is the smallest regulariser that was asked for; 0 where none was.
func (t *task) least() float64 {
	l := t.spec.Regulariser
	for i, x := range t.spec.Tune {
		if i == 0 || x < l {
			l = x
		}
	}
	return l
}

// most is the largest regulariser of all candidates.
func (t *task) most(lambda float64) float64 {
	for _, x := range t.spec.Tune {
		lambda = math.Max(lambda, x)
	}
	return lambda
}

// parts is how many models, by candidates, are trained on parts of the rows.
func (t *task) parts() int { return max(1, len(t.spec.Tune)) }

// newRecipe calibrates a method to a budget.
func (t *task) newRecipe(method string, b Budget) (r *recipe, err error) {
	switch method {
	case Output:
		r, err = t.newOutput(b)
	case Objective:
		r, err = t.newObjective(b)
	case Minima:
		r, err = t.newMinima(b)
	}
	if err == nil || errors.Is(err, ErrSpec) {
		return r, err
	}
	return nil, fmt.Errorf("%w: %w", ErrSpec, err)
}

// newOutput calibrates output perturbation.
//
// Theorem (Chaudhuri, Monteleoni, Sarwate 2011, Lemma 7 and Algorithm 1; sums, any norm of rows,
// and what is computed instead of what is meant are ours). F is Lambda-strongly convex, and between
// neighbours its gradient moves by at most S at any w, so the minimiser moves by at most S/Lambda.
// What is computed is within gamma/Lambda of it, because its gradient was verified to be at most
// gamma long. Rounded to whole steps of size g it is within sqrt(d)/2 of that. So the whole numbers
// of one model move by at most
//
//	D = (S + 2 gamma)/(Lambda g) + sqrt(d),
//
// and those of K models by sqrt(K) D. Noise on whole numbers that is calibrated to that in l2 is
// private by package mech. With k candidates on parts of the rows the minimisers of all of them
// together move by S/Lambda at most in the sum of their lengths, and each is computed and rounded
// on its own: D = S/(Lambda g) + k (2 gamma/(Lambda g) + sqrt(d)).
func (t *task) newOutput(b Budget) (*recipe, error) {
	d, models, k := float64(t.encoding.Dim()), float64(t.encoding.Models()), float64(t.parts())
	s := t.problem(t.parts()).Gradient()
	lambda := t.least()
	if lambda == 0 {
		lambda = t.outputLambda(b, s)
	}
	r := &recipe{method: Output, lambda: lambda, step: powerBelow(s / lambda / (1024 * k * math.Sqrt(d))), tolerance: s / (4096 * k)}
	moves := math.Sqrt(models) * (s/(lambda*r.step) + k*(2*r.tolerance/(lambda*r.step)+math.Sqrt(d)))
	sensitivity, err := l2(moves)
	if err != nil {
		return nil, err
	}
	n := Noise{Kind: "gaussian", On: "weights", Weights: t.encoding.Dim() * t.encoding.Models()}
	if currencyOf(b) == pure {
		m, err := mech.NewRadial(sensitivity, n.Weights, b.Epsilon)
		if err != nil {
			return nil, err
		}
		n.Kind, n.Scale = "radial", sensitivity.Float()/b.Epsilon.Float()*r.step
		r.release, r.cost = m, m.Cost()
	} else {
		m, cost, err := gaussianNoise(b, sensitivity)
		if err != nil {
			return nil, err
		}
		n.Scale = math.Sqrt(mech.Variance(m)) * r.step
		r.release, r.cost = m, cost
	}
	r.noise = []Noise{n}
	return r, nil
}

// outputLambda is where noise and the regulariser are in balance, for weights that are believed to
// be about B = 5/c long on rows of length 1. The noise of a model is N/Lambda long; where nobody
// says how many rows there are Lambda is R N/2, and for n rows the least of n c R^2 (N/Lambda)^2/2
// and Lambda |w|^2/2 together. The constants were found on generated data, and nothing but accuracy
// depends on them.
func (t *task) outputLambda(b Budget, s float64) float64 {
	n := Noise{Kind: "gaussian", Weights: t.encoding.Dim(), Scale: s}
	models := float64(t.encoding.Models())
	switch currencyOf(b) {
	case pure:
		n.Kind, n.Scale = "radial", s*models/b.Epsilon.Float()
	case approximate:
		n.Scale *= math.Sqrt(models*(2*math.Log(1/b.Delta.Float())+b.Epsilon.Float())) / b.Epsilon.Float()
	case concentrated:
		n.Scale *= math.Sqrt(models / (2 * b.Rho.Float()))
	}
	lambda := t.radius * n.Norm() / 2
	if t.spec.Rows > 0 {
		c, r := t.loss.Curvature(), t.radius
		long := believedWeightLength / c
		lambda = math.Cbrt(2 * t.rows() * c * math.Pow(r, 4) * n.Norm() * n.Norm() / (long * long))
	}
	return math.Max(t.floor(), math.Min(lambda, 0x1p60))
}

// believedWeightLength is how long weights are believed to be, times the curvature, on rows of
// length 1.
const believedWeightLength = 5

// floor is a regulariser below which minimising is hard and nothing is gained.
func (t *task) floor() float64 { return math.Max(t.loss.Curvature()*t.radius*t.radius/1024, 0x1p-60) }

// newObjective calibrates objective perturbation. What is released is the exact minimiser, rounded,
// so its theorem is the one of calibrate.go and there is nothing else to pay for. Where a
// delta is paid for but radial noise is shorter, which is so for few weights, radial noise is taken
// and no delta is charged.
func (t *task) newObjective(b Budget) (*recipe, error) {
	o, err := t.linear(b)
	if err != nil {
		return nil, err
	}
	r := &recipe{method: Objective, lambda: o.Lambda, objective: o, cost: o.Cost,
		step: powerBelow(o.Scale / (8 * (t.most(o.Lambda) + t.bend())))}
	r.noise = []Noise{{Kind: noiseKind(o.Gaussian), On: "gradient", Scale: o.Scale, Weights: t.encoding.Dim()}}
	return r, nil
}

// linear calibrates the random linear term.
func (t *task) linear(b Budget) (*ObjectiveNoise, error) {
	problem, lambda := t.problem(t.parts()), t.least()
	at := func(lambda float64) (*ObjectiveNoise, error) {
		switch currencyOf(b) {
		case pure:
			return problem.Pure(b.Epsilon, lambda)
		case concentrated:
			return problem.Concentrated(b.Rho, lambda)
		}
		o, err := problem.Approximate(b.Epsilon, b.Delta, lambda)
		if radial, bad := problem.Pure(b.Epsilon, lambda); bad == nil && (err != nil || t.length(radial) < t.length(o)) {
			return radial, nil
		}
		return o, err
	}
	o, err := at(lambda)
	if err != nil || lambda != 0 {
		return o, err
	}
	// What the theorem of utility has, |b|^2/(2 Lambda) and Lambda |w|^2/2, is in balance at
	// |b|/|w|. With more Lambda the Jacobian is cheaper, so that is private too, at less noise.
	if more := math.Max(t.floor(), t.loss.Curvature()*t.radius*t.length(o)/believedWeightLength); more > o.Lambda && more < 0x1p60 {
		return at(more)
	}
	return o, err
}

func (t *task) length(o *ObjectiveNoise) float64 {
	return Noise{Kind: noiseKind(o.Gaussian), Scale: o.Scale, Weights: t.encoding.Dim()}.Norm()
}

// newMinima calibrates approximate minima perturbation (Iyengar, Near, Song, Thakkar, Thakurta,
// Wang 2019, Algorithm 1), with Gaussian objective perturbation of calibrate.go in place of theirs.
//
// Theorem. Let w be the exact minimiser with the random linear term. It is private at the first
// part of the budget. What is computed is within gamma/Lambda of it, because its gradient was
// verified to be at most gamma long. So given w, what is computed from one database and from its
// neighbour are within 2 gamma/Lambda of each other, twice what the paper says, because both of
// them move; and in whole steps of size g within D = 2 gamma/(Lambda g) + sqrt(d), and sqrt(k K) D
// for K models and k candidates. Discrete Gaussian noise that is calibrated to that makes the whole
// numbers private at the second part of the budget, given w, and both together at the sum
// (composition).
func (t *task) newMinima(b Budget) (*recipe, error) {
	if currencyOf(b) == pure {
		return nil,
			fmt.Errorf("%w: minima adds Gaussian noise, and a pure epsilon buys none; choose objective, which needs no delta, or ask "+
				"with a delta", ErrSpec)
	}
	share := int64(20)
	if currencyOf(b) == concentrated {
		share = 100
	}
	first, second, err := splitBudget(b, share-1, share)
	if err != nil {
		return nil, err
	}
	problem := t.problem(t.parts())
	o, err := t.linear(first)
	if err != nil {
		return nil, err
	}
	d, all := float64(t.encoding.Dim()), float64(t.parts()*t.encoding.Models())
	s := problem.Gradient()
	moves := s / (t.most(o.Lambda) + t.bend()) // about as far as one person moves the minimiser
	r := &recipe{
		method: Minima, lambda: o.Lambda, objective: o,
		tolerance: math.Max(t.rows()*t.loss.Slope()*t.radius*0x1p-40, math.Max(s*0x1p-22, moves*o.Lambda*0x1p-13)),
		step:      powerBelow(moves * 0x1p-12 / math.Sqrt(d*all)),
	}
	sensitivity, err := l2(math.Sqrt(all) * (2*r.tolerance/(o.Lambda*r.step) + math.Sqrt(d)))
	if err != nil {
		return nil, err
	}
	m, cost, err := gaussianNoise(second, sensitivity)
	if err != nil {
		return nil, err
	}
	r.release, r.cost = m, o.Cost.Add(cost)
	r.noise = []Noise{
		{Kind: noiseKind(o.Gaussian), On: "gradient", Scale: o.Scale, Weights: t.encoding.Dim()},
		{Kind: "gaussian", On: "weights", Scale: math.Sqrt(mech.Variance(m)) * r.step, Weights: t.encoding.Dim()},
	}
	return r, nil
}

// l2 is a sensitivity of a length in steps, rounded up.
func l2(steps float64) (dp.Sensitivity, error) {
	if !(steps >= 1) || steps > 0x1p80 {
		return dp.Sensitivity{}, fmt.Errorf("%w: the noise cannot be drawn at this scale; choose another regulariser or price", ErrSpec)
	}
	// The float64 of steps and its square err by far less than 2^-30.
	square, _ := new(big.Float).SetFloat64(steps * steps * (1 + 0x1p-30)).Int(nil)
	return dp.NewL2Squared(square.Add(square, big.NewInt(1))), nil
}

// powerBelow is the largest power of two that is not above x, within what can be computed with.
func powerBelow(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(-200, min(e-1, 200)))
}

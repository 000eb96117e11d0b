package learn

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/learn/calibrate"
	"github.com/discreet-dp/discreet/internal/learn/rows"
	"github.com/discreet-dp/discreet/internal/learn/solve"
)

// Prepare decides everything that can be decided before the data is looked at. Its errors are about
// what is public, and are [ErrEncoding] or [ErrSpec]; where a regulariser is too small for the
// price a [calibrate.RegulariserError] says which is not.
func Prepare(e *Encoding, s Spec, g Group) (*Plan, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	// What the caller does with its own copies later changes nothing that was calibrated.
	e, s.Tune, s.Weights = e.clone(), slices.Clone(s.Tune), maps.Clone(s.Weights)
	p := &Plan{Encoding: e, Spec: s, Group: g, radius: or(s.Radius, defaultRadius(e))}
	var err error
	if p.loss, err = s.loss(&e.Target); err != nil {
		return nil, err
	}
	if p.weights, err = s.classWeights(&e.Target); err != nil {
		return nil, err
	}
	if err := p.problem(1).Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	budget, err := p.tuning()
	if err != nil {
		return nil, err
	}
	if err := p.choose(budget); err != nil {
		return nil, err
	}
	p.regularisers = s.Tune
	if len(s.Tune) == 0 {
		p.regularisers = []float64{p.recipe.lambda}
	}
	if err := p.solvable(); err != nil {
		return nil, err
	}
	if err := p.drowned(); err != nil {
		return nil, err
	}
	p.Method, p.Cost = p.recipe.method, p.recipe.cost
	if p.selector != nil {
		p.Cost = p.Cost.Add(p.selector.Cost())
	}
	if s.Evaluate != 0 {
		if err := p.evaluated(); err != nil {
			return nil, err
		}
		p.Cost = p.Cost.Add(p.evaluation.Cost())
	}
	return p, nil
}

// longest is how long a row can be: a number is from -1 to 1, a value is one 1, and so is the
// intercept.
func longest(e *Encoding) float64 { return math.Sqrt(float64(len(e.Features) + 1)) }

// defaultRadius follows from the columns. For classes it is 1: the intercept makes every row at
// least that long, so all rows end on the unit sphere. That changes no class that is predicted,
// because a score keeps its sign, and the noise is the smallest for what rows say. For numbers,
// where length matters, it is as long as a row can be, so that nothing is clipped and the model
// stays linear in its columns.
func defaultRadius(e *Encoding) float64 {
	if e.classes() > 0 {
		return 1
	}
	return math.Sqrt(float64(1 + len(e.Features)))
}

// choose calibrates the method that was asked for, or the best: objective perturbation, unless the
// regulariser that was asked for is too small for it. With noise of norm N/(1 - J/epsilon) on the
// gradient the weights move by that over Lambda and what the rows add to the second derivative,
// about n c R^2/d; with noise on the weights by N/Lambda. J is about c R^2/Lambda, so the second is
// smaller only for n < d/epsilon rows or so, which is where noise is all there is.
func (p *Plan) choose(b Budget) error {
	if m := p.Spec.Method; m != "" && m != Auto {
		r, err := p.newRecipe(m, b)
		if err != nil {
			return err
		}
		p.recipe = r
		p.Why = append(p.Why, "The method was asked for.")
		return nil
	}
	objective, err := p.newRecipe(Objective, b)
	var small *calibrate.RegulariserError
	if errors.As(err, &small) && len(p.Spec.Tune) == 0 {
		p.Why = append(p.Why,
			fmt.Sprintf("Objective perturbation needs a regulariser above %.4g at this price, so the weights themselves "+
				"get the noise.", small.Least))
		p.recipe, err = p.newRecipe(Output, b)
		return err
	}
	if err != nil {
		return err
	}
	p.recipe = objective
	what := map[string]string{
		"radial":   "Objective perturbation with radial noise is purely private, and needs no delta.",
		"gaussian": "Objective perturbation with Gaussian noise is what this price buys most accuracy with.",
	}[objective.noise[0].Kind]
	if objective.noise[0].Kind == "radial" && b.currency() == approximate {
		what = "With so few weights radial noise is shorter than Gaussian noise, so no delta is needed and none is charged."
	}
	p.Why = append(p.Why, what)
	if p.least() == 0 {
		p.Why = append(p.Why,
			"The regulariser follows from the price and the number of weights, so that neither it nor noise decides alone.")
	}
	return nil
}

// drowned refuses a training whose noise says more than the rows can. All rows together have a
// gradient of at most n G R, wherever it is taken; where noise on the gradient, or Lambda times the
// noise on the weights, is half of that on average, a model shows noise and little else. It is
// asked only where somebody says how many rows there are.
func (p *Plan) drowned() error {
	if p.Spec.Rows == 0 {
		return nil
	}
	n := p.recipe.noise[0].norm()
	if p.recipe.noise[0].On == "weights" {
		n *= p.recipe.lambda / math.Sqrt(float64(p.Encoding.models()))
	}
	rows := 2 * n / (p.loss.Slope() * p.radius)
	if p.rows() > rows {
		return nil
	}
	if k := len(p.Spec.Tune); k > 0 {
		rows *= float64(k + 1)
	}
	return fmt.Errorf("%w: rows are too few at this price: there are %d, and with %d weights the noise is as large as what %.0f rows can "+
		"say; take a larger epsilon or fewer features", ErrSpec, p.Spec.Rows, p.Encoding.dim()*p.Encoding.models(), math.Ceil(rows))
}

// solvable refuses regularisers that nothing can be minimised with.
func (p *Plan) solvable() error {
	none := rows.NewBuilder(p.Encoding.dim(), p.radius).Rows()
	for _, lambda := range p.regularisers {
		if err := (&solve.Problem{Loss: p.loss, Rows: none, Lambda: lambda}).Validate(); err != nil {
			return fmt.Errorf("%w: %w", ErrSpec, err)
		}
	}
	return nil
}

// differing is M: in how many rows neighbours differ at most.
func (p *Plan) differing() int64 {
	if p.Group.Neighbours == dp.AddRemove {
		return int64(p.Group.MaxRows)
	}
	return 2 * int64(p.Group.MaxRows)
}

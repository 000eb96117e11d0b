package learn

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
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
	e, s.Tune, s.Weights = e.Clone(), slices.Clone(s.Tune), maps.Clone(s.Weights)
	loss, err := newLoss(&s, &e.Target)
	if err != nil {
		return nil, err
	}
	p := &Plan{Encoding: e, Spec: s, Group: g, task: &task{e, s, g, loss, orDefault(s.Radius, defaultRadius(e))}}
	if p.weights, err = classWeights(&s, &e.Target); err != nil {
		return nil, err
	}
	if err := p.task.problem(1).Validate(); err != nil {
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
	if err := p.checkSolvable(); err != nil {
		return nil, err
	}
	if err := p.refuseDrowned(); err != nil {
		return nil, err
	}
	p.Method, p.Cost = p.recipe.method, p.recipe.cost
	if p.selector != nil {
		p.Cost = p.Cost.Add(p.selector.Cost())
	}
	if s.Evaluate != 0 {
		if err := p.calibrateEvaluation(); err != nil {
			return nil, err
		}
		p.Cost = p.Cost.Add(p.evaluation.Cost())
		p.evaluationTotal = sync.OnceValue(func() int64 {
			total, err := mech.HalfWidthOfSum(evaluationBeta/2, mech.Term{Mechanism: p.evaluation, Count: 2, Weight: 1})
			if err != nil {
				return math.MaxInt64
			}
			return total
		})
	}
	return p, nil
}

// defaultRadius follows from the columns. For classes it is 1: the intercept makes every row at
// least that long, so all rows end on the unit sphere. That changes no class that is predicted,
// because a score keeps its sign, and the noise is the smallest for what rows say. For numbers,
// where length matters, it is as long as a row can be, so that nothing is clipped and the model
// stays linear in its columns.
func defaultRadius(e *Encoding) float64 {
	if e.Classes() > 0 {
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
		r, err := p.task.newRecipe(m, b)
		if err != nil {
			return err
		}
		p.recipe = r
		p.Why = append(p.Why, "The method was asked for.")
		return nil
	}
	objective, err := p.task.newRecipe(Objective, b)
	var small *RegulariserError
	if errors.As(err, &small) && len(p.Spec.Tune) == 0 {
		p.Why = append(p.Why,
			fmt.Sprintf("Objective perturbation needs a regulariser above %.4g at this price, so the weights themselves "+
				"get the noise.", small.Least))
		p.recipe, err = p.task.newRecipe(Output, b)
		return err
	}
	if err != nil {
		return err
	}
	p.recipe = objective
	what := map[string]string{
		"radial":   "Objective perturbation with radial noise is purely private, and needs no delta.",
		"gaussian": "Objective perturbation with Gaussian noise gives the most accuracy at this price.",
	}[objective.noise[0].Kind]
	if objective.noise[0].Kind == "radial" && currencyOf(b) == approximate {
		what = "With so few weights radial noise is shorter than Gaussian noise, so no delta is needed and none is charged."
	}
	p.Why = append(p.Why, what)
	if p.task.least() == 0 {
		p.Why = append(p.Why,
			"The regulariser follows from the price and the number of weights, so that neither it nor the noise dominates.")
	}
	return nil
}

// refuseDrowned refuses a training whose noise says more than the rows can. All rows together have
// a gradient of at most n G R, wherever it is taken; where noise on the gradient, or Lambda times
// the noise on the weights, is half of that on average, a model shows noise and little else. It is
// asked only where somebody says how many rows there are.
func (p *Plan) refuseDrowned() error {
	if p.Spec.Rows == 0 {
		return nil
	}
	n := p.recipe.noise[0].Norm()
	if p.recipe.noise[0].On == "weights" {
		n *= p.recipe.lambda / math.Sqrt(float64(p.Encoding.Models()))
	}
	rows := 2 * n / (p.task.loss.Slope() * p.task.radius)
	if p.task.rows() > rows {
		return nil
	}
	if k := len(p.Spec.Tune); k > 0 {
		rows *= float64(k + 1)
	}
	return fmt.Errorf("%w: there are too few rows at this price: there are %d, and with %d weights the noise is as large as what "+
		"%.0f rows can say; use a larger epsilon or fewer "+
		"features", ErrSpec, p.Spec.Rows, p.Encoding.Dim()*p.Encoding.Models(), math.Ceil(rows))
}

// checkSolvable refuses regularisers that nothing can be minimised with.
func (p *Plan) checkSolvable() error {
	none := solve.NewBuilder(p.Encoding.Dim(), p.task.radius).Rows()
	for _, lambda := range p.regularisers {
		if err := (&solve.Problem{Loss: p.task.loss, Rows: none, Lambda: lambda}).Validate(); err != nil {
			return fmt.Errorf("%w: %w", ErrSpec, err)
		}
	}
	return nil
}

// Group says whom a training protects.
type Group struct {
	Neighbours dp.Neighbours
	MaxRows    int // how many rows of one person count; 1 where everybody has one
}

// What a Spec means where it says nothing.
const (
	defaultHalfWidth = 0.5
	defaultResidual  = 1
)

// newLoss is what is minimised: by its name, or by the target's kind.
func newLoss(s *Spec, target *Column) (solve.Loss, error) {
	name := s.Loss
	switch {
	case name == "" && target.Categorical():
		name = "logistic"
	case name == "":
		name = "squares"
	case name == "squares" && target.Categorical():
		return solve.Loss{}, fmt.Errorf("%w: squares are for numbers, and %q has classes; choose logistic or huber", ErrSpec, target.Name)
	case name != "squares" && !target.Categorical():
		return solve.Loss{},
			fmt.Errorf("%w: %s is for classes, and %q is a number; choose squares, or a condition such as %s > 0 as the target", ErrSpec,
				name, target.Name, target.Name)
	}
	if s.HalfWidth != 0 && name != "huber" {
		return solve.Loss{}, fmt.Errorf("%w: a half-width is for huber, but the loss is %s", ErrSpec, name)
	}
	if s.Residual != 0 && name != "squares" {
		return solve.Loss{}, fmt.Errorf("%w: a residual is for squares, but the loss is %s", ErrSpec, name)
	}
	switch name {
	case "huber":
		return solve.Huber(orDefault(s.HalfWidth, defaultHalfWidth))
	case "squares":
		return solve.Squares(orDefault(s.Residual, defaultResidual))
	}
	return solve.Logistic(), nil
}

// classWeights are the public weights of the classes in their order, the largest 1; nil where all
// are.
func classWeights(s *Spec, target *Column) ([]float64, error) {
	if len(s.Weights) == 0 {
		return nil, nil
	}
	if !target.Categorical() {
		return nil, fmt.Errorf("%w: weights are for classes, but %q is a number", ErrSpec, target.Name)
	}
	names := make([]string, 0, len(s.Weights))
	for name := range s.Weights {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !slices.Contains(target.Values, name) {
			return nil, fmt.Errorf("%w: there is a weight for %q, but the classes of %q are %s", ErrSpec, name, target.Name,
				strings.Join(target.Values, ", "))
		}
		if w := s.Weights[name]; !(w >= 0x1p-20 && w <= 0x1p20) {
			return nil, fmt.Errorf("%w: the weight of %q must be a positive number, not %v; leave rows out with WHERE", ErrSpec, name, w)
		}
	}
	out, largest := make([]float64, len(target.Values)), 0.0
	for i, v := range target.Values {
		out[i] = 1
		if w, ok := s.Weights[v]; ok {
			out[i] = w
		}
		largest = math.Max(largest, out[i])
	}
	for i := range out {
		out[i] /= largest // at most 1, because a quotient is rounded to nearest and 1 is a number
	}
	return out, nil
}

func orDefault(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

// currency is what a budget is counted in.
type currency int

const (
	pure currency = iota + 1
	approximate
	concentrated
)

func currencyOf(b Budget) currency {
	switch {
	case b.Rho != 0:
		return concentrated
	case b.Delta != 0:
		return approximate
	}
	return pure
}

// splitBudget divides a budget in two, the first of which has a share of it, and the second the
// exact rest. A part that would be nothing is an error.
func splitBudget(b Budget, numerator, denominator int64) (first, rest Budget, err error) {
	part := func(a dp.Amount) dp.Amount {
		n := new(big.Int).SetUint64(uint64(a))
		n.Mul(n, big.NewInt(numerator))
		return dp.Amount(n.Quo(n, big.NewInt(denominator)).Uint64())
	}
	first = Budget{Epsilon: part(b.Epsilon), Delta: part(b.Delta), Rho: part(b.Rho)}
	rest = Budget{Epsilon: b.Epsilon - first.Epsilon, Delta: b.Delta - first.Delta, Rho: b.Rho - first.Rho}
	if currencyOf(first) != currencyOf(b) || currencyOf(rest) != currencyOf(b) || first.Validate() != nil || rest.Validate() != nil {
		return first, rest, fmt.Errorf("%w: the price is too small to be divided", ErrSpec)
	}
	return first, rest, nil
}

// gaussianNoise is discrete Gaussian noise on whole numbers at this price, and what it costs. Only
// budgets that are not pure buy it.
func gaussianNoise(b Budget, s dp.Sensitivity) (mech.Mechanism, dp.Cost, error) {
	rho := b.Rho
	if currencyOf(b) == approximate {
		var err error
		if rho, err = account.Rho(b.Epsilon, b.Delta); err != nil {
			return nil, dp.Cost{}, err
		}
	}
	m, err := mech.NewGaussian(s, rho)
	if err != nil {
		return nil, dp.Cost{}, err
	}
	cost := m.Cost()
	if currencyOf(b) == approximate {
		// The conversion of account.Rho: rho-zCDP is (epsilon, delta).
		cost.Epsilon, cost.Delta = b.Epsilon, b.Delta
	}
	return m, cost, nil
}

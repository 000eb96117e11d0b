package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/vector"
)

// Fit trains. It is the only function that looks at the table, and what it returns is private at
// plan's Cost. Its errors say nothing about the rows: [ErrFit], or that of the context.
func Fit(ctx context.Context, p *Plan, t *Table, r *mech.Releaser, progress func(Progress)) (*Model, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	table := t.open()
	if table.encoding != p.Encoding || table.rows.Radius() != p.task.radius || (p.candidates() > 1) != (table.split != nil) {
		return nil, fmt.Errorf("%w: the table was made for another plan", ErrFit)
	}
	total := float64(p.candidates() * p.Encoding.Models())
	released := make([][][]int64, p.candidates())
	for c := range released {
		var err error
		done := func(model int, share float64) {
			progress(Progress{Stage: "training", Done: (float64(c*p.Encoding.Models()+model) + share) / total})
		}
		if released[c], err = p.train(ctx, table, c, r, done); err != nil {
			return nil, hideFailure(ctx, err)
		}
	}
	chosen := 0
	if p.selector != nil {
		progress(Progress{Stage: "choosing", Done: 0})
		candidates := make([][][]float64, len(released))
		for c := range released {
			candidates[c] = vector.Weights(released[c], p.recipe.step)
		}
		var err error
		if chosen, err = r.Select(p.scores(table, candidates), p.selector); err != nil {
			return nil, hideFailure(ctx, err)
		}
	}
	m := p.model(released[chosen], p.regularisers[chosen])
	if p.evaluation != nil {
		progress(Progress{Stage: "evaluating", Done: 0})
		m.Evaluation = p.evaluate(table, m, r)
	}
	return m, nil
}

// hideFailure hides why a training failed, but for the context's own reasons.
func hideFailure(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrFit, context.Cause(ctx))
	case errors.Is(err, solve.ErrNotReached):
		return fmt.Errorf("%w: %w", ErrFit, solve.ErrNotReached)
	}
	return ErrFit
}

// train makes the models of one candidate: whole numbers of steps.
func (p *Plan) train(ctx context.Context, t *collected, candidate int, r *mech.Releaser, done func(int, float64)) ([][]int64, error) {
	models, d := p.Encoding.Models(), p.Encoding.Dim()
	out := make([][]int64, models)
	flat := make([]int64, 0, models*d) // of all models, where noise is added to them
	for k := range out {
		problem := p.sum(t, candidate, k)
		share := func(x float64) { done(k, x) }
		var linear solve.Approximator
		if o := p.recipe.objective; o != nil {
			linear = r.DrawReals(d, o.Gaussian, o.Scale)
		}
		if p.recipe.release == nil {
			var err error
			if out[k], err = solve.MinimiseExactly(ctx, problem, linear, p.recipe.step, share); err != nil {
				return nil, err
			}
			continue
		}
		whole, err := p.recipe.whole(ctx, problem, linear, share)
		if err != nil {
			return nil, err
		}
		flat = append(flat, whole...)
	}
	if p.recipe.release != nil {
		noisy := r.Release(mech.Seal(flat...), p.recipe.release)
		for k := range out {
			out[k] = noisy[k*d : (k+1)*d : (k+1)*d]
		}
	}
	return out, nil
}

// whole returns weights in whole steps, that are within what the sensitivity allows of the
// minimiser. Whether float64 shows that a gradient is short depends on the rows, for tables of many
// millions, and must not show. So where it does not, what is rounded is solve.NearlySteps steps
// from the exact minimiser at most, which is within the tolerance of every recipe: gamma/(Lambda g)
// is 1/4 or more, see newOutput and newMinima. The exact minimiser itself will not do: without a
// random linear term rows can be such that it is in the middle between two steps, where nothing
// decides, and a training that fails for these rows, always, says so.
func (r *recipe) whole(ctx context.Context, problem *solve.Problem, linear solve.Approximator, share func(float64)) ([]int64, error) {
	w, err := r.minimise(ctx, problem, linear, share)
	if errors.Is(err, solve.ErrNotReached) {
		nearly, err := solve.MinimiseNearly(ctx, problem, linear, r.step, share)
		for j, n := range nearly {
			nearly[j] = max(-maxSteps, min(maxSteps, n))
		}
		return nearly, err
	}
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(w))
	for j, x := range w {
		out[j] = roundToSteps(x, r.step)
	}
	return out, nil
}

// minimise returns weights at which the gradient, with the linear term, is at most tolerance long.
// What is known of the linear term is not all of it, and what is missing is taken from the
// tolerance.
func (r *recipe) minimise(ctx context.Context, problem *solve.Problem, linear solve.Approximator, share func(float64)) ([]float64, error) {
	tolerance := r.tolerance
	var b []float64
	if linear != nil {
		const bits = 80
		missing := 0.0
		for _, x := range linear.Approximate(bits) {
			f, _ := x.Float64()
			b = append(b, f)
			missing += math.Abs(f)*0x1p-52 + 0x1p-79
		}
		// The length of what is missing is at most the sum of its coordinates; a part in a thousand
		// is for adding it up.
		if tolerance -= missing * 1.001; !(tolerance >= r.tolerance/2) {
			return nil, solve.ErrNotReached // the noise is larger than 2^30 times what it is calibrated to, which does not happen
		}
	}
	point, err := solve.Minimise(ctx, problem, b, tolerance, share)
	if err != nil {
		return nil, err
	}
	return point.W, nil
}

// maxSteps is where whole numbers of steps end, which moves no two apart.
const maxSteps = 1 << 62

// roundToSteps is a weight in whole steps. The step is a power of two, so the quotient is exact.
func roundToSteps(w, step float64) int64 {
	return int64(math.Max(-maxSteps, math.Min(maxSteps, math.Round(w/step))))
}

// sum is what one model of one candidate minimises.
func (p *Plan) sum(t *collected, candidate, model int) *solve.Problem {
	s := &solve.Problem{Loss: p.task.loss, Rows: t.rows, Lambda: p.regularisers[candidate]}
	if t.split != nil {
		s.Keep = func(i int) bool { return t.parts[i] == uint8(candidate) }
	}
	if p.Encoding.Classes() == 0 {
		return s
	}
	class := model
	if p.Encoding.Models() == 1 {
		class = 1 // of two: the second against the first
	}
	s.Target = func(i int) float64 {
		if int(t.rows.Target(i)) == class {
			return 1
		}
		return -1
	}
	if p.weights != nil {
		s.Weight = func(i int) float64 { return p.weights[int(t.rows.Target(i))] }
	}
	return s
}

// tuning sets what chooses among candidates, and returns what is left for training them.
//
// The rows are divided into one part for each candidate and one more (Chaudhuri, Monteleoni,
// Sarwate 2011, Algorithm 3). Every candidate is trained on its part. All of them together are
// private at the first part of the budget, by the theorem on candidates of calibrate.go. Then
// the mistakes that each makes on the last part are counted, and a selector chooses one privately
// at the second part of the budget: a person has at most m rows there, so every count moves by m at
// most, also where others take their place, because what leaves and what comes have opposite signs;
// where people are only added or removed all counts move the same way. The price is the sum
// (composition), although most rows are in one of the two: for people with several rows, and for
// rows that change, less is not true in general.
func (p *Plan) tuning() (Budget, error) {
	b := p.Spec.Budget
	if len(p.Spec.Tune) == 0 {
		return b, nil
	}
	first, second, err := splitBudget(b, 4, 5)
	if currencyOf(b) == approximate {
		// Selection is pure, so all of delta is for training.
		first, second, err = splitBudget(Budget{Epsilon: b.Epsilon}, 4, 5)
		first.Delta = b.Delta
	}
	if err != nil {
		return b, err
	}
	steps, _ := p.task.mistakes()
	scoring := mech.Scoring{Sensitivity: int64(p.Group.MaxRows) * steps, Monotone: p.Group.Neighbours == dp.AddRemove}
	var why string
	if currencyOf(b) == concentrated {
		p.selector, why, err = mech.ChooseSelector(mech.Concentrated, second.Rho, scoring)
	} else {
		p.selector, why, err = mech.ChooseSelector(mech.Pure, second.Epsilon, scoring)
	}
	if err != nil {
		return b, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	p.Why = append(p.Why,
		fmt.Sprintf("A fifth of the price chooses among %d regularisers, by %s. Each is trained on one of %d parts of the rows.",
			len(p.Spec.Tune), why, len(p.Spec.Tune)+1))
	return first, nil
}

// scores are minus the mistakes of every candidate on the last part, sealed.
func (p *Plan) scores(t *collected, candidates [][][]float64) mech.Exact {
	_, count := p.task.mistakes()
	last := uint8(len(candidates))
	out := make([]int64, len(candidates))
	forEachRow(t.rows, func(i int) bool { return t.parts[i] == last }, func(x []float32, target float64) {
		for c, w := range candidates {
			out[c] -= count(w, x, target)
		}
	})
	return mech.Seal(out...)
}

// forEachRow calls f for every row that counts.
func forEachRow(r *solve.Rows, keep func(int) bool, f func(x []float32, target float64)) {
	for i := range r.Len() {
		if keep == nil || keep(i) {
			f(r.Row(i), float64(r.Target(i)))
		}
	}
}

// calibrateEvaluation calibrates the estimate. Each row has some steps, and each of its steps is
// wrong or right, so a row moves the two numbers by its steps together: m rows by l1 = m Steps, and
// 2 m Steps where other rows take their place, but neither number by more than m Steps. In l2 that
// is m Steps at most, and where others take their place the root of 2 times as much, because what
// leaves and what comes are at an angle of 90 degrees at most.
func (p *Plan) calibrateEvaluation() error {
	most, _ := p.task.mistakes()
	var err error
	if currencyOf(p.Spec.Budget) == concentrated {
		square := new(big.Int).Mul(big.NewInt(int64(p.Group.MaxRows)), big.NewInt(most))
		square.Mul(square, square)
		if p.Group.Neighbours == dp.Substitute {
			square.Lsh(square, 1)
		}
		p.evaluation, err = mech.NewGaussian(dp.NewL2Squared(square), p.Spec.Evaluate)
	} else {
		all, each := big.NewInt(p.task.differing()*most), big.NewInt(int64(p.Group.MaxRows)*most)
		p.evaluation, err = mech.NewLaplace(dp.NewL1Each(all, each), p.Spec.Evaluate)
	}
	if err != nil {
		return fmt.Errorf("%w: the estimate of the accuracy: %w", ErrSpec, err)
	}
	return nil
}

// evaluationBeta is how often the bar of an estimate may miss.
const evaluationBeta = 0.05

// evaluate counts what the model gets wrong and right, and releases both with noise.
func (p *Plan) evaluate(t *collected, m *Model, r *mech.Releaser) *Evaluation {
	most, count := p.task.mistakes()
	w := vector.Weights(m.Weights, m.Step)
	var wrong, right int64
	forEachRow(t.rows, nil, func(x []float32, target float64) {
		n := count(w, x, target)
		wrong, right = wrong+n, right+most-n
	})
	noisy := r.Release(mech.Seal(wrong, right), p.evaluation)
	e := &Evaluation{Wrong: noisy[0], Right: noisy[1], Steps: most}
	share, half := mech.RatioInterval(
		mech.Noisy{Value: e.Wrong, HalfWidth: p.evaluation.HalfWidth(evaluationBeta / 2)},
		mech.Noisy{Value: addSaturated(e.Wrong, e.Right), HalfWidth: p.evaluationTotal()}, 0, 1)
	e.Error, e.Low, e.High = share, math.Max(0, share-half), math.Min(1, share+half)
	if p.Encoding.Classes() == 0 {
		unit := p.Encoding.Target.Half() * p.Encoding.Target.Unit()
		for _, x := range []*float64{&e.Error, &e.Low, &e.High} {
			*x = 2 * math.Sqrt(*x) * unit
		}
	}
	return e
}

// addSaturated is a + b, or the nearest number that fits.
func addSaturated(a, b int64) int64 {
	switch s := a + b; {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	default:
		return s
	}
}

// squareSteps is how many steps the largest square of a residual has.
const squareSteps = 1024

// mistakes says how a prediction is judged, in whole steps: how many there are at most, and how
// many a row has, from what was released and from the row alone. For classes a mistake is 1. For
// numbers it is the square of the residual, both brought into [-1, 1]: at most 4, which is
// squareSteps.
func (t *task) mistakes() (most int64, count func(w [][]float64, x []float32, target float64) int64) {
	if t.encoding.Classes() == 0 {
		return squareSteps, func(w [][]float64, x []float32, target float64) int64 {
			r := math.Max(-1, math.Min(1, vector.Dot(w[0], x))) - target
			steps := math.Round(r * r / 4 * squareSteps)
			if !(steps >= 0 && steps <= squareSteps) {
				return squareSteps
			}
			return int64(steps)
		}
	}
	return 1, func(w [][]float64, x []float32, target float64) int64 {
		if vector.Best(w, x) == int(target) {
			return 0
		}
		return 1
	}
}

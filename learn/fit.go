package learn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/learn/solve"
	"github.com/discreet-dp/discreet/mech"
)

// Progress is how far a training is. It is for the owner's terminal: how many steps a training
// takes depends on the data.
type Progress struct {
	Stage string // "training", "choosing", "evaluating"
	Done  float64
}

// Fit trains. It is the only function that looks at the table, and what it returns is private at
// plan's Cost. Its errors say nothing about the rows: [ErrFit], or that of the context.
func Fit(ctx context.Context, p *Plan, t *Table, r *mech.Releaser, progress func(Progress)) (*Model, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	rows := t.open()
	if rows.encoding != p.Encoding || rows.rows.Radius() != p.radius || (p.candidates() > 1) != (rows.split != nil) {
		return nil, fmt.Errorf("%w: the table was made for another plan", ErrFit)
	}
	total := float64(p.candidates() * p.Encoding.models())
	released := make([][][]int64, p.candidates())
	for c := range released {
		var err error
		done := func(model int, share float64) {
			progress(Progress{"training", (float64(c*p.Encoding.models()+model) + share) / total})
		}
		if released[c], err = p.train(ctx, rows, c, r, done); err != nil {
			return nil, failed(ctx, err)
		}
	}
	chosen := 0
	if p.selector != nil {
		progress(Progress{"choosing", 0})
		candidates := make([][][]float64, len(released))
		for c := range released {
			candidates[c] = weights(released[c], p.recipe.step)
		}
		var err error
		if chosen, err = r.Select(p.scores(rows, candidates), p.selector); err != nil {
			return nil, failed(ctx, err)
		}
	}
	m := p.model(released[chosen], p.regularisers[chosen])
	if p.evaluation != nil {
		progress(Progress{"evaluating", 0})
		m.Evaluation = p.evaluate(rows, m, r)
	}
	return m, nil
}

// failed hides why a training failed, but for the context's own reasons.
func failed(ctx context.Context, err error) error {
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
	models, d := p.Encoding.models(), p.Encoding.dim()
	out := make([][]int64, models)
	flat := make([]int64, 0, models*d) // of all models, where noise is added to them
	for k := range out {
		problem := p.sum(t, candidate, k)
		share := func(x float64) { done(k, x) }
		var linear solve.Approximator
		if o := p.recipe.objective; o != nil {
			linear = r.Reals(d, o.Gaussian, o.Scale)
		}
		if p.recipe.release == nil {
			var err error
			if out[k], err = solve.Exactly(ctx, problem, linear, p.recipe.step, share); err != nil {
				return nil, err
			}
			continue
		}
		whole, err := p.whole(ctx, problem, linear, share)
		if err != nil {
			return nil, err
		}
		flat = append(flat, whole...)
	}
	if p.recipe.release != nil {
		noisy := r.Release(mech.Exactly(flat...), p.recipe.release)
		for k := range out {
			out[k] = noisy[k*d : (k+1)*d : (k+1)*d]
		}
	}
	return out, nil
}

// whole returns weights in whole steps, that are within what the sensitivity allows of the
// minimiser. Whether float64 shows that a gradient is short depends on the rows, for tables of many
// millions, and must not show. So where it does not, what is rounded is solve.Slack steps from the
// exact minimiser at most, which is within the tolerance of every recipe: gamma/(Lambda g) is 1/4
// or more, see newOutput and newMinima. The exact minimiser itself will not do: without a random
// linear term rows can be such that it is in the middle between two steps, where nothing decides,
// and a training that fails for these rows, always, says so.
func (p *Plan) whole(ctx context.Context, problem *solve.Problem, linear solve.Approximator, share func(float64)) ([]int64, error) {
	w, err := p.minimise(ctx, problem, linear, share)
	if errors.Is(err, solve.ErrNotReached) {
		nearly, err := solve.Nearly(ctx, problem, linear, p.recipe.step, share)
		for j, n := range nearly {
			nearly[j] = max(-farthest, min(farthest, n))
		}
		return nearly, err
	}
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(w))
	for j, x := range w {
		out[j] = steps(x, p.recipe.step)
	}
	return out, nil
}

// minimise returns weights at which the gradient, with the linear term, is at most tolerance long.
// What is known of the linear term is not all of it, and what is missing is taken from the
// tolerance.
func (p *Plan) minimise(ctx context.Context, problem *solve.Problem, linear solve.Approximator, share func(float64)) ([]float64, error) {
	tolerance := p.recipe.tolerance
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
		if tolerance -= missing * 1.001; !(tolerance >= p.recipe.tolerance/2) {
			return nil, solve.ErrNotReached // the noise is larger than 2^30 times what it is calibrated to, which does not happen
		}
	}
	point, err := solve.Minimise(ctx, problem, b, tolerance, share)
	if err != nil {
		return nil, err
	}
	return point.W, nil
}

// farthest is where whole numbers of steps end, which moves no two apart.
const farthest = 1 << 62

// steps is a weight in whole steps. The step is a power of two, so the quotient is exact.
func steps(w, step float64) int64 {
	return int64(math.Max(-farthest, math.Min(farthest, math.Round(w/step))))
}

// weights are the released whole numbers as weights.
func weights(released [][]int64, step float64) [][]float64 {
	out := make([][]float64, len(released))
	for k, row := range released {
		out[k] = make([]float64, len(row))
		for j, n := range row {
			out[k][j] = float64(n) * step
		}
	}
	return out
}

// sum is what one model of one candidate minimises.
func (p *Plan) sum(t *collected, candidate, model int) *solve.Problem {
	s := &solve.Problem{Loss: p.loss, Rows: t.rows, Lambda: p.regularisers[candidate]}
	if t.split != nil {
		s.Keep = func(i int) bool { return t.parts[i] == uint8(candidate) }
	}
	if p.Encoding.classes() == 0 {
		return s
	}
	class := model
	if p.Encoding.models() == 1 {
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

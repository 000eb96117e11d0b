package traindemo

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
)

// Way is a method in one of the currencies of privacy.
type Way struct {
	Name     string `json:"name"`
	Method   string `json:"method"`
	Currency string `json:"currency"` // "epsilon", "epsilon and delta", or "rho"
}

// Ways are all that a sweep compares. Delta is one over the square of the number of rows to train
// on. Rho is what epsilon buys where a budget adds up rho: epsilon^2/2 or a little less.
var Ways = []Way{
	{"output", learn.Output, "epsilon"},
	{"objective", learn.Objective, "epsilon"},
	{"output, delta", learn.Output, "epsilon and delta"},
	{"objective, delta", learn.Objective, "epsilon and delta"},
	{"minima, delta", learn.Minima, "epsilon and delta"},
	{"objective, rho", learn.Objective, "rho"},
}

// Sweep is what to train: every way at every epsilon.
type Sweep struct {
	Epsilons    []dp.Amount
	Ways        []Way
	Splits      int // of the rows, at random, four fifths to train on
	Draws       int // of noise for each
	Neighbours  dp.Neighbours
	Regulariser float64 // Lambda for all of them; 0: each method's own
	Radius      float64 // 0: the usual one
	Seed        uint64
}

// Cell is what came of a way at an epsilon.
type Cell struct {
	Way     string    `json:"way"`
	Epsilon dp.Amount `json:"-"`
	// Error is the mean share of test rows that models get wrong, and Deviation the standard
	// deviation of one training's.
	Error     float64 `json:"error"`
	Deviation float64 `json:"deviation"`
	// Regulariser is Lambda of the trainings.
	Regulariser float64 `json:"regulariser"`
	Trainings   int     `json:"trainings"`
}

type Result struct {
	Rows     int     `json:"rows"`
	Training int     `json:"training_rows"`
	Weights  int     `json:"weights"`
	Delta    float64 `json:"delta"`
	// Plain is the test error without privacy, and Constant that of whoever always says the more
	// frequent class.
	Plain    float64 `json:"plain"`
	Constant float64 `json:"constant"`
	Cells    []Cell  `json:"-"`
}

// plainRegulariser is that of the training without privacy: so small that it does nothing but make
// the minimum unique.
const plainRegulariser = 0.01

func (s Sweep) validate() error {
	switch {
	case len(s.Epsilons) == 0 || len(s.Ways) == 0:
		return fmt.Errorf("%w: give at least one epsilon and one method", ErrDemo)
	case s.Splits < 1 || s.Draws < 1 || s.Splits*s.Draws > 10_000:
		return fmt.Errorf("%w: take at least one split and one draw, and at most 10000 trainings of each kind", ErrDemo)
	}
	return nil
}

// spec is what a way asks for at an epsilon.
func (s Sweep) spec(w Way, epsilon dp.Amount, rows int) (learn.Spec, error) {
	out := learn.Spec{Loss: "logistic", Method: w.Method, Regulariser: s.Regulariser, Radius: s.Radius, Rows: int64(rows)}
	switch w.Currency {
	case "rho":
		rho, err := dp.FloorFloat(dp.RhoOfPure(epsilon.Float()))
		out.Budget = learn.Budget{Rho: rho}
		return out, err
	case "epsilon and delta":
		delta, err := dp.FloorFloat(deltaForRows(rows))
		out.Budget = learn.Budget{Epsilon: epsilon, Delta: delta}
		return out, err
	}
	out.Budget = learn.Budget{Epsilon: epsilon}
	return out, nil
}

func deltaForRows(rows int) float64 { return 1 / (float64(rows) * float64(rows)) }

// Run trains everything. It tells how many of the trainings are done.
func (s Sweep) Run(ctx context.Context, d *Data, tell func(done, of int)) (*Result, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if err := d.refuseUnusable(); err != nil {
		return nil, err
	}
	if tell == nil {
		tell = func(int, int) {}
	}
	r := &Result{Rows: len(d.Rows), Weights: d.Weights()}
	errors := make([][]float64, len(s.Ways)*len(s.Epsilons))
	r.Cells = make([]Cell, len(errors))
	done, of := 0, s.Splits*(1+len(errors)*s.Draws)
	for split := range s.Splits {
		train, test := d.Split(s.Seed + uint64(split))
		r.Training, r.Delta = len(train.Rows), deltaForRows(len(train.Rows))
		judge := map[float64]encodedRows{} // by radius
		if err := s.addPlainErrors(ctx, train, test, r); err != nil {
			return nil, err
		}
		done++
		tell(done, of)
		for i, w := range s.Ways {
			for j, epsilon := range s.Epsilons {
				at := i*len(s.Epsilons) + j
				p, err := s.prepare(d, w, epsilon, len(train.Rows))
				if err != nil {
					return nil, err
				}
				if _, ok := judge[p.Radius()]; !ok {
					judge[p.Radius()] = test.encode(p.Radius())
				}
				table := train.table(p)
				for draw := range s.Draws {
					name := fmt.Sprintf("sweep %s %v %d %d", w.Name, epsilon, split, draw)
					m, err := learn.Fit(ctx, p, table, mech.NewReleaser(detrand.Noise(name, s.Seed)), nil)
					if err != nil {
						return nil, err
					}
					errors[at] = append(errors[at], judge[p.Radius()].errorShare(modelWeights(m)))
					done++
					tell(done, of)
				}
				r.Cells[at] = Cell{Way: w.Name, Epsilon: epsilon, Regulariser: p.Regularisers()[0]}
			}
		}
	}
	r.Plain, r.Constant = r.Plain/float64(s.Splits), r.Constant/float64(s.Splits)
	for i, list := range errors {
		r.Cells[i].Error, r.Cells[i].Deviation = meanAndDeviation(list)
		r.Cells[i].Trainings = len(list)
	}
	return r, nil
}

func (s Sweep) prepare(d *Data, w Way, epsilon dp.Amount, rows int) (*learn.Plan, error) {
	spec, err := s.spec(w, epsilon, rows)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDemo, err)
	}
	p, err := learn.Prepare(d.Encoding, spec, learn.Group{Neighbours: s.Neighbours, MaxRows: 1})
	if err != nil {
		return nil, fmt.Errorf("%w: %s at epsilon %v: %w", ErrDemo, w.Name, epsilon, err)
	}
	return p, nil
}

// addPlainErrors adds the errors without privacy, and of a constant.
func (s Sweep) addPlainErrors(ctx context.Context, train, test *Data, r *Result) error {
	radius := math.Sqrt(float64(len(train.Encoding.Features) + 1)) // nothing is clipped
	w, err := train.encode(radius).minimise(ctx, plainRegulariser)
	if err != nil {
		return err
	}
	against := test.encode(radius)
	r.Plain += against.errorShare(w)
	none := against.errorShare(make([]float64, len(w)))
	r.Constant += math.Min(none, 1-none)
	return nil
}

// meanAndDeviation is the mean and the standard deviation.
func meanAndDeviation(list []float64) (mean, deviation float64) {
	for _, x := range list {
		mean += x
	}
	mean /= float64(len(list))
	for _, x := range list {
		deviation += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(deviation / math.Max(1, float64(len(list)-1)))
}

// At returns what came of a way at an epsilon.
func (r *Result) At(way string, epsilon dp.Amount) (Cell, bool) {
	i := slices.IndexFunc(r.Cells, func(c Cell) bool { return c.Way == way && c.Epsilon == epsilon })
	if i < 0 {
		return Cell{}, false
	}
	return r.Cells[i], true
}

// Beta is how often a promise may be broken.
const Beta = 0.05

// Promise is what the theorems promise for a way at an epsilon, beside what was observed in several
// trainings on the same rows. Both are by how much the mean of loss and regulariser is above its
// least. It is a promise about the training rows: how a model does on others is in Wrong.
type Promise struct {
	Way         string    `json:"way"`
	Epsilon     dp.Amount `json:"-"`
	Regulariser float64   `json:"regulariser"`
	// Promised is exceeded with a probability of at most Beta. Observed is the mean over the
	// trainings, Largest the largest, and Broken in how many Promised was exceeded.
	Promised float64 `json:"promised"`
	Observed float64 `json:"observed"`
	Largest  float64 `json:"largest"`
	Broken   int     `json:"broken"`
	// Wrong is the mean share of test rows that the models get wrong, and Least that of the
	// minimiser without noise, with the same regulariser.
	Wrong float64 `json:"wrong"`
	Least float64 `json:"least"`
}

// Promises trains s.Draws times by every way at every epsilon, on one split of the rows.
func (s Sweep) Promises(ctx context.Context, d *Data, tell func(done, of int)) ([]Promise, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if err := d.refuseUnusable(); err != nil {
		return nil, err
	}
	if tell == nil {
		tell = func(int, int) {}
	}
	train, test := d.Split(s.Seed)
	known := map[float64][2]encodedRows{} // by radius
	done, of := 0, len(s.Ways)*len(s.Epsilons)*s.Draws
	var out []Promise
	for _, w := range s.Ways {
		for _, epsilon := range s.Epsilons {
			p, err := s.prepare(d, w, epsilon, len(train.Rows))
			if err != nil {
				return nil, err
			}
			both, ok := known[p.Radius()]
			if !ok {
				both = [2]encodedRows{train.encode(p.Radius()), test.encode(p.Radius())}
				known[p.Radius()] = both
			}
			lambda := p.Regularisers()[0]
			best, err := both[0].minimise(ctx, lambda)
			if err != nil {
				return nil, err
			}
			least := both[0].meanLoss(best, lambda)
			one := Promise{Way: w.Name, Epsilon: epsilon, Regulariser: lambda, Promised: p.Excess(int64(len(train.Rows)), Beta),
				Least: both[1].errorShare(best)}
			table := train.table(p)
			for draw := range s.Draws {
				m, err := learn.Fit(ctx, p, table,
					mech.NewReleaser(detrand.Noise(fmt.Sprintf("promise %s %v %d", w.Name, epsilon, draw), s.Seed)), nil)
				if err != nil {
					return nil, err
				}
				excess := both[0].meanLoss(modelWeights(m), lambda) - least
				one.Observed += excess / float64(s.Draws)
				one.Largest = math.Max(one.Largest, excess)
				one.Wrong += both[1].errorShare(modelWeights(m)) / float64(s.Draws)
				if excess > one.Promised {
					one.Broken++
				}
				done++
				tell(done, of)
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// encodedRows is rows as a training sees them. It is the demonstration's own, so that it judges
// models without asking the package that made them.
type encodedRows struct{ rows *solve.Rows }

// encode encodes the data: numbers from -1 to 1, categories by a 1, and the intercept's 1, clipped
// to a radius.
func (d *Data) encode(radius float64) encodedRows {
	x := make([]float64, d.Weights())
	b := solve.NewBuilder(len(x), radius)
	for _, row := range d.Rows {
		clear(x)
		at := 0
		for i := range d.Encoding.Features {
			c := &d.Encoding.Features[i]
			if c.Categorical() {
				x[at+int(row[i])] = 1
				at += len(c.Values)
				continue
			}
			x[at] = (2*float64(row[i]) - float64(c.Lo) - float64(c.Hi)) / float64(c.Hi-c.Lo)
			at++
		}
		x[at] = 1
		b.Add(x, float32(2*row[len(row)-1]-1))
	}
	return encodedRows{b.Rows()}
}

// score is w.x of a row.
func (m encodedRows) score(i int, w []float64) float64 {
	z := 0.0
	for j, x := range m.rows.Row(i) {
		if x != 0 {
			z += w[j] * float64(x)
		}
	}
	return z
}

// errorShare is the share of rows that weights get wrong.
func (m encodedRows) errorShare(w []float64) float64 {
	n := 0
	for i := range m.rows.Len() {
		if (m.score(i, w) > 0) != (m.rows.Target(i) > 0) {
			n++
		}
	}
	return float64(n) / float64(m.rows.Len())
}

// meanLoss is the mean of the logistic loss and of the regulariser.
func (m encodedRows) meanLoss(w []float64, lambda float64) float64 {
	sum, l := 0.0, solve.Logistic()
	for i := range m.rows.Len() {
		sum += l.Value(m.score(i, w), float64(m.rows.Target(i)))
	}
	for _, x := range w {
		sum += lambda / 2 * x * x
	}
	return sum / float64(m.rows.Len())
}

func (m encodedRows) minimise(ctx context.Context, lambda float64) ([]float64, error) {
	point, err := solve.Minimise(ctx, &solve.Problem{Loss: solve.Logistic(), Rows: m.rows, Lambda: lambda}, nil, 1e-2*m.rows.Radius(), nil)
	if err != nil {
		return nil, err
	}
	return point.W, nil
}

// modelWeights are those of the only model of a two-class training.
func modelWeights(m *learn.Model) []float64 {
	w := make([]float64, len(m.Weights[0]))
	for j, n := range m.Weights[0] {
		w[j] = float64(n) * m.Step
	}
	return w
}

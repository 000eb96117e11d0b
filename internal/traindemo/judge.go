package traindemo

import (
	"context"

	"github.com/discreet-dp/discreet/internal/learn/lossfn"
	"github.com/discreet-dp/discreet/internal/learn/rows"
	"github.com/discreet-dp/discreet/internal/learn/solve"
	"github.com/discreet-dp/discreet/learn"
)

// encodedRows is rows as a training sees them. It is the demonstration's own, so that it judges models
// without asking the package that made them.
type encodedRows struct{ rows *rows.Rows }

// encode encodes the data: numbers from -1 to 1, categories by a 1, and the intercept's 1, clipped
// to a radius.
func (d *Data) encode(radius float64) encodedRows {
	x := make([]float64, d.Weights())
	b := rows.NewBuilder(len(x), radius)
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
	sum, l := 0.0, lossfn.Logistic()
	for i := range m.rows.Len() {
		sum += l.Value(m.score(i, w), float64(m.rows.Target(i)))
	}
	for _, x := range w {
		sum += lambda / 2 * x * x
	}
	return sum / float64(m.rows.Len())
}

// minimise minimises without privacy.
func (m encodedRows) minimise(ctx context.Context, lambda float64) ([]float64, error) {
	point, err := solve.Minimise(ctx, &solve.Problem{Loss: lossfn.Logistic(), Rows: m.rows, Lambda: lambda}, nil, 1e-2*m.rows.Radius(), nil)
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

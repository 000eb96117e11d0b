package model

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/mechanism/learn/vector"
)

// Prediction is what a model says about a row.
type Prediction struct {
	Class  string
	Scores map[string]float64 // by class: probabilities for logistic, distances from the border for huber
	Value  float64            // for numbers
}

// MarshalJSON leaves out what is not said: classes have no value.
func (p Prediction) MarshalJSON() ([]byte, error) {
	if p.Class != "" || p.Scores != nil {
		return json.Marshal(struct {
			Class  string             `json:"class"`
			Scores map[string]float64 `json:"scores,omitempty"`
		}{p.Class, p.Scores})
	}
	return json.Marshal(struct {
		Value float64 `json:"value"`
	}{p.Value})
}

// Predict says what the model expects of a row, given as text by column. Numbers beyond their
// bounds count as the bound; empty text is a missing value. A value that is not among those of its
// column is none of them. Other columns are not looked at.
func (m *Model) Predict(row map[string]string) (Prediction, error) {
	x := make([]float64, m.Encoding.Dim())
	at := 0
	for i := range m.Encoding.Features {
		c := &m.Encoding.Features[i]
		text, ok := row[c.Name]
		if !ok {
			return Prediction{}, fmt.Errorf("%w: there is no column %q; add it, and leave it empty where its value is not "+
				"known", ErrRow, c.Name)
		}
		if err := c.read(text, x[at:at+c.width()]); err != nil {
			return Prediction{}, err
		}
		at += c.width()
	}
	x[at] = 1
	return m.predictRow(vector.Clip(x, m.Radius)), nil // as in training
}

// PredictCodes is Predict for a row of codes as [Table.Add] takes them, with or without the
// target's.
func (m *Model) PredictCodes(codes []int64) (Prediction, error) {
	if n := len(m.Encoding.Features); len(codes) != n && len(codes) != n+1 {
		return Prediction{}, fmt.Errorf("%w: there are %d codes for %d features", ErrRow, len(codes), n)
	}
	x := make([]float64, m.Encoding.Dim())
	m.Encoding.Encode(codes, x)
	return m.predictRow(vector.Clip(x, m.Radius)), nil
}

// PredictValues is Predict for a row of numbers, one for each feature in order: in the units of the
// column, and for a category the place of its value. NaN is a missing value.
func (m *Model) PredictValues(values []float64) (Prediction, error) {
	if n := len(m.Encoding.Features); len(values) != n {
		return Prediction{}, fmt.Errorf("%w: there are %d values for %d features", ErrRow, len(values), n)
	}
	x := make([]float64, m.Encoding.Dim())
	at := 0
	for i, v := range values {
		c := &m.Encoding.Features[i]
		switch {
		case math.IsNaN(v):
		case !c.Categorical():
			x[at] = c.position(v / c.Unit())
		case v >= 0 && v < float64(len(c.Values)) && v == math.Trunc(v):
			x[at+int(v)] = 1
		}
		at += c.width()
	}
	x[at] = 1
	return m.predictRow(vector.Clip(x, m.Radius)), nil
}

// read writes the features of a column whose value is given as text.
func (c *Column) read(text string, x []float64) error {
	if text == "" {
		return nil
	}
	if c.Categorical() {
		if i := slices.Index(c.Values, text); i >= 0 {
			x[i] = 1
		}
		return nil
	}
	text = strings.TrimSpace(text)
	if c.Kind == "date" {
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			x[0] = c.position(float64(day.Unix()/86400) / c.Unit())
			return nil
		}
		return fmt.Errorf("%w: %q is not a date for %q; write one such as 2024-12-31", ErrRow, text, c.Name)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%w: %q is not a number for %q; leave it empty where it is not known", ErrRow, text, c.Name)
	}
	x[0] = c.position(v / c.Unit())
	return nil
}

// predictRow turns features into a prediction.
func (m *Model) predictRow(x []float32) Prediction {
	w := vector.Weights(m.Weights, m.Step)
	target := &m.Encoding.Target
	if !target.Categorical() {
		z := math.Max(-1, math.Min(1, vector.Dot(w[0], x)))
		return Prediction{Value: (target.Middle() + z*target.Half()) * target.Unit()}
	}
	z := make([]float64, len(target.Values))
	if len(w) == 1 {
		z[1] = vector.Dot(w[0], x)
		z[0] = -z[1]
	} else {
		for k := range w {
			z[k] = vector.Dot(w[k], x)
		}
	}
	p := Prediction{Class: target.Values[vector.Best(w, x)], Scores: map[string]float64{}}
	if m.Loss == "logistic" {
		total := 0.0
		for k := range z {
			z[k] = 1 / (1 + math.Exp(-z[k]))
			total += z[k]
		}
		for k := range z {
			if total > 0 {
				z[k] /= total
			} else {
				z[k] = 1 / float64(len(z))
			}
		}
	}
	for k, v := range target.Values {
		p.Scores[v] = z[k]
	}
	return p
}

// Coefficient is what one unit of a number, or a value, adds to the score of a class, or to a
// predicted number, in the units of the columns. It holds for rows that are not longer than the
// radius. A longer row is clipped: then scores of classes are smaller in proportion, which changes
// no class, and numbers are nearer to their middle.
type Coefficient struct {
	Class   string  `json:"class,omitempty"` // that the score is of
	Feature string  `json:"feature"`         // empty for the intercept
	Value   string  `json:"value,omitempty"` // of a category
	Weight  float64 `json:"weight"`
	// Deviation is the standard deviation that the noise alone has; 0 where it is not known,
	// because it depends on the data.
	Deviation float64 `json:"deviation,omitempty"`
}

// Coefficients lists the weights by feature, the intercept first.
func (m *Model) Coefficients() []Coefficient {
	var out []Coefficient
	deviation := m.deviation()
	target := &m.Encoding.Target
	for k, w := range vector.Weights(m.Weights, m.Step) {
		class, unit, start := "", 1.0, 0.0
		switch {
		case !target.Categorical():
			unit, start = target.Half()*target.Unit(), target.Middle()*target.Unit()
		case len(m.Weights) == 1:
			class = target.Values[1]
		default:
			class = target.Values[k]
		}
		first := len(out)
		out = append(out, Coefficient{Class: class})
		intercept, variance, at := w[len(w)-1], 1.0, 0
		for i := range m.Encoding.Features {
			c := &m.Encoding.Features[i]
			if !c.Categorical() {
				per := 1 / (c.Half() * c.Unit())
				out = append(out, Coefficient{Class: class, Feature: c.Name, Weight: w[at] * per * unit, Deviation: deviation * per * unit})
				shift := c.Middle() / c.Half()
				intercept, variance = intercept-w[at]*shift, variance+shift*shift
			}
			for j, v := range c.Values {
				out = append(out, Coefficient{Class: class, Feature: c.Name, Value: v, Weight: w[at+j] * unit, Deviation: deviation * unit})
			}
			at += c.width()
		}
		// Coordinates of the noise are uncorrelated, radial ones too.
		out[first].Weight, out[first].Deviation = start+intercept*unit, deviation*math.Sqrt(variance)*unit
	}
	return out
}

// deviation is that of the noise on one weight, where all noise is on weights.
func (m *Model) deviation() float64 {
	if len(m.Noise) == 1 && m.Noise[0].On == "weights" {
		return m.Noise[0].Deviation()
	}
	return 0
}

package learn

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/learn/rows"
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
	x := make([]float64, m.Encoding.dim())
	at := 0
	for i := range m.Encoding.Features {
		c := &m.Encoding.Features[i]
		text, ok := row[c.Name]
		if !ok {
			return Prediction{}, fmt.Errorf("%w: there is no column %q; where its value is not known leave it empty", ErrRow, c.Name)
		}
		if err := c.read(text, x[at:at+c.width()]); err != nil {
			return Prediction{}, err
		}
		at += c.width()
	}
	x[at] = 1
	return m.say(rows.Clip(x, m.Radius)), nil // as in training
}

// PredictCodes is Predict for a row of codes as [Table.Add] takes them, with or without the
// target's.
func (m *Model) PredictCodes(codes []int64) (Prediction, error) {
	if n := len(m.Encoding.Features); len(codes) != n && len(codes) != n+1 {
		return Prediction{}, fmt.Errorf("%w: there are %d codes for %d features", ErrRow, len(codes), n)
	}
	x := make([]float64, m.Encoding.dim())
	m.Encoding.features(codes, x)
	return m.say(rows.Clip(x, m.Radius)), nil
}

// PredictValues is Predict for a row of numbers, one for each feature in order: in the units of the
// column, and for a category the place of its value. NaN is a missing value.
func (m *Model) PredictValues(values []float64) (Prediction, error) {
	if n := len(m.Encoding.Features); len(values) != n {
		return Prediction{}, fmt.Errorf("%w: there are %d values for %d features", ErrRow, len(values), n)
	}
	x := make([]float64, m.Encoding.dim())
	at := 0
	for i, v := range values {
		c := &m.Encoding.Features[i]
		switch {
		case math.IsNaN(v):
		case !c.Categorical():
			x[at] = c.position(v / c.unit())
		case v >= 0 && v < float64(len(c.Values)) && v == math.Trunc(v):
			x[at+int(v)] = 1
		}
		at += c.width()
	}
	x[at] = 1
	return m.say(rows.Clip(x, m.Radius)), nil
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
			x[0] = c.position(float64(day.Unix()/86400) / c.unit())
			return nil
		}
		return fmt.Errorf("%w: %q is no date for %q; write one such as 2024-12-31", ErrRow, text, c.Name)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%w: %q is no number for %q; leave it empty where it is not known", ErrRow, text, c.Name)
	}
	x[0] = c.position(v / c.unit())
	return nil
}

// say turns features into a prediction.
func (m *Model) say(x []float32) Prediction {
	w := weights(m.Weights, m.Step)
	target := &m.Encoding.Target
	if !target.Categorical() {
		z := math.Max(-1, math.Min(1, dot(w[0], x)))
		return Prediction{Value: (target.middle() + z*target.half()) * target.unit()}
	}
	z := make([]float64, len(target.Values))
	if len(w) == 1 {
		z[1] = dot(w[0], x)
		z[0] = -z[1]
	} else {
		for k := range w {
			z[k] = dot(w[k], x)
		}
	}
	p := Prediction{Class: target.Values[best(w, x)], Scores: map[string]float64{}}
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

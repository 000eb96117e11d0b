package workbench

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
)

// trainingRequest asks for a model of rows that are sent: numbers in the units of their columns,
// and of categories and classes the place of the value. What is missing is not a number.
type trainingRequest struct {
	Encoding   *learn.Encoding `json:"encoding"`
	Spec       learn.Spec      `json:"spec"`
	Neighbours string          `json:"neighbours"`
	MaxRows    int             `json:"max_rows"`
	Rows       int             `json:"rows"`
}

func (q *trainingRequest) plan(r *request) (*learn.Plan, error) {
	q.MaxRows = 1
	if err := r.decode(q); err != nil {
		return nil, err
	}
	neighbours, err := dp.ParseNeighbours(q.Neighbours)
	if err != nil {
		return nil, refuseRequest("%v", err)
	}
	return learn.Prepare(q.Encoding, q.Spec, learn.Group{Neighbours: neighbours, MaxRows: q.MaxRows})
}

// trainingPrice says what a training costs and how it goes.
type trainingPrice struct {
	Method string       `json:"method"`
	Why    []string     `json:"why"`
	Lines  []learn.Line `json:"plan"`
	Cost   dp.Cost      `json:"cost"`
	Model  *learn.Model `json:"model,omitempty"`
}

func newTrainingPrice(p *learn.Plan) trainingPrice {
	return trainingPrice{Method: p.Method, Why: p.Why, Lines: p.Describe(), Cost: p.Cost}
}

func quote(r *request) (*reply, error) {
	var q trainingRequest
	p, err := q.plan(r)
	if err != nil {
		return nil, err
	}
	return &reply{newTrainingPrice(p), nil}, nil
}

func fit(r *request) (*reply, error) {
	var q trainingRequest
	p, err := q.plan(r)
	if err != nil {
		return nil, err
	}
	columns := append(append([]learn.Column{}, q.Encoding.Features...), q.Encoding.Target)
	table, codes, at := p.NewTable(), make([]int64, len(columns)), 0
	if q.Rows < 0 || q.Rows > maxRequestBytes/8/len(columns) {
		return nil, refuseRequest("there are too many rows to send at once")
	}
	if err := r.numbers(q.Rows*len(columns), func(bits uint64) {
		codes[at] = encodeValue(&columns[at], math.Float64frombits(bits))
		if at++; at == len(columns) {
			table.Add(codes)
			at = 0
		}
	}); err != nil {
		return nil, err
	}
	m, err := learn.Fit(r.Context(), p, table, mech.NewReleaser(noise.NewSource()), nil)
	if err != nil {
		return nil, err
	}
	out := newTrainingPrice(p)
	out.Model = m
	return &reply{out, nil}, nil
}

// encodeValue returns the number of steps, or the place of a value. It is total, and looks at one
// value alone.
func encodeValue(c *learn.Column, v float64) int64 {
	switch {
	case math.IsNaN(v):
		return learn.Null
	case c.Categorical():
		if v >= 0 && v < float64(len(c.Values)) && v == math.Trunc(v) {
			return int64(v)
		}
		return -1
	}
	unit, _ := c.Step.Float64()
	return int64(math.Round(math.Max(float64(c.Lo), math.Min(float64(c.Hi), v/unit))))
}

// predictRequest asks what a model says about rows.
type predictRequest struct {
	Model json.RawMessage `json:"model"`
	Rows  int             `json:"rows"`
}

// predict returns for each row the score of each class, or the number.
func predict(r *request) (*reply, error) {
	var q predictRequest
	if err := r.decode(&q); err != nil {
		return nil, err
	}
	m, err := readModel(q.Model)
	if err != nil {
		return nil, err
	}
	width := len(m.Encoding.Features)
	if q.Rows < 0 || q.Rows > maxRequestBytes/8/max(width, len(m.Encoding.Target.Values)) {
		return nil, refuseRequest("there are too many rows to send at once")
	}
	var out []float64
	row := make([]float64, 0, width)
	var failed error
	if err := r.numbers(q.Rows*width, func(bits uint64) {
		if row = append(row, math.Float64frombits(bits)); len(row) < width || failed != nil {
			return
		}
		said, err := m.PredictValues(row)
		failed, row = err, row[:0]
		if m.Encoding.Target.Categorical() {
			for _, class := range m.Encoding.Target.Values {
				out = append(out, said.Scores[class])
			}
		} else {
			out = append(out, said.Value)
		}
	}); err != nil {
		return nil, err
	}
	return &reply{struct{}{}, realBytes(out)}, failed
}

// readModel reads a model that this program, or the curator, has released.
func readModel(text []byte) (*learn.Model, error) {
	if len(text) == 0 {
		return nil, refuseRequest("there is no model")
	}
	return learn.ReadModel(bytes.NewReader(text))
}

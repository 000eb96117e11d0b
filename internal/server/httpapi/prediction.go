package httpapi

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/learn"
)

// PredictionQuestion asks a model about rows, which are the asker's own.
type PredictionQuestion struct {
	Rows []map[string]cell `json:"rows" minItems:"1" maxItems:"100000" doc:"For each row its values by the names of the features, all of them; what is not known is null or empty"`
}

// cell is a value of a row: a text, a number, a truth or null, as it was written.
type cell string

// UnmarshalJSON implements [json.Unmarshaler].
func (c *cell) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*c = ""
		return nil
	}
	return (*label)(c).UnmarshalJSON(b)
}

// Schema implements [huma.SchemaProvider].
func (cell) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString, Nullable: true, MaxLength: new(1024)}, {Type: huma.TypeNumber},
		{Type: huma.TypeBoolean}}}
}

// Prediction is what a model says about a row.
type Prediction struct {
	Class  string             `json:"class,omitempty" doc:"Of a classifier: the most likely class"`
	Scores map[string]float64 `json:"scores,omitempty" doc:"Of a classifier: how much speaks for each class"`
	Value  *float64           `json:"value,omitempty" doc:"Of a regression: the number"`
}

// Predictions are those of some rows, in their order.
type Predictions struct {
	Predictions []Prediction `json:"predictions"`
}

// mostScores is how many scores one answer has at most.
const mostScores = 1_000_000

type predictionInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body PredictionQuestion
}

func (d *door) predictions() {
	register(d, operation(anyUser, http.MethodPost, "/v1/models/{id}/predict", "predict", "Predict",
		"What a model says about rows of yours. It is free: the model was released, and your rows are forgotten.", looking...),
		func(ctx context.Context, u users.User, in *predictionInput) (*body[Predictions], error) {
			out := Predictions{[]Prediction{}}
			datasets, analyst := d.modelled(u)
			err := d.Dispatcher.Model(ctx, u.Name, datasets, in.ID, analyst, func(ctx context.Context, m *api.KeptModel) error {
				if classes := max(1, len(m.Model.Encoding.Target.Values)); len(in.Body.Rows) > mostScores/classes {
					return invalid("these are more scores than one answer has",
						fmt.Sprintf("send at most %d rows at a time", mostScores/classes))
				}
				for i, row := range in.Body.Rows {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					p, err := predict(m.Model, row)
					if err != nil {
						return invalid(fmt.Sprintf("row %d: %v", i+1, err), "send values by the names of the model's features")
					}
					out.Predictions = append(out.Predictions, p)
				}
				return nil
			})
			return of(out), err
		})
}

func predict(m *learn.Model, row map[string]cell) (Prediction, error) {
	texts := make(map[string]string, len(row))
	for name, v := range row {
		texts[name] = string(v)
	}
	p, err := m.Predict(texts)
	if err != nil {
		return Prediction{}, err
	}
	out := Prediction{Class: p.Class, Scores: p.Scores}
	if m.Encoding.Target.Values == nil && !math.IsNaN(p.Value) && !math.IsInf(p.Value, 0) {
		out.Value = &p.Value
	}
	return out, nil
}

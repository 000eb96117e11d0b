package httpapi

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Models are several, in the order in which they were paid for.
type Models struct {
	Models api.List[*api.KeptModel] `json:"models"`
	Next   *uint64                  `json:"next,omitempty" doc:"Where to continue: the next value of after. Left out at the end"`
}

// weights stands for [learn.Model] in the document.
type weights struct{}

// Schema implements [huma.SchemaProvider]. What is in a model is the business of package learn, and
// may grow.
func (weights) Schema(huma.Registry) *huma.Schema {
	text, object := &huma.Schema{Type: huma.TypeString}, &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	return &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true,
		Required:    []string{"format", "method", "loss", "guarantee", "receipt", "encoding", "weights", "step"},
		Description: "A model as 'discreet predict' reads it. docs/learning.md describes the rest",
		Properties: map[string]*huma.Schema{
			"format": text, "method": text, "loss": text, "guarantee": object, "receipt": object,
			"encoding": {Type: huma.TypeObject, AdditionalProperties: true, Required: []string{"features", "target"},
				Description: "Features and target, with bounds and steps, or values",
				Properties:  map[string]*huma.Schema{"features": {Type: huma.TypeArray, Items: object}, "target": object}},
			"weights": {Type: huma.TypeArray, Description: "Whole numbers of steps: one list for each linear function, with the " +
				"intercept last", Items: &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeInteger}}},
			"step": {Type: huma.TypeNumber},
		},
	}
}

type modelsInput struct {
	After   int64  `query:"after" minimum:"-1" default:"-1" doc:"Only models paid for after this record"`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"The most to return"`
	Dataset string `query:"dataset" maxLength:"64" doc:"Only those of this dataset"`
}

type modelPath struct {
	ID string `path:"id" maxLength:"64"`
}

// modelHandler trains models, and keeps and applies them.
type modelHandler struct {
	dispatcher *admission.Dispatcher
	questions  *questionHandler
}

func (h *modelHandler) register(r *router) {
	h.registerTraining(r)
	register(r,
		operation(anyUser, http.MethodGet, "/v1/models", "models", "Your models",
			"Those that you paid for; an owner sees all of them. Page by page: a page can have fewer than limit, or none, and still a "+
				"next.",
			freeProblems...),
		func(ctx context.Context, u users.User, in *modelsInput) (*body[Models], error) {
			datasets, analyst := h.scope(u)
			if in.Dataset != "" {
				ds, err := datasetFor(h.dispatcher.DB().Policy(), u, in.Dataset)
				if err != nil {
					return nil, err
				}
				datasets = []string{ds.Name}
			}
			all, next, err := h.dispatcher.Models().List(ctx, u.Name, datasets,
				api.ModelsQuestion{Analyst: analyst, After: in.After, Limit: in.Limit, Reads: maxRecordsRead})
			if err != nil {
				return nil, err
			}
			for _, m := range all {
				hideFrom(u, m)
			}
			return bodyOf(Models{all, next}), nil
		})
	register(r,
		operation(anyUser, http.MethodGet, "/v1/models/{id}", "model", "A model",
			"One that you paid for, or were given because somebody had paid before; an owner sees all of them. Somebody else's looks the "+
				"same as one that does not exist. It is free.", freeProblems...),
		func(ctx context.Context, u users.User, in *modelPath) (*body[*api.KeptModel], error) {
			var out *api.KeptModel
			datasets, analyst := h.scope(u)
			err := h.dispatcher.Models().Use(ctx, u.Name, datasets, in.ID, analyst, func(_ context.Context, m *api.KeptModel) error {
				hideFrom(u, m)
				out = m
				return nil
			})
			return bodyOf(out), err
		})
	h.registerPredictions(r)
}

// scope returns the datasets whose models a user may see, and as whom: nobody in particular, for
// an owner.
func (h *modelHandler) scope(u users.User) (datasets []string, analyst string) {
	if u.Role == users.Owner {
		return visibleDatasets(h.dispatcher.DB().Policy(), u), ""
	}
	return AskableDatasets(h.dispatcher.DB().Policy(), u), u.Name
}

// hideFrom leaves out of a model what is not for a user.
func hideFrom(u users.User, m *api.KeptModel) {
	m.Time = m.Time.UTC()
	if u.Role != users.Owner && m.Analyst != u.Name {
		m.Analyst = ""
	}
}

type TrainingQuestion struct {
	Dataset  string  `json:"dataset,omitempty" maxLength:"64" doc:"You can leave it out if you have only one"`
	Features string  `json:"features" minLength:"1" doc:"One SELECT of numbers with bounds and columns with public keys; the model learns from its rows"`
	Target   string  `json:"target" minLength:"1" doc:"What to predict: a column of the SELECT, or an expression over the same tables. Public keys are predicted as classes, and a number as a number"`
	Epsilon  decimal `json:"epsilon" doc:"What to pay for the model"`
	Evaluate decimal `json:"evaluate,omitempty" doc:"What to pay on top for an estimate of how good the model is on the rows that it was trained on; leave it out for no estimate"`
	Loss     string  `json:"loss,omitempty" enum:"logistic,huber,squares" doc:"By default logistic for classes and squares for numbers"`
	Method   string  `json:"method,omitempty" enum:"auto,output,objective,minima" doc:"How the model is made private; auto chooses from what is public"`
	// The rest has defaults that follow from what is public.
	Regulariser float64            `json:"regulariser,omitempty" exclusiveMinimum:"0" doc:"Lambda of the sum over the rows, 1/C in other libraries; chosen for you if you leave it out"`
	Tune        []float64          `json:"tune,omitempty" maxItems:"64" doc:"Regularisers to choose from using the data; epsilon pays for that too"`
	Radius      float64            `json:"radius,omitempty" exclusiveMinimum:"0" doc:"The bound that rows are clipped to"`
	HalfWidth   float64            `json:"half_width,omitempty" exclusiveMinimum:"0" doc:"huber: half the width of the bend"`
	Residual    float64            `json:"residual,omitempty" exclusiveMinimum:"0" doc:"squares: beyond this residual the loss is linear; 1 is half the target's range"`
	Weights     map[string]float64 `json:"weights,omitempty" maxProperties:"1000" doc:"Public weights of classes"`
	Rows        int64              `json:"rows,omitempty" minimum:"1" doc:"About how many rows there are, if that is public: used to choose a method and to estimate accuracy"`
	Request     string             `json:"request,omitempty" pattern:"^[!-~]{1,63}$" doc:"The same as the header Idempotency-Key"`
}

type trainingInput struct {
	Key  string `header:"Idempotency-Key" pattern:"^[!-~]{1,63}$" doc:"A key for retries: a question sent again with the same key is charged once. Another user's keys are separate"`
	Body TrainingQuestion
}

type trainedAnswer struct {
	Key  string `header:"Idempotency-Key" doc:"The key that you sent, or a random one"`
	Body *api.Training
}

func (h *modelHandler) registerTraining(r *router) {
	register(r, operation(anyUser, http.MethodPost, "/v1/models", "train", "Train a model",
		"A linear classifier or regression that is differentially private. You pay before the data is read, and the charge stays, "+
			"whatever stops the training. The same question again gives the same model, free. Only a few are trained at once; the others "+
			"wait.",
		questionProblems...), h.train)
	register(r, operation(anyUser, http.MethodPost, "/v1/models/quote", "quote-model", "Price a model",
		"What the model would cost, how it would be trained, and why. It is free.", questionProblems...),
		func(ctx context.Context, u users.User, in *trainingInput) (*body[*api.TrainingQuote], error) {
			q, _, err := h.read(u, in)
			if err != nil {
				return nil, err
			}
			x, err := h.dispatcher.Models().Quote(ctx, q)
			if err != nil {
				return nil, err
			}
			return bodyOf(x), nil
		})
}

func (h *modelHandler) train(ctx context.Context, u users.User, in *trainingInput) (*trainedAnswer, error) {
	q, key, err := h.read(u, in)
	if err != nil {
		return nil, err
	}
	t, err := h.dispatcher.Models().Train(ctx, q)
	if err != nil {
		return nil, ProblemWithRequest(err, key)
	}
	return &trainedAnswer{key, t}, nil
}

// read reads a question for a model, and returns its key too.
func (h *modelHandler) read(u users.User, in *trainingInput) (q api.TrainingQuestion, key string, err error) {
	b := in.Body
	asked, key, err := h.questions.read(u, &questionInput{in.Key, Question{Dataset: b.Dataset, Epsilon: b.Epsilon, Request: b.Request}})
	if err != nil {
		return q, "", err
	}
	q = api.TrainingQuestion{Dataset: asked.Dataset, Analyst: u.Name, Features: b.Features, Target: b.Target, Request: key}
	q.Spec = learn.Spec{
		Loss: b.Loss, Method: b.Method, Regulariser: b.Regulariser, Tune: b.Tune, Radius: b.Radius, HalfWidth: b.HalfWidth,
		Residual: b.Residual, Weights: b.Weights, Rows: b.Rows,
	}
	q.Spec.Budget.Epsilon = asked.Epsilon
	if b.Evaluate != "" {
		if q.Spec.Evaluate, err = dp.Parse(string(b.Evaluate)); err != nil {
			return q, "", invalid("evaluate: "+err.Error(), "")
		}
		if q.Spec.Evaluate == 0 {
			return q, "", invalid("evaluate: it must be above 0", "leave it out for no estimate")
		}
	}
	return q, key, nil
}

var _ huma.SchemaProvider = weights{}

// PredictionQuestion asks a model about rows, which are the asker's own.
type PredictionQuestion struct {
	Rows []map[string]cell `json:"rows" minItems:"1" maxItems:"100000" doc:"For each row, the values of all features by name; an unknown value is null or empty"`
}

// cell is a value of a row: a text, a number, a truth or null, as it was written.
type cell string

func (c *cell) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*c = ""
		return nil
	}
	return (*label)(c).UnmarshalJSON(b)
}

func (cell) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString, Nullable: true, MaxLength: new(1024)}, {Type: huma.TypeNumber},
		{Type: huma.TypeBoolean}}}
}

// Prediction is what a model says about a row.
type Prediction struct {
	Class  string             `json:"class,omitempty" doc:"For a classifier: the most likely class"`
	Scores map[string]float64 `json:"scores,omitempty" doc:"For a classifier: the score of each class"`
	Value  *float64           `json:"value,omitempty" doc:"For a regression: the number"`
}

// Predictions are those of some rows, in their order.
type Predictions struct {
	Predictions []Prediction `json:"predictions"`
}

// maxScores is how many scores one answer has at most.
const maxScores = 1_000_000

type predictionInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body PredictionQuestion
}

func (h *modelHandler) registerPredictions(r *router) {
	register(r, operation(anyUser, http.MethodPost, "/v1/models/{id}/predict", "predict", "Predict",
		"What a model predicts for rows of yours. It is free: the model was released, and your rows are not kept.", freeProblems...),
		func(ctx context.Context, u users.User, in *predictionInput) (*body[Predictions], error) {
			out := Predictions{[]Prediction{}}
			datasets, analyst := h.scope(u)
			err := h.dispatcher.Models().Use(ctx, u.Name, datasets, in.ID, analyst, func(ctx context.Context, m *api.KeptModel) error {
				if classes := max(1, len(m.Model.Encoding.Target.Values)); len(in.Body.Rows) > maxScores/classes {
					return invalid("this asks for more scores than one answer can have",
						fmt.Sprintf("send at most %d rows at a time", maxScores/classes))
				}
				for i, row := range in.Body.Rows {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					p, err := predict(m.Model, row)
					if err != nil {
						return invalid(fmt.Sprintf("row %d: %v", i+1, err), "send values under the names of the model's features")
					}
					out.Predictions = append(out.Predictions, p)
				}
				return nil
			})
			return bodyOf(out), err
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

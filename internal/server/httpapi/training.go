package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/ledger"
)

// TrainingQuestion asks for a model.
type TrainingQuestion struct {
	Dataset  string  `json:"dataset,omitempty" maxLength:"64" doc:"May be left out where you have only one"`
	Features string  `json:"features" minLength:"1" doc:"One SELECT, of numbers with bounds and columns with public keys; each of its rows is one to learn from"`
	Target   string  `json:"target" minLength:"1" doc:"What to predict: a column of the SELECT, or an expression over the same tables. Its public keys are classes; a number is predicted as a number"`
	Epsilon  decimal `json:"epsilon" doc:"What to pay for the model"`
	Evaluate decimal `json:"evaluate,omitempty" doc:"What to pay on top for an estimate of how good it is on the rows that it was trained on; there is none where it is left out"`
	Loss     string  `json:"loss,omitempty" enum:"logistic,huber,squares" doc:"logistic for classes and squares for numbers, where it is left out"`
	Method   string  `json:"method,omitempty" enum:"auto,output,objective,minima" doc:"How it is made private; auto chooses from what is public"`
	// The rest has defaults that follow from what is public.
	Regulariser float64            `json:"regulariser,omitempty" exclusiveMinimum:"0" doc:"Lambda of the sum over the rows, 1/C of other libraries; one is chosen where it is left out"`
	Tune        []float64          `json:"tune,omitempty" maxItems:"64" doc:"Regularisers to choose from on the data, which epsilon pays for too"`
	Radius      float64            `json:"radius,omitempty" exclusiveMinimum:"0" doc:"What rows are clipped to"`
	HalfWidth   float64            `json:"half_width,omitempty" exclusiveMinimum:"0" doc:"huber: half of the width of the bend"`
	Residual    float64            `json:"residual,omitempty" exclusiveMinimum:"0" doc:"squares: beyond this residual the loss is straight; 1 is half of the target's range"`
	Weights     map[string]float64 `json:"weights,omitempty" maxProperties:"1000" doc:"Public weights of classes"`
	Rows        int64              `json:"rows,omitempty" minimum:"1" doc:"About how many rows there are, where that is public: for the choice of a method and for what is said about accuracy"`
	Request     string             `json:"request,omitempty" pattern:"^[!-~]{1,63}$" doc:"The same as the header Idempotency-Key"`
}

type trainingInput struct {
	Key  string `header:"Idempotency-Key" pattern:"^[!-~]{1,63}$" doc:"Names the question for retries: sent again with the same key, it is charged once. Keys of others are others"`
	Body TrainingQuestion
}

// Training is a model that was just paid for, or that had been.
type Training struct {
	ID        string             `json:"id" doc:"For GET /v1/models/{id} and predictions"`
	Model     weights            `json:"model"`
	Cost      dp.Cost            `json:"cost" doc:"What it cost now: nothing, where it had been paid for"`
	Remaining api.Remaining      `json:"remaining"`
	Receipt   render.ReceiptJSON `json:"receipt"`
	Version   api.DataVersion    `json:"data_version"`
	Alerts    []ledger.Alert     `json:"alerts"`
	Notes     []string           `json:"notes"`
}

type trained struct {
	Key  string `header:"Idempotency-Key" doc:"The key that was sent, or one that was drawn"`
	Body Training
}

// TrainingQuote says what a model would cost, and why.
type TrainingQuote struct {
	Dataset    string        `json:"dataset"`
	Unit       string        `json:"unit" doc:"Whom the guarantee protects: row, or the column that names a person"`
	Neighbours string        `json:"neighbours"`
	MaxRows    int64         `json:"max_rows" doc:"How many rows of one person count at most"`
	Method     string        `json:"method"`
	Why        []string      `json:"why" doc:"Why this method"`
	Plan       []PlanLine    `json:"plan" doc:"Regulariser, noise, and what the theorem promises about accuracy"`
	Epsilon    dp.Amount     `json:"epsilon" doc:"The price that was asked for"`
	Cost       dp.Cost       `json:"cost" doc:"What that is in the currency of the dataset's budget"`
	Pay        dp.Cost       `json:"pay" doc:"What would be charged now: nothing, where it is known"`
	Worth      Worth         `json:"worth" doc:"What the model alone promises"`
	Currency   string        `json:"currency" doc:"How the price comes about"`
	Known      bool          `json:"known" doc:"Whether it was paid for, and would be free"`
	Record     *uint64       `json:"record,omitempty" doc:"The charge that paid for it, where it is known"`
	Remaining  api.Remaining `json:"remaining" doc:"Before paying"`
	After      api.Remaining `json:"after" doc:"After paying"`
	Affordable bool          `json:"affordable" doc:"Whether the budget admits it now"`
}

// PlanLine is something about how a model would be trained.
type PlanLine struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Worth is an (epsilon, delta) promise.
type Worth struct {
	Epsilon dp.Amount `json:"epsilon"`
	Delta   dp.Amount `json:"delta"`
}

func (d *door) trainings() {
	register(d, operation(anyUser, http.MethodPost, "/v1/models", "train", "Train a model",
		"A linear classifier or regression that is differentially private. It is paid for before the data is looked at, and what it cost stays, whatever stops it. The same question again is the same model, free. Few are trained at once; the others wait.", asking...), d.train)
	register(d, operation(anyUser, http.MethodPost, "/v1/models/quote", "quote-model", "Price a model", "What it would cost, how it would be trained, and why. It is free.", asking...),
		func(ctx context.Context, u users.User, in *trainingInput) (*body[TrainingQuote], error) {
			q, _, err := d.training(u, in)
			if err != nil {
				return nil, err
			}
			x, err := d.Desk.QuoteTraining(ctx, q)
			if err != nil {
				return nil, err
			}
			return of(quoteOf(x)), nil
		})
}

func (d *door) train(ctx context.Context, u users.User, in *trainingInput) (*trained, error) {
	q, key, err := d.training(u, in)
	if err != nil {
		return nil, err
	}
	t, err := d.Desk.Train(ctx, q)
	if err != nil {
		p := *problemOf(err)
		if p.Spent != no {
			p.Request = key // see ask
		}
		return nil, &p
	}
	model, err := weightsOf(t.Model)
	if err != nil {
		return nil, err
	}
	return &trained{key, Training{
		ID: t.ID, Model: model, Cost: t.Cost, Remaining: t.Remaining, Version: t.Version,
		Receipt: render.ReceiptJSON{Sequence: t.Receipt.Sequence, Hash: t.Receipt.Hash, Free: t.Receipt.Free},
		Alerts:  append([]ledger.Alert{}, t.Alerts...), Notes: append([]string{}, t.Notes...),
	}}, nil
}

// training reads a question for a model, and returns its key too.
func (d *door) training(u users.User, in *trainingInput) (q api.TrainingQuestion, key string, err error) {
	b := in.Body
	asked, key, err := d.question(u, &questionInput{in.Key, Question{Dataset: b.Dataset, Epsilon: b.Epsilon, Request: b.Request}})
	if err != nil {
		return q, "", err
	}
	q = api.TrainingQuestion{Dataset: asked.Dataset, Analyst: u.Name, Features: b.Features, Target: b.Target, Request: key}
	q.Spec = learn.Spec{
		Loss: b.Loss, Method: b.Method, Regulariser: b.Regulariser, Tune: b.Tune, Radius: b.Radius, HalfWidth: b.HalfWidth, Residual: b.Residual, Weights: b.Weights, Rows: b.Rows,
	}
	q.Spec.Budget.Epsilon = asked.Epsilon
	if b.Evaluate != "" {
		if q.Spec.Evaluate, err = dp.Parse(string(b.Evaluate)); err != nil {
			return q, "", invalid("evaluate: "+err.Error(), "")
		}
		if q.Spec.Evaluate == 0 {
			return q, "", invalid("evaluate: it must be above 0", "leave it out to have no estimate")
		}
	}
	return q, key, nil
}

func quoteOf(x *api.TrainingQuote) TrainingQuote {
	out := TrainingQuote{
		Dataset: x.Dataset, Unit: x.Unit, Neighbours: x.Neighbours, MaxRows: x.MaxRows, Method: x.Method, Why: append([]string{}, x.Why...), Plan: []PlanLine{},
		Epsilon: x.Epsilon, Cost: x.Cost, Pay: x.Pay, Worth: Worth{x.Worth.Epsilon, x.Worth.Delta}, Currency: x.Currency, Known: x.Known,
		Remaining: x.Remaining, After: x.After, Affordable: x.Affordable,
	}
	for _, l := range x.Lines {
		out.Plan = append(out.Plan, PlanLine{l.Name, l.Value})
	}
	if x.Known {
		out.Record = new(x.Record)
	}
	return out
}

var _ huma.SchemaProvider = weights{}

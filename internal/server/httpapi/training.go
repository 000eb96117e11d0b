package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/learn"
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

type trained struct {
	Key  string `header:"Idempotency-Key" doc:"The key that was sent, or one that was drawn"`
	Body *api.Training
}

func (d *door) trainings() {
	register(d, operation(anyUser, http.MethodPost, "/v1/models", "train", "Train a model",
		"A linear classifier or regression that is differentially private. It is paid for before the data is looked at, and what it cost "+
			"stays, whatever stops it. The same question again is the same model, free. Few are trained at once; the others wait.",
		asking...), d.train)
	register(d, operation(anyUser, http.MethodPost, "/v1/models/quote", "quote-model", "Price a model",
		"What it would cost, how it would be trained, and why. It is free.", asking...),
		func(ctx context.Context, u users.User, in *trainingInput) (*body[*api.TrainingQuote], error) {
			q, _, err := d.training(u, in)
			if err != nil {
				return nil, err
			}
			x, err := d.Dispatcher.QuoteTraining(ctx, q)
			if err != nil {
				return nil, err
			}
			return of(x), nil
		})
}

func (d *door) train(ctx context.Context, u users.User, in *trainingInput) (*trained, error) {
	q, key, err := d.training(u, in)
	if err != nil {
		return nil, err
	}
	t, err := d.Dispatcher.Train(ctx, q)
	if err != nil {
		p := *ProblemOf(err)
		if p.Spent != no {
			p.Request = key // see ask
		}
		return nil, &p
	}
	return &trained{key, t}, nil
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
		Loss: b.Loss, Method: b.Method, Regulariser: b.Regulariser, Tune: b.Tune, Radius: b.Radius, HalfWidth: b.HalfWidth,
		Residual: b.Residual, Weights: b.Weights, Rows: b.Rows,
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

var _ huma.SchemaProvider = weights{}

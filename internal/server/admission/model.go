package admission

import (
	"cmp"
	"context"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// Train trains a model. It takes its turn like every question, and before that one of the few
// places for trainings: a training is work for all cores, and lasts.
func (d *Dispatcher) Train(ctx context.Context, q api.TrainingQuestion) (*api.Training, error) {
	var t *api.Training
	q.Request = Request(q.Analyst, q.Request)
	e := d.training("train", q)
	e.heavy = true
	err := d.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		q.AsOf = d.clock.last(d.tick(e.dataset))
		if t, err = d.library.Train(ctx, q, nil); err == nil {
			e.paid(t.Cost, t.Receipt.Sequence)
		}
		return err
	})
	return only(&t, err)
}

// QuoteTraining prices a training. It counts and waits like Explain.
func (d *Dispatcher) QuoteTraining(ctx context.Context, q api.TrainingQuestion) (*api.TrainingQuote, error) {
	var x *api.TrainingQuote
	err := d.serve(ctx, d.training("quote", q), func(ctx context.Context, e *entry) (err error) {
		e.outcome = priced
		q.AsOf = d.clock.last(d.tick(e.dataset))
		x, err = d.library.QuoteTraining(ctx, q)
		return err
	})
	return only(&x, err)
}

func (d *Dispatcher) training(kind string, q api.TrainingQuestion) *entry {
	return &entry{kind: kind, analyst: q.Analyst, dataset: cmp.Or(q.Dataset, d.lone), text: q.Features + "\n" + q.Target}
}

// Models lists models of some datasets, those of an analyst or, where there is no analyst, all. It
// is a look: at what was released, as of the last tick.
func (d *Dispatcher) Models(
	ctx context.Context, user string, datasets []string, q api.ModelsQuestion,
) (all []*api.KeptModel, next *uint64, err error) {
	err = d.Look(ctx, user, func(ctx context.Context) (err error) {
		q.AsOf = d.asOf(datasets)
		all, next, err = d.library.Models(ctx, q)
		return err
	})
	return all, next, err
}

// Model returns a model by its name, and does something with it, such as predicting. Analyst is who
// may have been given it; empty, where it is the owner. It is a look like Models.
func (d *Dispatcher) Model(
	ctx context.Context, user string, datasets []string, id, analyst string, use func(context.Context, *api.KeptModel) error,
) error {
	return d.Look(ctx, user, func(ctx context.Context) error {
		m, err := d.library.Model(ctx, id, analyst, d.asOf(datasets))
		if err != nil {
			return err
		}
		return use(ctx, m)
	})
}

// asOf is the last tick of each dataset: what was answered after it is not there yet.
func (d *Dispatcher) asOf(datasets []string) map[string]time.Time {
	out := map[string]time.Time{}
	for _, name := range datasets {
		out[name] = d.clock.last(d.tick(name))
	}
	return out
}

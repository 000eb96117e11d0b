package admission

import (
	"cmp"
	"context"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// Models are what was trained, and what trains. It is safe for concurrent use.
type Models struct {
	library     library
	runner      *runner
	ticks       *ticks
	onlyDataset string // the only dataset, where there is one
	look        func(ctx context.Context, user string, look func(context.Context) error) error
}

// Train trains a model. It takes its turn like every question, and before that one of the few
// places for trainings: a training is work for all cores, and lasts.
func (m *Models) Train(ctx context.Context, q api.TrainingQuestion) (*api.Training, error) {
	var t *api.Training
	q.Request = Request(q.Analyst, q.Request)
	e := m.entry("train", q)
	e.training = true
	err := m.runner.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		q.AsOf = m.ticks.last(e.dataset)
		if t, err = m.library.Train(ctx, q, nil); err == nil {
			e.setCost(t.Cost, t.Receipt.Sequence)
		}
		return err
	})
	return orError(&t, err)
}

// Quote prices a training. It counts and waits like Explain.
func (m *Models) Quote(ctx context.Context, q api.TrainingQuestion) (*api.TrainingQuote, error) {
	var x *api.TrainingQuote
	err := m.runner.serve(ctx, m.entry("quote", q), func(ctx context.Context, e *entry) (err error) {
		e.outcome = priced
		q.AsOf = m.ticks.last(e.dataset)
		x, err = m.library.QuoteTraining(ctx, q)
		return err
	})
	return orError(&x, err)
}

func (m *Models) entry(kind string, q api.TrainingQuestion) *entry {
	return &entry{kind: kind, analyst: q.Analyst, dataset: cmp.Or(q.Dataset, m.onlyDataset), text: q.Features + "\n" + q.Target}
}

// List lists models of some datasets, those of an analyst or, where there is no analyst, all. It
// is a look: at what was released, as of the last tick.
func (m *Models) List(
	ctx context.Context, user string, datasets []string, q api.ModelsQuestion,
) (all []*api.KeptModel, next *uint64, err error) {
	err = m.look(ctx, user, func(ctx context.Context) (err error) {
		q.AsOf = m.asOf(datasets)
		all, next, err = m.library.Models(ctx, q)
		return err
	})
	return all, next, err
}

// Use finds a model by its name, and does something with it, such as predicting. Analyst is who
// may have been given it; empty, where it is the owner. It is a look like List.
func (m *Models) Use(
	ctx context.Context, user string, datasets []string, id, analyst string, use func(context.Context, *api.KeptModel) error,
) error {
	return m.look(ctx, user, func(ctx context.Context) error {
		model, err := m.library.Model(ctx, id, analyst, m.asOf(datasets))
		if err != nil {
			return err
		}
		return use(ctx, model)
	})
}

// asOf is the last tick of each dataset: what was answered after it is not there yet.
func (m *Models) asOf(datasets []string) map[string]time.Time {
	out := map[string]time.Time{}
	for _, name := range datasets {
		out[name] = m.ticks.last(name)
	}
	return out
}

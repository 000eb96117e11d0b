package discreet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/training"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/ledger"
)

// QuoteTraining prices a training without asking for it. It is free.
func (db *DB) QuoteTraining(ctx context.Context, q api.TrainingQuestion) (*api.TrainingQuote, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	return ds.Trainings.Quote(ctx, q)
}

// Train trains a model, or says why not: a [*api.Refusal] or a [*ledger.BudgetError] spent nothing.
// The same question again is the same model, free. Progress may be nil.
func (db *DB) Train(ctx context.Context, q api.TrainingQuestion, progress func(learn.Progress)) (*api.Training, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	given := q.Request != ""
	if !given {
		q.Request = db.request()
	}
	t, err := ds.Trainings.Train(ctx, q, progress)
	var unsecured *ledger.WriteError
	if !given && errors.As(err, &unsecured) && unsecured.MayCount() {
		err = fmt.Errorf("%w. The request identifier is %s", err, q.Request) // or nobody could ask again with it
	}
	return t, err
}

// Models lists models in the order of their charges, without the models themselves, and returns the
// record to go on after, or nil at the end of the ledger. It does not open the data.
func (db *DB) Models(ctx context.Context, q api.ModelsQuestion) (models []*api.KeptModel, next *uint64, err error) {
	read := 0
	for r, err := range db.ledger.Records(ctx, uint64(q.After+1)) {
		if err != nil {
			return nil, nil, err
		}
		m, err := db.listed(ctx, q, r)
		if err != nil {
			return nil, nil, err
		}
		if m != nil {
			models = append(models, m)
		}
		if read++; len(models) == q.Limit || read == q.Reads {
			return models, new(r.Sequence), nil
		}
	}
	return models, nil, nil
}

// listed returns the model of a record that the question is about, or nil.
func (db *DB) listed(ctx context.Context, q api.ModelsQuestion, r *ledger.Record) (*api.KeptModel, error) {
	asOf, wanted := q.AsOf[r.Dataset]
	if !wanted || r.Kind != ledger.KindCharge || q.Analyst != "" && r.Analyst != q.Analyst {
		return nil, nil
	}
	ds, err := db.dataset(r.Dataset)
	if err != nil {
		return nil, err
	}
	if q.Analyst != "" && ds.Admit(q.Analyst) != nil {
		return nil, nil // whose access has ended
	}
	m, err := ds.Trainings.Model(ctx, r, asOf)
	if errors.Is(err, api.ErrNoModel) {
		return nil, nil
	}
	if m != nil {
		m.Model = nil
	}
	return m, err
}

// Model returns a model by its name, which whoever was given it knows. AsOf has the datasets that
// may be looked at, as in [api.ModelsQuestion]. The analyst has to be one of the model's dataset;
// empty means the owner. It does not open the data.
func (db *DB) Model(ctx context.Context, id, analyst string, asOf map[string]time.Time) (*api.KeptModel, error) {
	sequence, ok := training.ModelSequence(id)
	if !ok {
		return nil, api.ErrNoModel
	}
	r, err := db.Record(ctx, sequence)
	if errors.As(err, new(*ledger.NoRecordError)) {
		return nil, api.ErrNoModel
	}
	if err != nil {
		return nil, err
	}
	at, wanted := asOf[r.Dataset]
	if !wanted || r.Kind != ledger.KindCharge {
		return nil, api.ErrNoModel
	}
	ds, err := db.dataset(r.Dataset)
	if err != nil {
		return nil, err
	}
	m, err := ds.Trainings.Model(ctx, r, at)
	if err != nil {
		return nil, err
	}
	if m.ID != id {
		return nil, api.ErrNoModel // somebody counts
	}
	if analyst != "" {
		if err := ds.Admit(analyst); err != nil {
			return nil, err
		}
	}
	return m, nil
}

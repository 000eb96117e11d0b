package discreet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/ledger"
)

// Models: linear classifiers and regressions that are private. See docs/learning.md, and package learn for methods and guarantees.
type (
	// TrainingQuote says what a model would cost and how it would be trained.
	TrainingQuote = curator.TrainingQuote
	// Training is a model that was paid for.
	Training = curator.Training
	// KeptModel is a model that was trained before.
	KeptModel = curator.KeptModel
	// Model is the model itself: what was released, how to use it, and its guarantee.
	Model = learn.Model
	// TrainingSpec says what to train, and for how much.
	TrainingSpec = learn.Spec
	// TrainingProgress says how far a training is. It depends on the data, so it is for the owner.
	TrainingProgress = learn.Progress
)

// How a training fails, beside refusals and budgets.
var (
	// ErrTraining: it failed after the charge, which stays. Why is not said, because it depends on the data.
	ErrTraining = curator.ErrTraining
	// ErrNoModel: there is none of this name.
	ErrNoModel = curator.ErrNoModel
)

// TrainingQuestion asks for a model.
type TrainingQuestion struct {
	Dataset string // may be empty where the policy has only one
	Analyst string
	// Features is a SELECT of one row for each row to learn from: numbers with bounds and columns with public keys. Target is the name of one of its columns, or an
	// expression over the same tables.
	Features, Target string
	// Spec says what to train. Budget.Epsilon is the price of the weights, and Evaluate, on top of it, that of an estimate of the accuracy.
	Spec TrainingSpec
	// AsOf is a moment, or zero: see [Question].
	AsOf    time.Time
	Request string // names the question for retries; empty means a new one
}

func (q TrainingQuestion) asked() curator.TrainingQuestion {
	return curator.TrainingQuestion{Analyst: q.Analyst, Features: q.Features, Target: q.Target, Spec: q.Spec, Request: q.Request, AsOf: q.AsOf}
}

// QuoteTraining prices a training without asking for it. It is free.
func (db *DB) QuoteTraining(ctx context.Context, q TrainingQuestion) (*TrainingQuote, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	return ds.QuoteTraining(ctx, q.asked())
}

// Train trains a model, or says why not: a [*Refusal] or a [*BudgetError] spent nothing. The same question again is the same model, free. Progress may be nil.
func (db *DB) Train(ctx context.Context, q TrainingQuestion, progress func(TrainingProgress)) (*Training, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	given := q.Request != ""
	if !given {
		q.Request = db.request()
	}
	t, err := ds.Train(ctx, q.asked(), progress)
	var unsecured *ledger.WriteError
	if !given && errors.As(err, &unsecured) && unsecured.Charged {
		err = fmt.Errorf("%w. The request identifier is %s", err, q.Request) // or nobody could ask again with it
	}
	return t, err
}

// ModelsQuestion asks which models there are.
type ModelsQuestion struct {
	// AsOf has the datasets to look at, each with a moment or zero: models that were kept after it are not there. See [Question].
	AsOf map[string]time.Time
	// Analyst is whose models these are: those that they paid for. Empty means everybody's, for the owner.
	Analyst string
	// After is the last record that was seen, or -1; Limit how many models there are at most, and Reads how many records are looked through at most.
	After        int64
	Limit, Reads int
}

// Models lists models in the order of their charges, without the models themselves, and returns the record to go on after, or nil at the end of the ledger. It does not open the data.
func (db *DB) Models(ctx context.Context, q ModelsQuestion) (models []*KeptModel, next *uint64, err error) {
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
func (db *DB) listed(ctx context.Context, q ModelsQuestion, r *ledger.Record) (*KeptModel, error) {
	asOf, wanted := q.AsOf[r.Dataset]
	if !wanted || r.Kind != ledger.KindCharge || q.Analyst != "" && r.Analyst != q.Analyst {
		return nil, nil
	}
	ds, err := db.dataset(r.Dataset)
	if err != nil {
		return nil, err
	}
	if q.Analyst != "" && ds.Admits(q.Analyst) != nil {
		return nil, nil // whose access has ended
	}
	m, err := ds.Model(ctx, r, asOf)
	if errors.Is(err, ErrNoModel) {
		return nil, nil
	}
	if m != nil {
		m.Model = nil
	}
	return m, err
}

// Model returns a model by its name, which whoever was given it knows. AsOf has the datasets that may be looked at, as in [ModelsQuestion]. The analyst has to be one of the model's dataset; empty means the
// owner. It does not open the data.
func (db *DB) Model(ctx context.Context, id, analyst string, asOf map[string]time.Time) (*KeptModel, error) {
	sequence, ok := curator.ModelSequence(id)
	if !ok {
		return nil, ErrNoModel
	}
	r, err := db.Record(ctx, sequence)
	if errors.As(err, new(*NoRecordError)) {
		return nil, ErrNoModel
	}
	if err != nil {
		return nil, err
	}
	at, wanted := asOf[r.Dataset]
	if !wanted || r.Kind != ledger.KindCharge {
		return nil, ErrNoModel
	}
	ds, err := db.dataset(r.Dataset)
	if err != nil {
		return nil, err
	}
	m, err := ds.Model(ctx, r, at)
	if err != nil {
		return nil, err
	}
	if m.ID != id {
		return nil, ErrNoModel // somebody counts
	}
	if analyst != "" {
		if err := ds.Admits(analyst); err != nil {
			return nil, err
		}
	}
	return m, nil
}

package discreet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/session/sparsesession"
	"github.com/discreet-dp/discreet/internal/session/training"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// StreamQuestions are about the streams of a policy.
type StreamQuestions struct{ datasets *datasets }

// Streams lists the streams of a dataset: what the policy says of each, and what answers cost. It
// does not open the data.
func (s StreamQuestions) Streams(dataset string) ([]api.StreamInfo, error) {
	ds, err := s.datasets.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.List()
}

// AskStream asks a stream for a count, or says why not: a [*api.Refusal] or a [*ledger.BudgetError]
// spent nothing.
func (s StreamQuestions) AskStream(ctx context.Context, q api.StreamQuestion) (*api.StreamAnswer, error) {
	ds, err := s.datasets.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.Ask(ctx, q)
}

// QuoteStream says how a question would be answered, and the most that it could cost now. It is
// free and looks at no data.
func (s StreamQuestions) QuoteStream(ctx context.Context, q api.StreamQuestion) (*api.StreamQuote, error) {
	ds, err := s.datasets.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.Quote(ctx, q)
}

// StreamReport returns the accounts of a stream on the current data. It is for the owner: it counts
// answers as soon as they are there, also where these leave on a tick.
func (s StreamQuestions) StreamReport(ctx context.Context, dataset, stream string) (*api.StreamReport, error) {
	ds, err := s.datasets.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.Report(ctx, stream)
}

// Synthetic returns a table of people that nobody is: what the stream has come to believe from its
// answers. It is free. What it is good for is in docs/streams.md.
func (s StreamQuestions) Synthetic(ctx context.Context, dataset, stream, analyst string) (*api.SyntheticTable, error) {
	ds, err := s.datasets.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.Synthetic(ctx, stream, analyst)
}

// RehearseStream runs a workload of conditions through a stream in memory, for the owner. Nothing
// is charged, kept or released: the result has seen the data without noise, and is to be shown to
// nobody else. It calls progress after each question, of each of the ways that it compares and of
// the stream itself.
func (s StreamQuestions) RehearseStream(
	ctx context.Context, dataset, stream string, workload []string, progress func(done int),
) (*api.Rehearsal, error) {
	ds, err := s.datasets.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.Rehearse(ctx, stream, workload, progress)
}

// HoldoutQuestions are about the holdouts of a policy.
type HoldoutQuestions struct{ datasets *datasets }

// Holdouts lists the holdouts of a dataset, and what they cost. It is free.
func (h HoldoutQuestions) Holdouts(dataset string) ([]api.HoldoutInfo, error) {
	ds, err := h.datasets.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Holdouts.List()
}

// HoldoutStatus says how many answers a holdout has left, and whether a round is open, so that the
// next question is free. It is free.
func (h HoldoutQuestions) HoldoutStatus(ctx context.Context, dataset, holdout string) (api.HoldoutStatus, error) {
	ds, err := h.datasets.dataset(dataset)
	if err != nil {
		return api.HoldoutStatus{}, err
	}
	return ds.Holdouts.Status(ctx, holdout)
}

// AskHoldout scores something on a holdout. The score is the training value where the holdout
// confirms it, and comes from the holdout with noise where not. A round is paid for once: all
// scores up to and including the next one that the holdout contradicts. A [*api.Refusal] or a
// [*ledger.BudgetError] spent nothing.
func (h HoldoutQuestions) AskHoldout(ctx context.Context, q api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
	ds, err := h.datasets.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	return ds.Holdouts.Ask(ctx, q)
}

// Board returns the scores on the board of a holdout, the best first. All of them were released. It
// is public among the analysts of the dataset; that only they see it is for the caller to see to.
func (h HoldoutQuestions) Board(ctx context.Context, dataset, holdout string) ([]api.BoardLine, error) {
	ds, err := h.datasets.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Holdouts.Board(ctx, holdout)
}

// Sparse is an open session. It ends with the process, with the data, with the window of the budget
// that paid for it, with its last "above", after [api.MostSparseAnswers] answers, and with a
// question that the engine does not finish, which a cancelled one is, or with a [DB.Reload] that
// changes tables or views; what it cost stays. It is safe for concurrent use.
type Sparse struct {
	session *sparsesession.Session
	admit   func() error
}

// OpenSparse charges for a session and opens it. A [*api.Refusal] or a [*ledger.BudgetError] spent
// nothing, but for the refusal of a request that was charged before.
func (db *DB) OpenSparse(ctx context.Context, q api.SparseQuestion) (*Sparse, error) {
	ds, err := db.datasets.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	if q.Request == "" {
		q.Request = db.datasets.request()
	}
	s, err := ds.Sparse.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	return &Sparse{s, func() error { return db.datasets.admitSparse(ds.policy, q.Analyst) }}, nil
}

// admitSparse refuses a question of a session that was opened under a policy which another one
// has replaced: where tables or views are others, or the analyst may not ask any more. What was
// paid for goes on otherwise, as it was when it was paid for.
func (d *datasets) admitSparse(opened *policy.Dataset, analyst string) error {
	now, err := d.dataset(opened.Name)
	switch {
	case err != nil:
		return err
	case now.policy == opened:
		return nil
	case !policy.SameData(opened, now.policy) || !maps.Equal(opened.Views, now.policy.Views):
		return api.ErrSessionPolicy
	}
	return now.Admit(analyst)
}

// Ask asks whether the only number of a question is at or above a threshold. Questions are answered
// one after the other.
func (s *Sparse) Ask(ctx context.Context, sql, threshold string) (*api.SparseVerdict, error) {
	if s == nil || s.session == nil {
		return nil, errNoSession
	}
	if err := s.admit(); err != nil {
		return nil, err
	}
	return s.session.Ask(ctx, sql, threshold)
}

var errNoSession = errors.New("the session was not opened")

// Left returns how many questions can still be answered "above"; at 0 the session has ended.
func (s *Sparse) Left() int {
	if s == nil || s.session == nil {
		return 0
	}
	return s.session.Left()
}

// Cost returns what the session cost, and Receipt where the charge stands in the ledger.
func (s *Sparse) Cost() dp.Cost {
	if s == nil || s.session == nil {
		return dp.Cost{}
	}
	return s.session.Cost
}

// Receipt says where the charge of the session stands in the ledger.
func (s *Sparse) Receipt() api.Receipt {
	if s == nil || s.session == nil {
		return api.Receipt{}
	}
	return s.session.Receipt
}

// Alerts say which accounts the session took over a part of their limits.
func (s *Sparse) Alerts() []ledger.Alert {
	if s == nil || s.session == nil {
		return nil
	}
	return s.session.Alerts
}

// Trainings are about models.
type Trainings struct{ datasets *datasets }

// QuoteTraining prices a training without asking for it. It is free.
func (t Trainings) QuoteTraining(ctx context.Context, q api.TrainingQuestion) (*api.TrainingQuote, error) {
	ds, err := t.datasets.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	return ds.Trainings.Quote(ctx, q)
}

// Train trains a model, or says why not: a [*api.Refusal] or a [*ledger.BudgetError] spent nothing.
// The same question again is the same model, free. Progress may be nil.
func (t Trainings) Train(ctx context.Context, q api.TrainingQuestion, progress func(api.TrainingProgress)) (*api.Training, error) {
	ds, err := t.datasets.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	given := q.Request != ""
	if !given {
		q.Request = t.datasets.request()
	}
	model, err := ds.Trainings.Train(ctx, q, progress)
	var unsecured *ledger.WriteError
	if !given && errors.As(err, &unsecured) && unsecured.MayCount() {
		err = fmt.Errorf("%w. The request identifier is %s", err, q.Request) // or nobody could ask again with it
	}
	return model, err
}

// Models lists models in the order of their charges, without the models themselves, and returns the
// record to go on after, or nil at the end of the ledger. It does not open the data.
func (t Trainings) Models(ctx context.Context, q api.ModelsQuestion) (models []*api.KeptModel, next *uint64, err error) {
	read := 0
	for r, err := range t.datasets.ledger.Records(ctx, uint64(q.After+1)) {
		if err != nil {
			return nil, nil, err
		}
		m, err := t.listed(ctx, q, r)
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
func (t Trainings) listed(ctx context.Context, q api.ModelsQuestion, r *ledger.Record) (*api.KeptModel, error) {
	asOf, wanted := q.AsOf[r.Dataset]
	if !wanted || r.Kind != ledger.KindCharge || q.Analyst != "" && r.Analyst != q.Analyst {
		return nil, nil
	}
	ds, err := t.datasets.dataset(r.Dataset)
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
func (t Trainings) Model(ctx context.Context, id, analyst string, asOf map[string]time.Time) (*api.KeptModel, error) {
	sequence, ok := training.ModelSequence(id)
	if !ok {
		return nil, api.ErrNoModel
	}
	r, err := t.datasets.record(ctx, sequence)
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
	ds, err := t.datasets.dataset(r.Dataset)
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

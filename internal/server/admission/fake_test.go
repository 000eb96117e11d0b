package admission

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/policy"
)

// fake is a library that does what a test says. Time in these tests is made up (testing/synctest),
// so that they are exact and take none.
type fake struct {
	ask    func(context.Context, api.Question) (*api.Answer, error)
	first  func(api.Question) (*api.Question, api.Question, error)
	recall func(context.Context, api.Question) (*api.Answer, bool)
	open   func(context.Context, api.SparseQuestion) (*discreet.Sparse, error)
	sparse func(context.Context, string) (*api.SparseVerdict, error)
	stream func(context.Context, api.StreamQuestion) (*api.StreamAnswer, error)
	train  func(context.Context, api.TrainingQuestion) (*api.Training, error)
	score  func(context.Context, api.HoldoutQuestion) (*api.HoldoutAnswer, error)
}

func (f fake) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	return f.ask(ctx, q)
}

func (f fake) MayChoose(api.Question) bool { return f.first != nil }

func (f fake) First(_ context.Context, q api.Question) (*api.Question, api.Question, error) {
	return f.first(q)
}

func (f fake) Remembered(ctx context.Context, q api.Question) (*api.Answer, bool) {
	if f.recall == nil {
		return nil, false
	}
	return f.recall(ctx, q)
}

func (f fake) Explain(ctx context.Context, q api.Question) (*api.Explanation, error) {
	_, err := f.ask(ctx, q)
	return &api.Explanation{}, err
}

func (f fake) Describe(ctx context.Context, q api.Question) (*api.Description, error) {
	_, err := f.ask(ctx, q)
	return &api.Description{}, err
}

func (f fake) OpenSparse(ctx context.Context, q api.SparseQuestion) (*discreet.Sparse, error) {
	return f.open(ctx, q)
}

func (f fake) AskSparse(ctx context.Context, _ *discreet.Sparse, sql, _ string) (*api.SparseVerdict, error) {
	return f.sparse(ctx, sql)
}

func (f fake) Streams(string) ([]api.StreamInfo, error) {
	return []api.StreamInfo{{Name: "first"}, {Name: "second"}}, nil
}

func (f fake) AskStream(ctx context.Context, q api.StreamQuestion) (*api.StreamAnswer, error) {
	return f.stream(ctx, q)
}

func (f fake) QuoteStream(ctx context.Context, q api.StreamQuestion) (*api.StreamQuote, error) {
	a, err := f.stream(ctx, q)
	if err != nil {
		return nil, err
	}
	return &api.StreamQuote{Cost: a.Cost}, nil
}

func (f fake) StreamReport(context.Context, string, string) (*stream.Report, error) {
	return &stream.Report{}, nil
}

func (f fake) Synthetic(_ context.Context, _, _, analyst string) (*api.SyntheticTable, error) {
	if analyst == "cleo" {
		return nil, errRun
	}
	return &api.SyntheticTable{}, nil
}

func (f fake) Holdouts(dataset string) ([]api.HoldoutInfo, error) {
	if dataset != "people" {
		return nil, &api.Refusal{Reason: "there is no such dataset", Position: -1}
	}
	return []api.HoldoutInfo{{Name: "only"}}, nil
}

func (f fake) HoldoutStatus(context.Context, string, string) (api.HoldoutStatus, error) {
	return api.HoldoutStatus{Left: 9}, nil
}

func (f fake) AskHoldout(ctx context.Context, q api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
	return f.score(ctx, q)
}

func (f fake) QuoteTraining(ctx context.Context, q api.TrainingQuestion) (*api.TrainingQuote, error) {
	t, err := f.train(ctx, q)
	if err != nil {
		return nil, err
	}
	return &api.TrainingQuote{Cost: t.Cost}, nil
}

func (f fake) Train(ctx context.Context, q api.TrainingQuestion, _ func(learn.Progress)) (*api.Training, error) {
	return f.train(ctx, q)
}

func (f fake) Models(_ context.Context, q api.ModelsQuestion) ([]*api.KeptModel, *uint64, error) {
	return []*api.KeptModel{{ID: "7-a", Analyst: q.Analyst, Time: q.AsOf["people"]}}, nil, nil
}

func (f fake) Model(_ context.Context, id, analyst string, asOf map[string]time.Time) (*api.KeptModel, error) {
	if id != "7-a" {
		return nil, api.ErrNoModel
	}
	return &api.KeptModel{ID: id, Analyst: analyst, Time: asOf["people"]}, nil
}

func (f fake) Board(context.Context, string, string) ([]api.BoardLine, error) {
	return []api.BoardLine{{Name: "tree"}}, nil
}

// takes is a library that takes some time for every question and then answers, unless it is
// interrupted.
func takes(d time.Duration) fake {
	return fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
		if err := work(ctx, d); err != nil {
			return nil, err
		}
		return paidFor(), nil
	}}
}

// errRun is what an engine says that failed, interrupted or not.
var errRun = errors.New("the engine could not run this question")

func work(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return errRun
	}
}

func paidFor() *api.Answer {
	a := &api.Answer{Cost: dp.Cost{Epsilon: dp.One / 10}}
	a.Receipt.Sequence = 7
	return a
}

// people returns a policy with the analysts ana, ben and cleo.
func people(t testing.TB, release string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.yaml",
		[]byte("datasets:\n  people: {engine: duckdb, source: people.csv, unit: row, budget: {epsilon: 1}, analysts: {ana: , ben: , "+
			"cleo: }, tables: {people: {columns: {}}}, release: "+release+"}\n"))
	must(t, err)
	return p
}

func from(analyst string) api.Question {
	return api.Question{Analyst: analyst, SQL: "SELECT 1"}
}

// quiet fails where a dispatcher without a question holds on to something.
func quiet(t *testing.T, d *Dispatcher) {
	t.Helper()
	for _, q := range []*queue{d.runner.queue, d.runner.trainings, d.reads, d.runner.lane} {
		if q.turns != 0 || q.inside != 0 || len(q.lines) != 0 || len(q.ring) != 0 {
			t.Errorf("the queue still has %d turns, %d questions, %d lines and a ring of %d", q.turns, q.inside, len(q.lines), len(q.ring))
		}
	}
}

// must ends a test that cannot go on.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

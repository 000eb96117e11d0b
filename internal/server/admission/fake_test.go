package admission

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/policy"
)

// fake is a library that does what a test says. Time in these tests is made up (testing/synctest), so that they are exact and take none.
type fake struct {
	ask    func(context.Context, discreet.Question) (*discreet.Answer, error)
	open   func(context.Context, discreet.SparseQuestion) (*discreet.Sparse, error)
	sparse func(context.Context, string) (*discreet.SparseVerdict, error)
	stream func(context.Context, discreet.StreamQuestion) (*discreet.StreamAnswer, error)
	train  func(context.Context, discreet.TrainingQuestion) (*discreet.Training, error)
	score  func(context.Context, discreet.HoldoutQuestion) (*discreet.HoldoutAnswer, error)
}

func (f fake) Ask(ctx context.Context, q discreet.Question) (*discreet.Answer, error) {
	return f.ask(ctx, q)
}

func (f fake) Explain(ctx context.Context, q discreet.Question) (*discreet.Explanation, error) {
	_, err := f.ask(ctx, q)
	return &discreet.Explanation{}, err
}

func (f fake) Describe(ctx context.Context, q discreet.Question) (*discreet.Description, error) {
	_, err := f.ask(ctx, q)
	return &discreet.Description{}, err
}

func (f fake) OpenSparse(ctx context.Context, q discreet.SparseQuestion) (*discreet.Sparse, error) {
	return f.open(ctx, q)
}

func (f fake) AskSparse(ctx context.Context, _ *discreet.Sparse, sql, _ string) (*discreet.SparseVerdict, error) {
	return f.sparse(ctx, sql)
}

func (f fake) Streams(string) ([]discreet.StreamInfo, error) {
	return []discreet.StreamInfo{{Name: "first"}, {Name: "second"}}, nil
}

func (f fake) AskStream(ctx context.Context, q discreet.StreamQuestion) (*discreet.StreamAnswer, error) {
	return f.stream(ctx, q)
}

func (f fake) QuoteStream(ctx context.Context, q discreet.StreamQuestion) (*discreet.StreamQuote, error) {
	a, err := f.stream(ctx, q)
	if err != nil {
		return nil, err
	}
	return &discreet.StreamQuote{Cost: a.Cost}, nil
}

func (f fake) StreamReport(context.Context, string, string) (*discreet.StreamReport, error) {
	return &discreet.StreamReport{}, nil
}

func (f fake) Synthetic(_ context.Context, _, _, analyst string) (*discreet.SyntheticTable, error) {
	if analyst == "cleo" {
		return nil, errRun
	}
	return &discreet.SyntheticTable{}, nil
}

func (f fake) Holdouts(dataset string) ([]discreet.HoldoutInfo, error) {
	if dataset != "people" {
		return nil, &discreet.Refusal{Reason: "there is no such dataset", Position: -1}
	}
	return []discreet.HoldoutInfo{{Name: "only"}}, nil
}

func (f fake) HoldoutStatus(context.Context, string, string) (discreet.HoldoutStatus, error) {
	return discreet.HoldoutStatus{Left: 9}, nil
}

func (f fake) AskHoldout(ctx context.Context, q discreet.HoldoutQuestion) (*discreet.HoldoutAnswer, error) {
	return f.score(ctx, q)
}

func (f fake) QuoteTraining(ctx context.Context, q discreet.TrainingQuestion) (*discreet.TrainingQuote, error) {
	t, err := f.train(ctx, q)
	if err != nil {
		return nil, err
	}
	return &discreet.TrainingQuote{Cost: t.Cost}, nil
}

func (f fake) Train(ctx context.Context, q discreet.TrainingQuestion, _ func(discreet.TrainingProgress)) (*discreet.Training, error) {
	return f.train(ctx, q)
}

func (f fake) Models(_ context.Context, q discreet.ModelsQuestion) ([]*discreet.KeptModel, *uint64, error) {
	return []*discreet.KeptModel{{ID: "7-a", Analyst: q.Analyst, Time: q.AsOf["people"]}}, nil, nil
}

func (f fake) Model(_ context.Context, id, analyst string, asOf map[string]time.Time) (*discreet.KeptModel, error) {
	if id != "7-a" {
		return nil, discreet.ErrNoModel
	}
	return &discreet.KeptModel{ID: id, Analyst: analyst, Time: asOf["people"]}, nil
}

func (f fake) Board(context.Context, string, string) ([]discreet.BoardLine, error) {
	return []discreet.BoardLine{{Name: "tree"}}, nil
}

// takes is a library that takes some time for every question and then answers, unless it is interrupted.
func takes(d time.Duration) fake {
	return fake{ask: func(ctx context.Context, q discreet.Question) (*discreet.Answer, error) {
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

func paidFor() *discreet.Answer {
	a := &discreet.Answer{Cost: dp.Cost{Epsilon: dp.One / 10}}
	a.Receipt.Sequence = 7
	return a
}

// people returns a policy with the analysts ana, ben and cleo.
func people(t testing.TB, release string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.yaml", []byte("datasets:\n  people: {engine: duckdb, source: people.csv, unit: row, budget: {epsilon: 1}, analysts: {ana: , ben: , cleo: }, tables: {people: {columns: {}}}, release: "+release+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func from(analyst string) discreet.Question {
	return discreet.Question{Analyst: analyst, SQL: "SELECT 1"}
}

// quiet fails where a dispatcher without a question holds on to something.
func quiet(t *testing.T, d *Dispatcher) {
	t.Helper()
	for _, q := range []*queue{d.queue, d.heavy} {
		if q.turns != 0 || q.inside != 0 || len(q.lines) != 0 || len(q.ring) != 0 {
			t.Errorf("the queue still has %d turns, %d questions, %d lines and a ring of %d", q.turns, q.inside, len(q.lines), len(q.ring))
		}
	}
}

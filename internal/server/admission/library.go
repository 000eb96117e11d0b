package admission

import (
	"context"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/stream"
)

// library is what a dispatcher asks: an open policy, or less in tests.
type library interface {
	Ask(context.Context, api.Question) (*api.Answer, error)
	Remembered(context.Context, api.Question) (*api.Answer, bool)
	Explain(context.Context, api.Question) (*api.Explanation, error)
	Describe(context.Context, api.Question) (*api.Description, error)
	OpenSparse(context.Context, api.SparseQuestion) (*discreet.Sparse, error)
	AskSparse(ctx context.Context, s *discreet.Sparse, sql, threshold string) (*api.SparseVerdict, error)
	Streams(dataset string) ([]api.StreamInfo, error)
	AskStream(context.Context, api.StreamQuestion) (*api.StreamAnswer, error)
	QuoteStream(context.Context, api.StreamQuestion) (*api.StreamQuote, error)
	StreamReport(ctx context.Context, dataset, stream string) (*stream.Report, error)
	Synthetic(ctx context.Context, dataset, stream, analyst string) (*api.SyntheticTable, error)
	Holdouts(dataset string) ([]api.HoldoutInfo, error)
	HoldoutStatus(ctx context.Context, dataset, holdout string) (api.HoldoutStatus, error)
	AskHoldout(context.Context, api.HoldoutQuestion) (*api.HoldoutAnswer, error)
	QuoteTraining(context.Context, api.TrainingQuestion) (*api.TrainingQuote, error)
	Train(context.Context, api.TrainingQuestion, func(learn.Progress)) (*api.Training, error)
	Models(context.Context, api.ModelsQuestion) ([]*api.KeptModel, *uint64, error)
	Model(ctx context.Context, id, analyst string, asOf map[string]time.Time) (*api.KeptModel, error)
	Board(ctx context.Context, dataset, holdout string) ([]api.BoardLine, error)
}

// opened is an open policy.
type opened struct{ *discreet.DB }

func (opened) AskSparse(ctx context.Context, s *discreet.Sparse, sql, threshold string) (*api.SparseVerdict, error) {
	return s.Ask(ctx, sql, threshold)
}

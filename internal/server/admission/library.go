package admission

import (
	"context"
	"time"

	"github.com/discreet-dp/discreet"
)

// library is what a dispatcher asks: an open policy, or less in tests.
type library interface {
	Ask(context.Context, discreet.Question) (*discreet.Answer, error)
	Explain(context.Context, discreet.Question) (*discreet.Explanation, error)
	Describe(context.Context, discreet.Question) (*discreet.Description, error)
	OpenSparse(context.Context, discreet.SparseQuestion) (*discreet.Sparse, error)
	AskSparse(ctx context.Context, s *discreet.Sparse, sql, threshold string) (*discreet.SparseVerdict, error)
	Streams(dataset string) ([]discreet.StreamInfo, error)
	AskStream(context.Context, discreet.StreamQuestion) (*discreet.StreamAnswer, error)
	QuoteStream(context.Context, discreet.StreamQuestion) (*discreet.StreamQuote, error)
	StreamReport(ctx context.Context, dataset, stream string) (*discreet.StreamReport, error)
	Synthetic(ctx context.Context, dataset, stream, analyst string) (*discreet.SyntheticTable, error)
	Holdouts(dataset string) ([]discreet.HoldoutInfo, error)
	HoldoutStatus(ctx context.Context, dataset, holdout string) (discreet.HoldoutStatus, error)
	AskHoldout(context.Context, discreet.HoldoutQuestion) (*discreet.HoldoutAnswer, error)
	QuoteTraining(context.Context, discreet.TrainingQuestion) (*discreet.TrainingQuote, error)
	Train(context.Context, discreet.TrainingQuestion, func(discreet.TrainingProgress)) (*discreet.Training, error)
	Models(context.Context, discreet.ModelsQuestion) ([]*discreet.KeptModel, *uint64, error)
	Model(ctx context.Context, id, analyst string, asOf map[string]time.Time) (*discreet.KeptModel, error)
	Board(ctx context.Context, dataset, holdout string) ([]discreet.BoardLine, error)
}

// opened is an open policy.
type opened struct{ *discreet.DB }

func (opened) AskSparse(ctx context.Context, s *discreet.Sparse, sql, threshold string) (*discreet.SparseVerdict, error) {
	return s.Ask(ctx, sql, threshold)
}

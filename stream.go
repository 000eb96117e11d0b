package discreet

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/stream"
)

// Streams lists the streams of a dataset: what the policy says of each, and what answers cost. It
// does not open the data.
func (db *DB) Streams(dataset string) ([]api.StreamInfo, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.List()
}

// AskStream asks a stream for a count, or says why not: a [*api.Refusal] or a [*ledger.BudgetError]
// spent nothing.
func (db *DB) AskStream(ctx context.Context, q api.StreamQuestion) (*api.StreamAnswer, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.Ask(ctx, q)
}

// QuoteStream says how a question would be answered, and the most that it could cost now. It is
// free and looks at no data.
func (db *DB) QuoteStream(ctx context.Context, q api.StreamQuestion) (*api.StreamQuote, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.Quote(ctx, q)
}

// StreamReport returns the books of a stream on the current data. It is for the owner: it counts
// answers as soon as they are there, also where these leave on a tick.
func (db *DB) StreamReport(ctx context.Context, dataset, stream string) (*stream.Report, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.Report(ctx, stream)
}

// Synthetic returns a table of people that nobody is: what the stream has come to believe from its
// answers. It is free. What it is good for is in docs/streams.md.
func (db *DB) Synthetic(ctx context.Context, dataset, stream, analyst string) (*api.SyntheticTable, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.Synthetic(ctx, stream, analyst)
}

// RehearseStream runs a workload of conditions through a stream in memory, for the owner. Nothing
// is charged, kept or released: the result has seen the data without noise, and is to be shown to
// nobody else. It calls progress after each question, of each of the ways that it compares and of
// the stream itself.
func (db *DB) RehearseStream(
	ctx context.Context, dataset, stream string, workload []string, progress func(done int),
) (*api.Rehearsal, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Streams.Rehearse(ctx, stream, workload, progress)
}

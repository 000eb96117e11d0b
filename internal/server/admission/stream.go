package admission

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/stream"
)

// OpenStream opens a session on a stream of a dataset; the only one, where it is not named. Opening
// charges nothing. What a stream knows is in the ledger and not in the session: a stream that is
// opened again, by whomever and after whatever, goes on where it was.
func (d *Dispatcher) OpenStream(ctx context.Context, analyst, dataset, name string) (*Session, error) {
	s := &Session{Kind: "stream", Analyst: analyst, Dataset: cmp.Or(dataset, d.lone)}
	s.left.Store(unknown)
	err := d.open(ctx, s, func(_ context.Context, e *entry) error {
		all, err := d.library.Streams(s.Dataset)
		if err != nil {
			return err
		}
		var names []string
		for _, one := range all {
			names = append(names, one.Name)
		}
		e.outcome = free
		s.Name, err = chosen("stream", s.Dataset, name, names)
		return err
	})
	return only(&s, err)
}

// AskStream asks a stream. The question's analyst and dataset are the session's.
func (d *Dispatcher) AskStream(ctx context.Context, analyst, id string, q api.StreamQuestion) (*api.StreamAnswer, error) {
	var a *api.StreamAnswer
	s, e := d.streamed(analyst, id, "session", &q)
	err := d.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		q.AsOf = d.clock.last(d.tick(e.dataset))
		if a, err = d.library.AskStream(ctx, q); err == nil {
			e.paid(a.Cost, a.Receipt.Sequence)
		}
		return err
	})
	if err == nil {
		s.spent.add(a.Cost)
	}
	return only(&a, err)
}

// QuoteStream says, free, what a stream would do with a question. It counts like one.
func (d *Dispatcher) QuoteStream(ctx context.Context, analyst, id string, q api.StreamQuestion) (*api.StreamQuote, error) {
	var x *api.StreamQuote
	_, e := d.streamed(analyst, id, "explain", &q)
	err := d.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		e.outcome = priced
		q.AsOf = d.clock.last(d.tick(e.dataset))
		x, err = d.library.QuoteStream(ctx, q)
		return err
	})
	return only(&x, err)
}

// streamed finds the session of a question and fills in what the question has of it.
func (d *Dispatcher) streamed(analyst, id, kind string, q *api.StreamQuestion) (*Session, *entry) {
	e := &entry{kind: kind, analyst: analyst, text: q.SQL}
	s := d.find(e, id, "stream")
	if s != nil {
		q.Analyst, q.Dataset, q.Stream, q.Request = analyst, s.Dataset, s.Name, Request(analyst, q.Request)
	}
	return s, e
}

// Synthetic is the table that a stream predicts. It is free, and counts and waits like a question:
// making it can be work.
func (d *Dispatcher) Synthetic(ctx context.Context, user, dataset, stream string) (*api.SyntheticTable, error) {
	var t *api.SyntheticTable
	e := &entry{kind: "synthetic", analyst: user, dataset: cmp.Or(dataset, d.lone)}
	err := d.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		e.outcome = free
		t, err = d.library.Synthetic(ctx, e.dataset, stream, user)
		return err
	})
	return only(&t, err)
}

// StreamReport is the books of a stream, for the owner. It counts and waits like a question.
func (d *Dispatcher) StreamReport(ctx context.Context, user, dataset, name string) (*stream.Report, error) {
	var r *stream.Report
	e := &entry{kind: "report", analyst: user, dataset: cmp.Or(dataset, d.lone)}
	err := d.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		e.outcome = free
		r, err = d.library.StreamReport(ctx, e.dataset, name)
		return err
	})
	return only(&r, err)
}

// chosen finds the stream or holdout that is meant: the only one, where none is named. It looks at
// the policy alone.
func chosen(what, dataset, name string, names []string) (string, error) {
	switch {
	case len(names) == 0:
		return "", &api.Refusal{Reason: fmt.Sprintf("the dataset %s has no %s", dataset, what),
			Instead: fmt.Sprintf("the owner can add one to the policy, under %ss:", what), Position: -1}
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "":
		return "", &api.Refusal{Reason: fmt.Sprintf("the dataset %s has several %ss", dataset, what),
			Instead: "name one of " + strings.Join(names, ", "), Position: -1}
	case !slices.Contains(names, name):
		return "", &api.Refusal{Reason: fmt.Sprintf("the dataset %s has no such %s", dataset, what),
			Instead: "name one of " + strings.Join(names, ", "), Position: -1}
	}
	return name, nil
}

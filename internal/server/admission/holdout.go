package admission

import (
	"cmp"
	"context"

	"github.com/discreet-dp/discreet/api"
)

// OpenHoldout opens a session on a holdout of a dataset; the only one, where it is not named.
// Opening charges nothing, and what a holdout knows is in the ledger, as with streams.
func (d *Dispatcher) OpenHoldout(ctx context.Context, analyst, dataset, name string) (*Session, error) {
	s := &Session{Kind: "holdout", Analyst: analyst, Dataset: cmp.Or(dataset, d.lone)}
	s.left.Store(unknown)
	err := d.open(ctx, s, func(ctx context.Context, e *entry) error {
		all, err := d.library.Holdouts(s.Dataset)
		if err != nil {
			return err
		}
		var names []string
		for _, one := range all {
			names = append(names, one.Name)
		}
		if s.Name, err = chosen("holdout", s.Dataset, name, names); err != nil {
			return err
		}
		now, err := d.library.HoldoutStatus(ctx, s.Dataset, s.Name)
		if err != nil {
			return err
		}
		s.left.Store(int64(now.Left))
		e.outcome = free
		return nil
	})
	return only(&s, err)
}

// AskHoldout has something scored. The question's analyst and dataset are the session's.
func (d *Dispatcher) AskHoldout(ctx context.Context, analyst, id string, q api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
	var a *api.HoldoutAnswer
	e := &entry{kind: "session", analyst: analyst, text: q.SQL}
	s := d.find(e, id, "holdout")
	if s != nil {
		q.Analyst, q.Dataset, q.Holdout, q.Request = analyst, s.Dataset, s.Name, Request(analyst, q.Request)
	}
	err := d.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		if a, err = d.library.AskHoldout(ctx, q); err == nil {
			e.paid(a.Cost, a.Receipt.Sequence)
		}
		return err
	})
	if err == nil {
		s.spent.add(a.Cost)
		s.lower(a.Left)
	}
	return only(&a, err)
}

// Board is the list of released scores of a holdout, the best first. It counts and waits like a
// question.
func (d *Dispatcher) Board(ctx context.Context, user, dataset, holdout string) ([]api.BoardLine, error) {
	var lines []api.BoardLine
	e := &entry{kind: "board", analyst: user, dataset: cmp.Or(dataset, d.lone)}
	err := d.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		e.outcome = free
		lines, err = d.library.Board(ctx, e.dataset, holdout)
		return err
	})
	if err != nil {
		return nil, err
	}
	return lines, nil
}

package discreet

import (
	"context"

	"github.com/discreet-dp/discreet/api"
)

// Holdouts lists the holdouts of a dataset, and what they cost. It is free.
func (db *DB) Holdouts(dataset string) ([]api.HoldoutInfo, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Holdouts.List()
}

// HoldoutStatus says how many answers a holdout has left, and whether a round is open, so that the
// next question is free. It is free.
func (db *DB) HoldoutStatus(ctx context.Context, dataset, holdout string) (api.HoldoutStatus, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return api.HoldoutStatus{}, err
	}
	return ds.Holdouts.Status(ctx, holdout)
}

// AskHoldout scores something on a holdout. The score is the training value where the holdout
// confirms it, and comes from the holdout with noise where not. A round is paid for once: all
// scores up to and including the next one that the holdout contradicts. A [*api.Refusal] or a
// [*ledger.BudgetError] spent nothing.
func (db *DB) AskHoldout(ctx context.Context, q api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	return ds.Holdouts.Ask(ctx, q)
}

// Board returns the scores on the board of a holdout, the best first. All of them were released. It
// is public among the analysts of the dataset; that only they see it is for the caller to see to.
func (db *DB) Board(ctx context.Context, dataset, holdout string) ([]api.BoardLine, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Holdouts.Board(ctx, holdout)
}

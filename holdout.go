package discreet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/policy"
)

// How a holdout fails, beside refusals and budgets.
var (
	// ErrHoldoutRun: the engine could not compute a score. Nothing new is answered until the process is started again.
	ErrHoldoutRun = curator.ErrHoldoutRun
	// ErrLabels: the labels cannot be read. What is wrong with them [DB.Warm] and [CheckHoldouts] tell the owner.
	ErrLabels = curator.ErrLabels
)

// Holdouts lists the holdouts of a dataset, and what they cost. It is free.
func (db *DB) Holdouts(dataset string) ([]api.HoldoutInfo, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Holdouts()
}

// ReadPredictions reads a CSV file of predictions for a holdout of labels: one value in each line, or, where
// rows have identifiers, a header and two columns. What is wrong with them is a [*api.Refusal].
func ReadPredictions(h api.HoldoutInfo, r io.Reader) (values, ids []string, err error) {
	return curator.ReadPredictions(h, r)
}

// HoldoutStatus says how many answers a holdout has left, and whether a round is open, so that the next question is free. It is free.
func (db *DB) HoldoutStatus(ctx context.Context, dataset, holdout string) (api.HoldoutStatus, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return api.HoldoutStatus{}, err
	}
	return ds.HoldoutStatus(ctx, holdout)
}

// AskHoldout scores something on a holdout. The score is the training value where the holdout confirms it, and comes from the holdout with noise where not. A round is paid for once: all scores up to
// and including the next one that the holdout contradicts. A [*api.Refusal] or a [*ledger.BudgetError] spent nothing.
func (db *DB) AskHoldout(ctx context.Context, q api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	return ds.AskHoldout(ctx, q)
}

// Board returns the scores on the board of a holdout, the best first. All of them were released. It is public among the analysts of the dataset; that only they see it is for the caller to see to.
func (db *DB) Board(ctx context.Context, dataset, holdout string) ([]api.BoardLine, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Board(ctx, holdout)
}

// CheckHoldouts reads the labels of a policy's holdouts and prices them, for their owner: what is wrong with each that nobody could ask.
func CheckHoldouts(p *policy.Policy) error {
	var all []error
	for _, name := range p.Names() {
		if err := curator.New(p.Datasets[name], nil, nil, nil).CheckHoldouts(); err != nil {
			all = append(all, fmt.Errorf("dataset %s: %w", name, err))
		}
	}
	return errors.Join(all...)
}

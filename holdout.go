package discreet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/policy"
)

// Holdouts: scores that stay honest however often one asks. See docs/holdout-service.md, and package holdout for the mechanism.
type (
	// HoldoutInfo is what is public about a holdout.
	HoldoutInfo = curator.HoldoutInfo
	// HoldoutStatus says how far a holdout is.
	HoldoutStatus = curator.HoldoutStatus
	// HoldoutAnswer is a score that stays honest.
	HoldoutAnswer = curator.HoldoutAnswer
	// BoardLine is a score on the board of a holdout.
	BoardLine = curator.BoardLine
)

// How a holdout fails, beside refusals and budgets.
var (
	// ErrHoldoutRun: the engine could not compute a score. Nothing new is answered until the process is started again.
	ErrHoldoutRun = curator.ErrHoldoutRun
	// ErrLabels: the labels cannot be read. What is wrong with them [DB.Warm] and [CheckHoldouts] tell the owner.
	ErrLabels = curator.ErrLabels
)

// HoldoutQuestion asks how well something does on a holdout of the policy.
type HoldoutQuestion struct {
	Dataset string // may be empty where the policy has only one
	Holdout string // may be empty where the dataset has only one, or where SQL names its table
	Analyst string
	// Predictions are for a holdout of labels: one for each row. Where the rows have identifiers, IDs say whose each is, in any order.
	Predictions, IDs []string
	// SQL is for a holdout that is a table: SELECT holdout_mean(expression) FROM table, or the expression alone.
	SQL string
	// Training is how well the same does on the training data, as a decimal number from 0 to 1. It is computed where it is empty and the policy names a training table.
	Training string
	// Name is what the score is called on the board, which all analysts of the dataset see; empty where it is not to be there.
	Name string
	// Confidence is the probability of the error bar; 0 means 0.95.
	Confidence float64
	// Request is not needed: the same question again gets the same answer free, whoever asks it.
	Request string
}

// Holdouts lists the holdouts of a dataset, and what they cost. It is free.
func (db *DB) Holdouts(dataset string) ([]HoldoutInfo, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return nil, err
	}
	return ds.Holdouts()
}

// ReadPredictions reads a CSV file of predictions for a holdout of labels: one value in each line, or, where
// rows have identifiers, a header and two columns. What is wrong with them is a [*Refusal].
func ReadPredictions(h HoldoutInfo, r io.Reader) (values, ids []string, err error) {
	return curator.ReadPredictions(h, r)
}

// HoldoutStatus says how many answers a holdout has left, and whether a round is open, so that the next question is free. It is free.
func (db *DB) HoldoutStatus(ctx context.Context, dataset, holdout string) (HoldoutStatus, error) {
	ds, err := db.dataset(dataset)
	if err != nil {
		return HoldoutStatus{}, err
	}
	return ds.HoldoutStatus(ctx, holdout)
}

// AskHoldout scores something on a holdout. The score is the training value where the holdout confirms it, and comes from the holdout with noise where not. A round is paid for once: all scores up to
// and including the next one that the holdout contradicts. A [*Refusal] or a [*BudgetError] spent nothing.
func (db *DB) AskHoldout(ctx context.Context, q HoldoutQuestion) (*HoldoutAnswer, error) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	return ds.AskHoldout(ctx, curator.HoldoutQuestion{
		Analyst: q.Analyst, Holdout: q.Holdout, Predictions: q.Predictions, IDs: q.IDs, SQL: q.SQL, Training: q.Training, Name: q.Name, Confidence: q.Confidence,
	})
}

// Board returns the scores on the board of a holdout, the best first. All of them were released. It is public among the analysts of the dataset; that only they see it is for the caller to see to.
func (db *DB) Board(ctx context.Context, dataset, holdout string) ([]BoardLine, error) {
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

package discreet

import (
	"context"
	"fmt"
	"iter"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/ledger"
)

// Records returns the records of the ledger from a sequence on, in their order, for forecasts and
// for auditors. They hold who asked what at which cost, and nothing of the data.
func (db *DB) Records(ctx context.Context, from uint64) iter.Seq2[*ledger.Record, error] {
	return db.ledger.Records(ctx, from)
}

// Record returns one record of the ledger. Whose it is is for the caller to look at.
func (db *DB) Record(ctx context.Context, sequence uint64) (*ledger.Record, error) {
	for r, err := range db.ledger.Records(ctx, sequence) {
		if err != nil {
			return nil, err
		}
		if r.Sequence != sequence {
			break
		}
		return r, nil
	}
	return nil, &ledger.NoRecordError{Sequence: sequence}
}

// BudgetOf returns the analyst's own account, and that of no group, no window and no dataset: what
// others spend is not theirs to see, but for what [DB.Remaining] has to tell. It does not open the
// data.
func (db *DB) BudgetOf(ctx context.Context, name, analyst string) ([]api.Account, error) {
	ds, err := db.find(name)
	if err != nil {
		return nil, err
	}
	if _, ok := ds.Analysts[analyst]; !ok {
		return nil, &api.Refusal{Reason: fmt.Sprintf("there is no analyst %q in the dataset %s", analyst, ds.Name),
			Instead: "ask as an analyst that the policy lists", Position: -1}
	}
	return books.New(ds, db.ledger).Own(ctx, analyst)
}

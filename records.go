package discreet

import (
	"context"
	"iter"

	"github.com/discreet-dp/discreet/ledger"
)

// Records returns the records of the ledger in their order, for forecasts and for auditors. They hold who asked what at
// which cost, and nothing of the data.
func (db *DB) Records(ctx context.Context) iter.Seq2[*ledger.Record, error] {
	return db.ledger.Records(ctx, 0)
}

package discreet

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
)

// Remembered answers a question where that is free, from what was paid for before or from what is
// public, and takes no longer than to look for it. Where it is not so, there is no answer, and the
// question is to be asked: [DB.Ask] says the same, or why not.
func (db *DB) Remembered(ctx context.Context, q api.Question) (*api.Answer, bool) {
	ds, err := db.dataset(q.Dataset)
	if err != nil {
		return nil, false
	}
	db.read(&q)
	asked, err := syntax.Bound(q)
	if err != nil {
		return nil, false
	}
	a, ok := ds.Remembered(ctx, asked)
	if !ok {
		return nil, false
	}
	a.ShowErrors(q.Settings.Errors)
	return a, true
}

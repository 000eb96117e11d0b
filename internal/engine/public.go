package engine

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// ErrPrivate is returned when something is to be told exactly that is about private rows.
var ErrPrivate = errors.New("this is about private rows, and is not told exactly")

// RunPublic computes a query over a public table, whose rows are about nobody, and opens the
// result: one integer for each measure.
func RunPublic(ctx context.Context, e Engine, q *tree.Query) ([]int64, error) {
	if !q.Public() || len(q.Keys) > 0 || q.Choice != nil {
		return nil, ErrPrivate
	}
	r, err := e.Run(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(q.Measures))
	for i := range out {
		if i >= len(r.Measures) || r.Measures[i].Len() != 1 {
			return nil, ErrPrivate
		}
		out[i] = r.Measures[i].Open()[0]
	}
	return out, nil
}

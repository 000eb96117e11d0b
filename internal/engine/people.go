package engine

import (
	"context"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// RunPeople computes how many people there are, where that is public, and opens the result: of all
// neighbours it is the same number. Anything else about private rows it refuses, whoever asks.
func RunPeople(ctx context.Context, e Engine, ds *policy.Dataset, q *tree.Query) (int64, ReadFrom, error) {
	scan, ok := q.From.(*tree.Scan)
	if !ok || ds.Everybody() == nil || scan.Table != ds.Everybody() || q.Neighbours != ds.Neighbours ||
		q.Where != nil || len(q.Keys) > 0 || q.Choice != nil || len(q.Measures) != 1 || q.Measures[0].Arg != nil {
		return 0, ReadFrom{}, ErrPrivate
	}
	if m := q.Measures[0]; m.Kind != tree.CountPersons && !(m.Kind == tree.CountRows && scan.Single()) {
		return 0, ReadFrom{}, ErrPrivate
	}
	r, err := e.Run(ctx, q)
	if err != nil {
		return 0, ReadFrom{}, err
	}
	if len(r.Measures) != 1 || r.Measures[0].Len() != 1 {
		return 0, ReadFrom{}, ErrPrivate
	}
	return r.Measures[0].Open()[0], r.ReadFrom, nil
}

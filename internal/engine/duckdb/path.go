package duckdb

import (
	"context"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/policy"
)

// checkPaths looks at what paths and joins rely on.
func (s *snapshot) checkPaths(ctx context.Context, ds *policy.Dataset, t *table) ([]engine.Finding, error) {
	return s.CheckPaths(ctx, &t.Table, ds.PathKeys(ds.Tables[t.Name]))
}

package curator

import (
	"context"

	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/policy"
)

// checkPublic refuses public tables that are too large to stand beside answers.
func (c *Curator) checkPublic(ctx context.Context, tables []*policy.Table) error {
	rows := make([]int64, len(tables))
	for i, t := range tables {
		var err error
		if rows[i], err = c.engine.Most(ctx, t.Name, nil); err != nil {
			return err
		}
	}
	return answers.CheckPublic(tables, rows)
}

// readPublic reads the public tables that the query around answers names.
func (a *asking) readPublic(ctx context.Context) error {
	if len(a.Statement.Tables) > 0 {
		if err := a.c.recordProtected(ctx); err != nil {
			return err
		}
	}
	for i, t := range a.Statement.Tables {
		rows, err := a.c.engine.Rows(ctx, t.Name, answers.MaxPublicCells)
		if err != nil {
			return err
		}
		a.outer.Load(i, t, rows)
	}
	return nil
}

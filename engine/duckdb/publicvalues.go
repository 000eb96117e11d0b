package duckdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// Values returns the different values of a column of a public table, sorted, NULL left out. More than limit are an error, and so is
// a table that is not public.
func (e *Engine) Values(ctx context.Context, table, column string, limit int) ([]policy.Value, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.now.publicValues(ctx, table, column, limit)
}

func (s *snapshot) publicValues(ctx context.Context, table, column string, limit int) ([]policy.Value, error) {
	t := s.tables[table]
	if t == nil || !t.Public || t.Columns[column] == nil {
		return nil, fmt.Errorf("there is no public column %s in a table %s", column, table)
	}
	c := t.Columns[column]
	kind := map[policy.Type]plan.Kind{policy.Text: plan.Text, policy.Boolean: plan.Boolean, policy.Date: plan.Date}[c.Type]
	if kind == 0 {
		if kind = plan.Number; c.Granularity == nil {
			return nil, fmt.Errorf("the public column %s has no granularity, so its values cannot be told apart", column)
		}
	}
	tooMany := fmt.Errorf("the public column %s has more than %d values", column, limit)
	if known, ok := s.values.Load(c); ok {
		if values := known.([]policy.Value); len(values) <= limit {
			return slices.Clone(values), nil
		}
		return nil, tooMany
	}
	rows, err := s.db.QueryContext(ctx, "SELECT DISTINCT v FROM (SELECT "+t.declared(column)+" AS v FROM "+t.from+") WHERE v IS NOT NULL LIMIT "+strconv.Itoa(limit+1))
	if err != nil {
		return nil, errUnread(ctx, table)
	}
	defer rows.Close()
	var out []policy.Value
	for rows.Next() {
		var v any
		if err := rows.Scan(&v); err != nil {
			return nil, errUnread(ctx, table)
		}
		out = append(out, keyValue(v, plan.Type{Kind: kind}))
	}
	if rows.Err() != nil {
		return nil, errUnread(ctx, table)
	}
	if len(out) > limit {
		return nil, tooMany
	}
	slices.SortFunc(out, func(a, b policy.Value) int { return compareKeys([]policy.Value{a}, []policy.Value{b}) })
	s.values.Store(c, slices.Clone(out))
	return out, nil
}

func errUnread(ctx context.Context, table string) error {
	return errors.Join(fmt.Errorf("the public table %s cannot be read", table), ctx.Err())
}

package sqlengine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Values returns the different values of a column of a public table, sorted, NULL left out. More
// than limit are an error, and so is a table that is not public.
func (d *Database) Values(ctx context.Context, table, column string, limit int) ([]policy.Value, error) {
	t := d.Tables[table]
	if t == nil || !t.Public || t.Columns[column] == nil {
		return nil, fmt.Errorf("there is no public column %s in a table %s", column, table)
	}
	c := t.Columns[column]
	kind := map[policy.Type]tree.Kind{policy.Text: tree.Text, policy.Boolean: tree.Boolean, policy.Date: tree.Date}[c.Type]
	if kind == 0 {
		if kind = tree.Number; c.Granularity == nil {
			return nil, fmt.Errorf("the public column %s has no granularity, so its values cannot be told apart", column)
		}
	}
	tooMany := fmt.Errorf("the public column %s has more than %d values", column, limit)
	if known, ok := d.public.Load(c); ok {
		if values := known.([]policy.Value); len(values) <= limit {
			return slices.Clone(values), nil
		}
		return nil, tooMany
	}
	rows, err := d.DB.QueryContext(ctx, "SELECT DISTINCT v FROM (SELECT "+t.Declared(column)+" AS v FROM "+t.From+
		") WHERE v IS NOT NULL LIMIT "+strconv.Itoa(limit+1))
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
		out = append(out, KeyValue(v, tree.Type{Kind: kind}))
	}
	if rows.Err() != nil {
		return nil, errUnread(ctx, table)
	}
	if len(out) > limit {
		return nil, tooMany
	}
	slices.SortFunc(out, func(a, b policy.Value) int { return compareKeys([]policy.Value{a}, []policy.Value{b}) })
	d.public.Store(c, slices.Clone(out))
	return out, nil
}

// Most returns how many rows of a public table have the same values in some columns at most, as
// they are declared, NULL left out. It is counted once, as long as the data is the same.
func (d *Database) Most(ctx context.Context, table string, columns []string) (int64, error) {
	t := d.Tables[table]
	if t == nil || !t.Public {
		return 0, fmt.Errorf("there is no public table %s", table)
	}
	columns = slices.Compact(slices.Sorted(slices.Values(columns)))
	key := repeated{table, fmt.Sprintf("%q", columns)}
	if n, ok := d.public.Load(key); ok {
		return n.(int64), nil
	}
	text := "SELECT count(*) AS n FROM " + t.From
	if len(columns) > 0 {
		var list, names, there []string
		for i, c := range columns {
			if t.Columns[c] == nil {
				return 0, fmt.Errorf("there is no public column %s in a table %s", c, table)
			}
			name := fmt.Sprintf("v%d", i)
			list, names, there = append(list, t.Declared(c)+" AS "+name), append(names, name), append(there, name+" IS NOT NULL")
		}
		text = "SELECT count(*) AS n FROM (SELECT " + strings.Join(list, ", ") + " FROM " + t.From + ") WHERE " +
			strings.Join(there, " AND ") + dialect.Grouping(names)
	}
	var n int64
	if err := d.DB.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) FROM ("+text+")").Scan(&n); err != nil {
		return 0, errUnread(ctx, table)
	}
	d.public.Store(key, n)
	return n, nil
}

// repeated names a number of rows that was counted.
type repeated struct{ table, columns string }

func errUnread(ctx context.Context, table string) error {
	return errors.Join(fmt.Errorf("the public table %s cannot be read", table), ctx.Err())
}

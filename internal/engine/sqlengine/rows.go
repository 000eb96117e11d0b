package sqlengine

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Rows returns the rows of a public table, as its columns are declared: what a join with it would
// see.
func (d *Database) Rows(ctx context.Context, table string, limit int) ([][]tree.Value, error) {
	t := d.Tables[table]
	if t == nil || !t.Public {
		return nil, fmt.Errorf("there is no public table %s", table)
	}
	names := t.ColumnNames()
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = t.Declared(name) + " AS v" + strconv.Itoa(i)
	}
	rows, err := d.DB.QueryContext(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+t.From+" LIMIT "+strconv.Itoa(limit+1))
	if err != nil {
		return nil, errUnread(ctx, table)
	}
	defer rows.Close()
	cells, into := make([]any, len(names)), make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	out := [][]tree.Value{}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, errUnread(ctx, table)
		}
		row := make([]tree.Value, len(names))
		for i, name := range names {
			row[i] = declaredValue(cells[i], t.Columns[name])
		}
		if out = append(out, row); len(out) > limit {
			return nil, fmt.Errorf("the public table %s has more than %d rows", table, limit)
		}
	}
	if rows.Err() != nil {
		return nil, errUnread(ctx, table)
	}
	return out, nil
}

// declaredValue is a value of a column as a database returns it. A time is a whole number there.
func declaredValue(v any, c *policy.Column) tree.Value {
	switch v := widen(v).(type) {
	case string:
		return v
	case bool:
		return v
	case float64:
		return v
	case int64:
		switch {
		case c.Type == policy.Boolean:
			return v != 0
		case c.Type == policy.Date:
			return tree.Day(v)
		case c.Type == policy.Timestamp:
			return tree.Moment(v)
		case c.Granularity == nil:
			return float64(v)
		}
		return big.NewInt(v)
	}
	return nil
}

package sqlengine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Database is one state of the data of a dataset.
type Database struct {
	sqlgen.Schema
	DB      *sql.DB
	Version store.Version
	// Failure says how a run ended, and nothing else of an error: [engine.ErrRun], or one that
	// wraps it.
	Failure func(ctx context.Context, err error) error

	public sync.Map // what is public about the data, as far as somebody asked
}

// Run computes a query by its statements. It is given them so that tests can plant a mistake.
func (d *Database) Run(ctx context.Context, q *tree.Query, all []sqlgen.Statement) (*engine.Result, error) {
	return d.Finish(ctx, q, nil, all)
}

// Finish runs the statements that are left of a query of which something is known.
func (d *Database) Finish(ctx context.Context, q *tree.Query, known *Known, all []sqlgen.Statement) (*engine.Result, error) {
	r := newResult(q)
	if known != nil {
		r.takeKnown(known)
	}
	if len(all) == 0 || len(r.public.places) > 0 && r.groups == 0 {
		return r.seal(), nil // no public table has a key, so there are no groups to look for
	}
	if err := d.collect(ctx, r, all); err != nil {
		return nil, d.Failure(ctx, err)
	}
	return r.seal(), nil
}

// collect adds what statements return to a result, all of them on the same state of the data.
func (d *Database) collect(ctx context.Context, r *result, all []sqlgen.Statement) error {
	if len(all) == 1 || d.Unpinned {
		for _, st := range all {
			if err := r.add(ctx, d.DB, st); err != nil {
				return err
			}
		}
		return nil
	}
	tx, err := d.DB.BeginTx(ctx, d.Snapshot)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, st := range all {
		if err := r.add(ctx, tx, st); err != nil {
			return err
		}
	}
	return nil
}

type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// CheckUnique refuses a public table in which a value of the unique column is in several rows.
// Joins rely on it, and it is public, so it is found out before there are questions.
func (d *Database) CheckUnique(ctx context.Context, ds *policy.Dataset) error {
	for _, name := range ds.TableNames() {
		t := d.Tables[name]
		if !t.Public || t.UniqueColumn == "" {
			continue
		}
		again, err := d.Repeats(ctx, t, t.Declared(t.UniqueColumn))
		if err != nil {
			return fmt.Errorf("table %s: its rows cannot be read", name)
		}
		if again {
			return fmt.Errorf("table %s: the policy says that column %s is unique, but some values are in several rows, or become "+
				"equal on its lattice or at its bounds; remove 'unique' and add max_rows, or remove the extra rows", name, t.UniqueColumn)
		}
	}
	return nil
}

// Repeats reports whether a value is in more than one row.
func (d *Database) Repeats(ctx context.Context, t *sqlgen.Table, value string) (again bool, err error) {
	err = d.DB.QueryRowContext(ctx, "SELECT count(v) > count(DISTINCT v) FROM (SELECT "+value+" AS v FROM "+t.From+")").Scan(&again)
	return again, err
}

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
			strings.Join(there, " AND ") + sqlgen.Grouping(names)
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

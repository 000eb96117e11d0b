package sqlengine

import (
	"context"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Fetch hands the rows of a table to a collector. What goes wrong is [engine.ErrRun].
func (e *Engine) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	return engine.ReadFrom{}, e.Current().Fetch(ctx, t, into)
}

// Fetch hands the rows of a table to a collector, in this state of the data.
func (d *Database) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) error {
	if err := d.fetch(ctx, t, into); err != nil {
		return d.Failure(ctx, err)
	}
	return nil
}

func (d *Database) fetch(ctx context.Context, t *tree.Table, into engine.Collector) error {
	code := make([]func(any) int64, len(t.Columns))
	for i, c := range t.Columns {
		code[i] = coder(c)
	}
	text, args := Fetched(&d.Schema, t)
	rows, err := d.DB.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	cells, scanned, codes := make([]any, len(code)), make([]any, len(code)), make([]int64, len(code))
	for i := range cells {
		scanned[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(scanned...); err != nil {
			return err
		}
		for i, v := range cells {
			codes[i] = code[i](v)
		}
		into.Add(codes)
	}
	return rows.Err()
}

// Fetched prints the statement that returns the rows of a table.
func Fetched(s *dialect.Schema, t *tree.Table) (text string, args []any) {
	p := s.Print(t.From)
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = p.Key(tree.Key{Expr: c.Expr})
	}
	names, from := p.TableRows(t, columns)
	return "SELECT " + strings.Join(names, ", ") + " FROM " + from, p.Args
}

// coder says what the code of a column's value is: its place among the values of a category, and
// otherwise the number itself, clamped to what is public about it.
func coder(c tree.TableColumn) func(any) int64 {
	places := keyPlaces(c.Values)
	lo, hi, _ := c.Bounds()
	return func(v any) int64 {
		switch at, ok := places[widen(v)]; {
		case v == nil:
			return engine.Null
		case c.Values == nil:
			return min(max(final(widen(v)), lo), hi)
		case ok:
			return int64(at)
		}
		return -1
	}
}

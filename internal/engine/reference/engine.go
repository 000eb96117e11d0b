package reference

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Table is the rows of a table as they are stored. A value is nil, an int64, a float64, a string, a
// bool, or for a date or a timestamp a [time.Time] or the days or microseconds since 1970-01-01 as
// an int64.
type Table struct {
	Columns []string
	Rows    [][]any
}

// stored returns a stored value. A column that is not there is empty.
func (t Table) stored(row int, column string) any {
	if i := slices.Index(t.Columns, column); i >= 0 {
		return t.Rows[row][i]
	}
	return nil
}

// Engine computes over tables in memory. It is safe for concurrent use while nobody changes the
// tables.
type Engine struct {
	// Order decides what is kept of a person who exceeds a limit: groups and values with the
	// smallest numbers. It is given the question's hash, the person, and the group or value.
	Order func(hash, person, what string) uint64
	// Choose decides it in the place of Order, where it is not nil: so an engine that chooses by a
	// hash of what is in a row can be held against this one where people are cut, too.
	Choose func(Choice) uint64

	dataset *policy.Dataset
	tables  map[string]Table
	cuts    atomic.Int64
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine over the tables of a dataset.
func New(ds *policy.Dataset, tables map[string]Table) *Engine {
	return &Engine{Order: order, dataset: ds, tables: tables}
}

// Choice is something of a person that may be kept: a group, by its keys; a value in it; or a row,
// by what is in it beside whose it is.
type Choice struct {
	Hash, Person string // the question's or the cut's hash, and the person
	Keys         []policy.Value
	Public       int // how many of the keys are public
	Place        int // and the place of their combination
	Value        tree.Value
	Row          []tree.Value
}

// numberOf is the number of a choice, which is spelled as what.
func (e *Engine) numberOf(c Choice, what string) uint64 {
	if e.Choose != nil {
		return e.Choose(c)
	}
	return e.Order(c.Hash, c.Person, what)
}

func order(hash, person, what string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s", hash, person, what)
	return h.Sum64()
}

// Version names the state of the data, which does not change.
func (e *Engine) Version(context.Context) (store.Version, error) {
	return store.Version{State: "in memory", Whole: true}, nil
}

// Values returns the different values of a column of a public table.
func (e *Engine) Values(_ context.Context, table, column string, limit int) ([]policy.Value, error) {
	t := e.dataset.Tables[table]
	if t == nil || !t.Public || t.Columns[column] == nil {
		return nil, fmt.Errorf("%s.%s is no column of a public table", table, column)
	}
	var out []policy.Value
	for i := range e.tables[table].Rows {
		c := t.Columns[column]
		v := keyValue(Declared(c, e.tables[table].stored(i, column)))
		v.Type = c.Type
		if !v.Null && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if len(out) > limit {
		return nil, fmt.Errorf("%s.%s has more than %d values", table, column, limit)
	}
	slices.SortFunc(out, func(a, b policy.Value) int { return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Int, b.Int)) })
	return out, nil
}

// Most returns how many rows of a public table have the same values in some columns at most.
func (e *Engine) Most(_ context.Context, table string, columns []string) (int64, error) {
	t := e.dataset.Tables[table]
	if t == nil || !t.Public {
		return 0, fmt.Errorf("%s is no public table", table)
	}
	most, seen := int64(0), map[string]int64{}
	for i := range e.tables[table].Rows {
		name, null := "", false
		for _, column := range columns {
			if t.Columns[column] == nil {
				return 0, fmt.Errorf("%s.%s is no column of a public table", table, column)
			}
			v := Declared(t.Columns[column], e.tables[table].stored(i, column))
			null = null || v == nil
			name += fmt.Sprintf("%q ", fmt.Sprint(v))
		}
		if !null {
			seen[name]++
			most = max(most, seen[name])
		}
	}
	return most, nil
}

// Rows returns the rows of a public table.
func (e *Engine) Rows(_ context.Context, table string, limit int) ([][]tree.Value, error) {
	t := e.dataset.Tables[table]
	if t == nil || !t.Public {
		return nil, fmt.Errorf("%s is no public table", table)
	}
	out := [][]tree.Value{}
	for i := range e.tables[table].Rows {
		var row []tree.Value
		for _, name := range t.ColumnNames() {
			row = append(row, Declared(t.Columns[name], e.tables[table].stored(i, name)))
		}
		out = append(out, row)
	}
	if len(out) > limit {
		return nil, fmt.Errorf("%s has more than %d rows", table, limit)
	}
	return out, nil
}

// Public lets a planner look at the public tables.
func (e *Engine) Public() tree.Public { return public{e} }

type public struct{ *Engine }

func (p public) Values(table, column string, limit int) ([]policy.Value, error) {
	return p.Engine.Values(context.Background(), table, column, limit)
}

func (p public) Most(table string, columns []string) (int64, error) {
	return p.Engine.Most(context.Background(), table, columns)
}

func (p public) Rows(table string, limit int) ([][]tree.Value, error) {
	return p.Engine.Rows(context.Background(), table, limit)
}

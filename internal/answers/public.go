package answers

import (
	"errors"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/outer"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/policy"
)

// MaxPublicCells is how many values the public tables of a query may have. They are loaded beside
// the answers for each query.
const MaxPublicCells = 1_000_000

// CheckPublic refuses public tables that are too large, by how many rows each of them has: a public
// number.
func CheckPublic(tables []*policy.Table, rows []int64) error {
	cells := int64(0)
	for i, t := range tables {
		n := int64(len(t.Columns))
		if rows[i] > MaxPublicCells/max(1, n) || cells+rows[i]*n > MaxPublicCells {
			return api.Refuse("join it with a private table, in a question, where it is not loaded",
				"the public table %s has %d rows; a query can have %d values of public tables", t.Name, rows[i], MaxPublicCells)
		}
		cells += rows[i] * n
	}
	return nil
}

// publicTable is a public table for the query around answers, without rows.
func publicTable(t *policy.Table, i int) outer.Table {
	out := outer.Table{Name: plan.PublicName(i)}
	for _, o := range publicColumns(t) {
		c := outer.Column{Name: o.Name, Kind: kindOf(o)}
		if c.Kind == outer.Decimal {
			c.Decimals = pricing.Decimals(o.Expr.Type().Step)
		}
		out.Columns = append(out.Columns, c)
	}
	return out
}

// Load gives the query the rows of the i-th public table of its statement.
func (o *OuterQuery) Load(i int, t *policy.Table, rows [][]tree.Value) {
	o.tables[len(o.first)+i].Rows = publicRows(t, rows)
}

// publicColumns are the columns of a public table, as they are declared.
func publicColumns(t *policy.Table) []tree.Output {
	var out []tree.Output
	for _, name := range t.ColumnNames() {
		f := expr.ColumnField(t.Columns[name])
		out = append(out, tree.Output{Name: name, Expr: &tree.Column{Field: f}})
	}
	return out
}

// publicRows are the rows of a public table as an answer would show them. A time that has no name
// is NULL.
func publicRows(t *policy.Table, rows [][]tree.Value) [][]any {
	columns := publicColumns(t)
	out := make([][]any, len(rows))
	for i, row := range rows {
		out[i] = make([]any, len(columns))
		for k, v := range row {
			switch x := v.(type) {
			case tree.Day:
				if x < tree.FirstDay || x > tree.LastDay {
					v = nil
				}
			case tree.Moment:
				if x < tree.FirstMicros || x > tree.LastMicros {
					v = nil
				}
			}
			out[i][k] = show(v, columns[k])
		}
	}
	return out
}

// errAround says that a query around answers failed, and what stays.
func errAround(err error, bought bool) error {
	var around *api.AroundError
	if errors.As(err, &around) {
		return &api.AroundError{Text: around.Text, Bought: bought}
	}
	return err
}

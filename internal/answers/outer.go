package answers

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/outer"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
)

// OuterQuery is the query around the answers of a statement. It sees nothing but these, so it is
// free.
type OuterQuery struct {
	sql     string
	tables  []outer.Table // without rows
	columns []outer.Column
	first   []int // for each table of an answer, the first of its plans
}

// CheckOuter checks the query around the answers of a statement, before anything is paid. It is nil
// where there is none.
func CheckOuter(ctx context.Context, st *plan.Statement) (*OuterQuery, error) {
	if st.Outer == nil {
		return nil, nil
	}
	o := &OuterQuery{}
	names := map[string][]string{}
	for i, one := range st.Plans {
		if one.Continues {
			continue
		}
		o.first = append(o.first, i)
		t := outer.Table{Name: plan.AnswerName(i)}
		for j, c := range one.Columns {
			column := outer.Column{Name: unique(one.Columns, j), Kind: kindOf(c.Expr.Type())}
			if column.Kind == outer.Decimal {
				column.Decimals = pricing.Decimals(c.Expr.Type().Step)
			}
			t.Columns = append(t.Columns, column)
		}
		o.tables = append(o.tables, t)
	}
	for i, t := range st.Public {
		o.tables = append(o.tables, publicTable(t, i))
	}
	for _, t := range o.tables {
		names[t.Name] = columnNames(t)
	}
	var err error
	if o.sql, err = outer.Check(st.Outer, names); err != nil {
		return nil, err
	}
	o.columns, err = outer.Describe(ctx, o.sql, o.tables)
	return o, err
}

// unique returns a column's name, with a number where one before it has the same. DuckDB compares
// names without case.
func unique(columns []tree.Output, i int) string {
	taken := func(name string, before int) bool {
		return slices.ContainsFunc(columns[:before], func(o tree.Output) bool { return strings.EqualFold(o.Name, name) })
	}
	name := columns[i].Name
	if name == "" {
		name = "column"
	}
	if !taken(name, i) {
		return name
	}
	for n := 2; ; n++ {
		if other := fmt.Sprintf("%s_%d", name, n+i); !taken(other, len(columns)) {
			return other
		}
	}
}

// run runs the query over answers and public tables.
func (o *OuterQuery) run(ctx context.Context, out *api.Answer, answers map[int]*api.Answer) (*api.Answer, error) {
	tables := slices.Clone(o.tables)
	for i, first := range o.first {
		a := answers[first]
		for _, row := range a.Rows {
			tables[i].Rows = append(tables[i].Rows, fit(tables[i].Columns, row))
		}
		out.MaxRows, out.MaxGroups = max(out.MaxRows, a.MaxRows), max(out.MaxGroups, a.MaxGroups)
		out.Cut = out.Cut || a.Cut
		for _, n := range a.Notes {
			if !slices.Contains(out.Notes, n) {
				out.Notes = append(out.Notes, n)
			}
		}
	}
	result, err := outer.Run(ctx, o.sql, tables)
	if err != nil {
		return nil, errAround(err, len(o.first) > 0)
	}
	out.Rows = result.Rows
	out.Columns = o.outerColumns(result.Columns)
	if len(o.first) == 0 {
		return out, nil
	}
	out.Notes = append(out.Notes, "error bars are known for the answers inside, and not for what this query makes of them; ask for "+
		"dp_error(...) there to have them here")
	return out, nil
}

// outerColumns describes the columns of a query over answers. What is made of public tables alone
// is exact.
func (o *OuterQuery) outerColumns(columns []outer.Column) []api.Column {
	var out []api.Column
	noisy := len(o.first) > 0
	for _, c := range columns {
		column := api.Column{Name: c.Name, Kind: c.Kind.String(), Noisy: noisy, Approximate: noisy, Decimals: -1}
		switch c.Kind {
		case outer.Integer:
			column.Decimals = 0
		case outer.Decimal:
			column.Decimals = c.Decimals
		case outer.Text, outer.Boolean, outer.Date, outer.Timestamp:
			column.Noisy, column.Approximate = false, false
		}
		out = append(out, column)
	}
	return out
}

// fit puts the values of a row into the types of its table. A whole number that is beyond 64 bits,
// which noise would have to be enormous for, is the nearest that is not.
func fit(columns []outer.Column, row []any) []any {
	out := slices.Clone(row)
	for i, c := range columns {
		n, ok := row[i].(json.Number)
		if !ok || c.Kind != outer.Integer {
			continue
		}
		if x, ok := new(big.Int).SetString(n.String(), 10); ok && !x.IsInt64() {
			end := int64(math.MaxInt64)
			if x.Sign() < 0 {
				end = math.MinInt64
			}
			out[i] = json.Number(fmt.Sprint(end))
		}
	}
	return out
}

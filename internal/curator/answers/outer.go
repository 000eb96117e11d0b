package answers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine/postquery"
	"github.com/discreet-dp/discreet/internal/lru"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// OuterQuery is the query around the answers of a statement. It sees nothing but these, so it is
// free.
type OuterQuery struct {
	sql     string
	tables  []postquery.Table // without rows; the last columns are error bars
	columns []api.Column
	bars    []int // for each column where its error bar stands among all columns, or -1
	first   []int // for each table of an answer, the first of its plans
	noisy   bool  // whether there is noise in any answer
}

// Descriptions are the columns that queries around answers were found to have. They follow from the
// query and the columns of its tables alone, and to find them takes a DuckDB of its own: a client
// that describes, explains and then asks a question would have that started each time.
type Descriptions struct {
	kept *lru.Map[string, []postquery.Column]
}

const (
	maxDescribed = 1 << 20 // bytes of queries, and of their columns
	columnBytes  = 64      // of one that is kept, without its names
)

// NewDescriptions returns a memory of what is described; the zero value has none.
func NewDescriptions() Descriptions {
	return Descriptions{lru.New[string, []postquery.Column](maxDescribed)}
}

// columns returns the columns of a query over tables, whose rows are not looked at.
func (d Descriptions) columns(ctx context.Context, sql string, tables []postquery.Table) ([]postquery.Column, error) {
	if d.kept == nil {
		return postquery.Describe(ctx, sql, tables)
	}
	key := fmt.Sprint(len(tables))
	for _, t := range tables {
		key += fmt.Sprintf(" %q %d", t.Name, len(t.Columns))
		for _, c := range t.Columns {
			key += fmt.Sprintf(" %q %d %d", c.Name, c.Kind, c.Decimals)
		}
	}
	key += " " + sql
	if columns, ok := d.kept.Get(key); ok {
		return columns, nil
	}
	columns, err := postquery.Describe(ctx, sql, tables)
	if err == nil {
		size := len(key) // a short query can have many columns with long names
		for _, c := range columns {
			size += columnBytes + len(c.Name) + len(c.Type)
		}
		d.kept.Put(key, columns, size)
	}
	return columns, err
}

// Len is how many queries are remembered.
func (d Descriptions) Len() int { return d.kept.Len() }

// CheckOuter checks the query around the answers of a statement, before anything is paid. It is nil
// where there is none.
func (d Descriptions) CheckOuter(ctx context.Context, st *planner.Statement) (*OuterQuery, error) {
	if st.Outer == nil {
		return nil, nil
	}
	o := &OuterQuery{}
	names, all := map[string][]string{}, map[string][]string{}
	known := map[postquery.Origin]api.Column{}
	for i, one := range st.Plans {
		o.noisy = o.noisy || !one.Query.ListsKeys()
		if one.Continues {
			continue
		}
		o.first = append(o.first, i)
		t := postquery.Table{Name: planner.AnswerName(i)}
		for j, c := range (&finisher{plan: one}).columns() {
			column := postquery.Column{Name: unique(one.Columns, j), Kind: kindOf(one.Columns[j])}
			if column.Kind == postquery.Decimal {
				column.Decimals = pricing.Decimals(one.Columns[j].Expr.Type().Step)
			}
			t.Columns = append(t.Columns, column)
			names[t.Name] = append(names[t.Name], column.Name)
			known[postquery.Origin{Table: t.Name, Column: column.Name}] = c
		}
		for _, c := range t.Columns {
			t.Columns = append(t.Columns, postquery.Column{Name: barName(c.Name), Kind: postquery.Real})
		}
		for _, c := range t.Columns {
			all[t.Name] = append(all[t.Name], c.Name)
		}
		o.tables = append(o.tables, t)
	}
	for i, t := range st.Tables {
		table := publicTable(t, i)
		for k, o := range publicColumns(t) {
			known[postquery.Origin{Table: table.Name, Column: o.Name}] = describeColumn(o, bar{})
			names[table.Name] = append(names[table.Name], table.Columns[k].Name)
		}
		all[table.Name] = names[table.Name]
		o.tables = append(o.tables, table)
	}
	around := proto.Clone(st.Outer).(*pg.SelectStmt)
	origins, bars := postquery.Trace(around, names, func(c postquery.Origin) string {
		if known[c].Noisy {
			return barName(c.Column)
		}
		return ""
	})
	var err error
	if o.sql, err = postquery.Check(around, all); err != nil {
		return nil, err
	}
	columns, err := d.columns(ctx, o.sql, o.tables)
	if err != nil {
		return nil, err
	}
	o.describe(columns, origins, bars, known)
	o.columns = announced(st, o.columns)
	return o, nil
}

// barName names the column of an answer's error bars in a query over it.
func barName(column string) string { return postquery.Hidden + "error of " + column }

// describe describes the columns of a query over answers. One that is a copy of an answer's has all
// that is known of that one, and its error bars.
func (o *OuterQuery) describe(columns []postquery.Column, origins []postquery.Origin, bars []int,
	known map[postquery.Origin]api.Column) {
	if len(origins) == 0 { // nothing was followed, and nothing added
		origins, bars = make([]postquery.Origin, len(columns)), slices.Repeat([]int{-1}, len(columns))
	}
	o.bars = bars
	for i, c := range outerColumns(columns[:len(origins)], o.noisy) {
		if origins[i] == postquery.Constant {
			c.Noisy, c.Approximate = false, false
		}
		if own, ok := known[origins[i]]; ok && own.Kind == c.Kind {
			c.Noisy, c.Approximate, c.Decimals = own.Noisy, own.Approximate, own.Decimals
			c.Bar = own.Bar && o.bars[i] >= 0
		}
		o.columns = append(o.columns, c)
	}
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
		for k, row := range a.Rows {
			tables[i].Rows = append(tables[i].Rows, append(fit(tables[i].Columns, row), barsOf(a, k)...))
		}
		out.MaxRows, out.MaxGroups = max(out.MaxRows, a.MaxRows), max(out.MaxGroups, a.MaxGroups)
		out.Cut = out.Cut || a.Cut
		for _, n := range a.Notes {
			if !slices.Contains(out.Notes, n) {
				out.Notes = append(out.Notes, n)
			}
		}
	}
	result, err := postquery.Run(ctx, o.sql, tables)
	if err != nil {
		return nil, errAround(err, len(o.first) > 0)
	}
	out.Columns = slices.Clone(o.columns)
	o.part(result, out)
	if what := o.unknown(); what != "" {
		out.Notes = append(out.Notes, "error bars are known for the answers inside, but not for "+what+"; ask for dp_error(...) "+
			"inside to have them here")
	}
	return out, nil
}

// barsOf are the error bars of a row of an answer, as values.
func barsOf(a *api.Answer, row int) []any {
	out := make([]any, len(a.Columns))
	for i, half := range a.Errors[row] {
		if half != nil {
			out[i] = json.Number(strconv.FormatFloat(*half, 'g', -1, 64))
		}
	}
	return out
}

// part takes the error bars out of the rows of a query over answers.
func (o *OuterQuery) part(result *postquery.Table, out *api.Answer) {
	known := slices.ContainsFunc(o.bars, func(at int) bool { return at >= 0 })
	for _, row := range result.Rows {
		halves := make([]*float64, len(o.columns))
		for i, at := range o.bars {
			if at < 0 {
				continue
			}
			if n, ok := row[at].(json.Number); ok {
				if f, err := n.Float64(); err == nil {
					halves[i] = &f
				}
			}
		}
		for i, c := range o.columns {
			if n, ok := row[i].(json.Number); ok && c.Type == "numeric" {
				row[i] = withoutExponent(n)
			}
		}
		out.Rows = append(out.Rows, row[:len(o.columns)])
		if known {
			out.Errors = append(out.Errors, halves)
		}
	}
}

// withoutExponent writes a number as PostgreSQL writes numeric.
func withoutExponent(n json.Number) json.Number {
	f, err := n.Float64()
	if err != nil || !strings.ContainsAny(n.String(), "eE") {
		return n
	}
	return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
}

// unknown names the noisy columns that have no error bars.
func (o *OuterQuery) unknown() string {
	var names []string
	for i, c := range o.columns {
		if c.Noisy && o.bars[i] < 0 {
			names = append(names, c.Name)
		}
	}
	switch noisy := slices.ContainsFunc(o.bars, func(at int) bool { return at >= 0 }); {
	case len(names) == 0:
		return ""
	case !noisy || len(names) > 5:
		return "what this query computes from them"
	}
	return "what this query computes from them in " + strings.Join(names, ", ")
}

// outerColumns describes the columns of a query over answers.
func outerColumns(columns []postquery.Column, noisy bool) []api.Column {
	var out []api.Column
	for _, c := range columns {
		column := api.Column{Name: c.Name, Kind: c.Kind.String(), Type: c.Type, Noisy: noisy, Approximate: noisy, Decimals: -1}
		if c.Type == "" {
			column.Type = typeNames[column.Kind]
		}
		switch c.Kind {
		case postquery.Integer:
			column.Decimals = 0
		case postquery.Decimal:
			column.Decimals = c.Decimals
		case postquery.Text, postquery.Boolean, postquery.Date, postquery.Timestamp:
			column.Noisy, column.Approximate = false, false
		}
		out = append(out, column)
	}
	return out
}

// fit puts the values of a row into the types of its table. A whole number that is beyond 64 bits,
// which noise would have to be enormous for, is the nearest that is not.
func fit(columns []postquery.Column, row []any) []any {
	out := slices.Clone(row)
	for i := range row {
		n, ok := row[i].(json.Number)
		if !ok || columns[i].Kind != postquery.Integer {
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
			return syntax.Refuse(syntax.TooComplex, -1, "join it with a private table, in a question: there it is not loaded",
				"the public table %s has %d rows; a query can have %d values of public tables", t.Name, rows[i], MaxPublicCells)
		}
		cells += rows[i] * n
	}
	return nil
}

// publicTable is a public table for the query around answers, without rows.
func publicTable(t *policy.Table, i int) postquery.Table {
	out := postquery.Table{Name: planner.PublicName(i)}
	for _, o := range publicColumns(t) {
		c := postquery.Column{Name: o.Name, Kind: kindOf(o)}
		if c.Kind == postquery.Decimal {
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

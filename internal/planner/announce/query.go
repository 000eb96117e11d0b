package announce

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/policy"
)

// Column is a column of a SELECT or a table.
type Column struct {
	Name string
	Type
}

// Columns are those of a SELECT over the tables and views of a dataset, with parameters of these
// kinds; nil where they are not known. Work is how many steps it took to tell.
func Columns(ds *policy.Dataset, s *pg.SelectStmt, parameters []string) (out []Column, work int) {
	r := &reader{dataset: ds, parameters: parameters, stepsLeft: maxSteps, views: map[string][]Column{}}
	out = r.query(nil, s)
	for i := range out {
		out[i].Type = settled(out[i].Type)
	}
	if r.stepsLeft < 0 {
		return nil, maxSteps
	}
	return out, maxSteps - r.stepsLeft
}

// OfView are the columns of a view of a dataset; nil where they are not known.
func OfView(ds *policy.Dataset, name string) []Column {
	r := &reader{dataset: ds, stepsLeft: maxSteps, views: map[string][]Column{}}
	out, _ := r.view(name)
	return out
}

// OfColumn is the type of a column of the policy: a number has the digits that its bounds and its
// granularity leave room for.
func OfColumn(c *policy.Column) Type {
	switch c.Type {
	case policy.Integer:
		return Type{Name: "int8"}
	case policy.Decimal:
		return decimalType(c)
	case policy.Boolean:
		return Type{Name: "bool"}
	case policy.Date:
		return Type{Name: "date"}
	case policy.Timestamp:
		return Type{Name: "timestamp"}
	}
	return Type{Name: "text"}
}

func decimalType(c *policy.Column) Type {
	if c.Bounds == nil || c.Granularity == nil {
		return Type{Name: "numeric"}
	}
	scale, exact := c.Granularity.FloatPrec()
	if !exact {
		return Type{Name: "numeric"}
	}
	digits := 0
	for _, steps := range []int64{c.Bounds.LoSteps, c.Bounds.HiSteps} {
		whole, _, _ := strings.Cut(strings.TrimPrefix(c.Show(steps), "-"), ".")
		digits = max(digits, len(strings.TrimLeft(whole, "0")))
	}
	return Numeric(max(1, digits+scale), scale)
}

// maxSteps bounds the work of one text: nodes that are looked at, and columns that * stands for.
const (
	maxSteps  = 100_000
	maxInside = 64 // views and subqueries in each other
)

type reader struct {
	dataset    *policy.Dataset
	parameters []string
	stepsLeft  int
	depth      int
	views      map[string][]Column // that were read
}

// step counts work, and reports whether there may be more.
func (r *reader) step(n int) bool {
	r.stepsLeft -= n
	return r.stepsLeft >= 0
}

// query are the columns of a SELECT, of VALUES or of a set operation. Quoted constants have no type
// yet: the other side of a UNION may say it.
func (r *reader) query(outer *scope, s *pg.SelectStmt) []Column {
	if r.depth++; r.depth > maxInside || s == nil || !r.step(1) {
		r.depth--
		return nil
	}
	defer func() { r.depth-- }()
	in := &scope{outer: outer}
	if s.WithClause != nil {
		r.with(in, s.WithClause)
	}
	switch {
	case s.Larg != nil && s.Rarg != nil:
		return r.union(r.query(in, s.Larg), r.query(in, s.Rarg))
	case len(s.ValuesLists) > 0:
		return r.values(in, s.ValuesLists)
	}
	for _, n := range s.FromClause {
		in.add(r.from(in, n))
	}
	var out []Column
	for _, n := range s.TargetList {
		t := n.GetResTarget()
		if fields := t.GetVal().GetColumnRef().GetFields(); len(fields) > 0 && fields[len(fields)-1].GetAStar() != nil {
			all, ok := in.star(fields)
			if !ok || !r.step(len(all)) {
				return nil
			}
			out = append(out, all...)
			continue
		}
		name := t.GetName()
		if name == "" {
			name = syntax.OutputName(t.GetVal())
		}
		out = append(out, Column{name, r.expr(in, t.GetVal())})
	}
	return out
}

func (r *reader) union(left, right []Column) []Column {
	if len(left) != len(right) {
		return nil
	}
	out := make([]Column, len(left))
	for i := range left {
		out[i] = Column{left[i].Name, common([]Type{left[i].Type, right[i].Type})}
	}
	return out
}

func (r *reader) values(in *scope, rows []*pg.Node) []Column {
	var all [][]Type
	for _, n := range rows {
		for i, t := range r.exprs(in, n.GetList().GetItems()) {
			if i == len(all) {
				all = append(all, nil)
			}
			all[i] = append(all[i], t)
		}
	}
	out := make([]Column, len(all))
	for i := range all {
		out[i] = Column{valuesName(i), common(all[i])}
	}
	return out
}

// with adds the queries of WITH to what can be named. Each sees those before it.
func (r *reader) with(in *scope, w *pg.WithClause) {
	in.with = map[string][]Column{}
	for _, n := range w.Ctes {
		q := n.GetCommonTableExpr()
		columns := settledColumns(r.query(in, q.GetCtequery().GetSelectStmt()))
		in.with[strings.ToLower(q.GetCtename())] = renamed(columns, q.GetAliascolnames())
	}
}

// view are the columns of a view of the policy.
func (r *reader) view(name string) ([]Column, bool) {
	if columns, ok := r.views[name]; ok {
		return columns, true
	}
	text, ok := r.dataset.Views[name]
	if !ok {
		return nil, false
	}
	r.views[name] = nil // one that reads itself has none
	s, err := syntax.Open(text, nil).SelectOf(r.dataset.Name)
	if err != nil || !r.step(len(text)/viewBytes) {
		return nil, true
	}
	columns := settledColumns(r.query(nil, s))
	r.views[name] = columns
	return columns, true
}

// viewBytes is how much of a view's text is read in the time of a step.
const viewBytes = 8

func settledColumns(all []Column) []Column {
	for i := range all {
		all[i].Type = settled(all[i].Type)
	}
	return all
}

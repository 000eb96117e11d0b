package announce

import (
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// scope is what names mean in a SELECT.
type scope struct {
	outer   *scope
	with    map[string][]Column
	sources []source
	columns []Column // those that * stands for
}

// source is something in FROM that has a name.
type source struct {
	name    string
	columns []Column
}

// item is an item of FROM: what can be named of it, and what * stands for, which is nil where it is
// not known.
type item struct {
	sources []source
	columns []Column
	known   bool
}

func (s *scope) add(i item) {
	s.sources = append(s.sources, i.sources...)
	s.columns = append(s.columns, i.columns...)
	if !i.known {
		s.sources = append(s.sources, source{}) // so that * is not known
	}
}

func (s *scope) star(fields []*pg.Node) ([]Column, bool) {
	if len(fields) == 1 {
		return s.columns, !slices.ContainsFunc(s.sources, func(f source) bool { return f.name == "" })
	}
	name := fields[len(fields)-2].GetString_().GetSval()
	for _, f := range s.sources {
		if f.name != "" && strings.EqualFold(f.name, name) {
			return f.columns, true
		}
	}
	return nil, false
}

// column is the type of the column of a name, here or in a SELECT around this one.
func (s *scope) column(r *reader, c *pg.ColumnRef) Type {
	fields := c.GetFields()
	name := fields[len(fields)-1].GetString_().GetSval()
	for ; s != nil; s = s.outer {
		columns := s.columns
		if len(fields) > 1 {
			columns, _ = s.star(fields)
		}
		if !r.step(1 + len(columns)/8) {
			return Type{}
		}
		if found, ok := find(columns, name); ok {
			return found.Type
		}
	}
	return Type{}
}

// find finds a column: by its name as it is, or else without regard to case.
func find(columns []Column, name string) (Column, bool) {
	i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		i = slices.IndexFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
	}
	if i < 0 {
		return Column{}, false
	}
	return columns[i], true
}

func (r *reader) from(in *scope, n *pg.Node) item {
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		columns, ok := r.table(in, x.RangeVar)
		return r.named(x.RangeVar.Relname, x.RangeVar.Alias, columns, ok)
	case *pg.Node_RangeSubselect:
		columns := settledColumns(r.query(in, x.RangeSubselect.Subquery.GetSelectStmt()))
		return r.named("", x.RangeSubselect.Alias, columns, columns != nil)
	case *pg.Node_RangeFunction:
		return r.function(in, x.RangeFunction)
	case *pg.Node_JoinExpr:
		return r.join(in, x.JoinExpr)
	}
	return item{}
}

func (r *reader) named(name string, a *pg.Alias, columns []Column, known bool) item {
	if a != nil {
		name, columns = a.Aliasname, renamed(columns, a.Colnames)
	}
	if !r.step(len(columns)) {
		return item{}
	}
	if name == "" {
		name = "unnamed subquery"
	}
	return item{[]source{{name, columns}}, columns, known}
}

// renamed gives the first columns other names.
func renamed(columns []Column, names []*pg.Node) []Column {
	if len(names) == 0 {
		return columns
	}
	columns = slices.Clone(columns)
	for i := range min(len(names), len(columns)) {
		columns[i].Name = names[i].GetString_().GetSval()
	}
	return columns
}

// table are the columns of a query of WITH, a table or a view.
func (r *reader) table(in *scope, v *pg.RangeVar) ([]Column, bool) {
	for s := in; s != nil; s = s.outer {
		if columns, ok := s.with[strings.ToLower(v.Relname)]; ok {
			return columns, columns != nil
		}
	}
	if name, ok := findName(r.dataset.Tables, v.Relname); ok {
		t := r.dataset.Tables[name]
		columns := make([]Column, 0, len(t.Columns))
		for _, c := range t.ColumnNames() {
			columns = append(columns, Column{c, OfColumn(t.Columns[c])})
		}
		return columns, true
	}
	if name, ok := findName(r.dataset.Views, v.Relname); ok {
		columns, _ := r.view(name)
		return columns, columns != nil
	}
	return nil, false
}

func findName[T any](all map[string]T, name string) (string, bool) {
	if _, ok := all[name]; ok {
		return name, true
	}
	for k := range all { // no two differ in case only
		if strings.EqualFold(k, name) {
			return k, true
		}
	}
	return "", false
}

// join is a join of two items. Columns of USING come first in *, once.
func (r *reader) join(in *scope, j *pg.JoinExpr) item {
	left := r.from(in, j.Larg)
	beside := &scope{outer: in}
	beside.add(left)
	right := r.from(beside, j.Rarg) // which may be LATERAL
	out := item{sources: slices.Concat(left.sources, right.sources), known: left.known && right.known}
	var merged []string
	for _, n := range j.UsingClause {
		merged = append(merged, n.GetString_().GetSval())
	}
	if j.IsNatural {
		for _, c := range left.columns {
			if _, ok := find(right.columns, c.Name); ok {
				merged = append(merged, c.Name)
			}
		}
	}
	if !r.step(len(merged) * (1 + len(left.columns) + len(right.columns))) {
		return item{}
	}
	for _, name := range merged {
		l, _ := find(left.columns, name)
		k, _ := find(right.columns, name)
		out.columns = append(out.columns, Column{l.Name, common([]Type{l.Type, k.Type})})
	}
	rest := func(c Column) bool {
		return !slices.ContainsFunc(merged, func(name string) bool { return strings.EqualFold(name, c.Name) })
	}
	for _, c := range slices.Concat(left.columns, right.columns) {
		if rest(c) {
			out.columns = append(out.columns, c)
		}
	}
	if j.Alias != nil {
		return r.named("", j.Alias, out.columns, out.known)
	}
	return out
}

// function is generate_series(...) or unnest(...) in FROM.
func (r *reader) function(in *scope, f *pg.RangeFunction) item {
	if len(f.Functions) != 1 || len(f.Functions[0].GetList().GetItems()) == 0 {
		return item{}
	}
	call := f.Functions[0].GetList().Items[0].GetFuncCall()
	if call == nil || len(call.Args) == 0 {
		return item{}
	}
	name := call.Funcname[len(call.Funcname)-1].GetString_().GetSval()
	column := Column{Name: name}
	switch {
	case name == "unnest" && len(call.Args) == 1:
		column.Type = settled(common(r.exprs(in, call.Args[0].GetAArrayExpr().GetElements())))
	case name == "generate_series" && len(call.Args) >= 2:
		column.Type = Type{Name: seriesType(r.exprs(in, call.Args[:2]))}
	default:
		return item{}
	}
	if f.Alias != nil {
		name, column.Name = f.Alias.Aliasname, f.Alias.Aliasname
	}
	columns := []Column{column}
	if f.Ordinality {
		columns = append(columns, Column{"ordinality", Type{Name: "int8"}})
	}
	return r.named(name, f.Alias, columns, true)
}

func seriesType(ends []Type) string {
	t := common(ends)
	switch t.Name {
	case "int2":
		return "int4"
	case "date":
		return "timestamptz"
	}
	return t.Name
}

func valuesName(i int) string { return "column" + strconv.Itoa(i+1) }

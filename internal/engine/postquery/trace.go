package postquery

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// Origin names a column of a released result; empty where there is none.
type Origin struct{ Table, Column string }

// Trace says of each column of a statement of which released column it is a copy, value by value,
// and adds to the statement a copy of what belongs to that one: beside names the column of the same
// result that does, as its error bar, or nothing. Then added says for each column which one was
// added for it, or -1. What is computed, grouped or joined by USING has no origin, and where a
// statement is not understood nothing has: then it means what it meant, without error bars.
//
// Columns that belong to others are seen by nobody else: * stands for the columns of tables.
func Trace(stmt *pg.SelectStmt, tables map[string][]string, beside func(Origin) string) (origins []Origin, added []int) {
	t := &tracer{tables: tables, beside: beside, uses: map[string]int{}}
	top := &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: stmt}}
	syntax.EachNode(top, func(n *pg.Node) bool {
		if s := n.GetSelectStmt(); s != nil {
			t.spell(s)
		}
		if v := n.GetRangeVar(); v != nil {
			t.uses[fold(v.Relname)]++
		}
		return true
	})
	r := t.selection(stmt, nil)
	if r == nil {
		return nil, nil
	}
	origins, added = make([]Origin, len(r.columns)), make([]int, len(r.columns))
	for i, c := range r.columns {
		origins[i], added[i] = c.origin, -1
	}
	for i, c := range r.columns {
		if c.beside == nil {
			continue
		}
		if name := c.beside(); name != "" {
			added[i] = len(stmt.TargetList) - 1
		}
	}
	return origins, added
}

// Constant is the origin of what is made of constants: a series of them.
var Constant = Origin{Column: "a constant"}

type tracer struct {
	tables map[string][]string
	beside func(Origin) string
	uses   map[string]int // how often each name stands in FROM
	names  int            // how many were made
}

// relation is what is known of something in FROM, or of a SELECT.
type relation struct {
	alias   string
	columns []tracedColumn
}

// tracedColumn is a column, where it is from, and what adds its companion to the relation and names
// it there; nil where it cannot have one.
type tracedColumn struct {
	name   string
	origin Origin
	beside func() string
}

// withQueries is what WITH has named, innermost last. A relation is nil where it is not known.
type withQueries struct {
	name  string
	is    *relation
	outer *withQueries
}

func (s *withQueries) find(name string) (*relation, bool) {
	for ; s != nil; s = s.outer {
		if s.name == fold(name) {
			return s.is, true
		}
	}
	return nil, false
}

// spell writes the columns of a released result in the place of *, on both sides of UNION too,
// which are no nodes of their own.
func (t *tracer) spell(s *pg.SelectStmt) {
	if s.Larg != nil && s.Rarg != nil {
		t.spell(s.Larg)
		t.spell(s.Rarg)
		return
	}
	if len(s.FromClause) != 1 || len(s.TargetList) != 1 || len(s.TargetList[0].GetResTarget().GetVal().GetColumnRef().GetFields()) != 1 ||
		s.TargetList[0].GetResTarget().GetVal().GetColumnRef().Fields[0].GetAStar() == nil {
		return
	}
	columns, ok := t.tables[s.FromClause[0].GetRangeVar().GetRelname()]
	if !ok {
		return
	}
	s.TargetList = nil
	for _, name := range columns {
		s.TargetList = append(s.TargetList, selectColumn("", name, name))
	}
}

// selectColumn is a column of a SELECT that copies another one, of a table that has a name or none.
func selectColumn(table, column, as string) *pg.Node {
	var fields []*pg.Node
	for _, name := range []string{table, column} {
		if name != "" {
			fields = append(fields, &pg.Node{Node: &pg.Node_String_{String_: &pg.String{Sval: name}}})
		}
	}
	ref := &pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: &pg.ColumnRef{Fields: fields, Location: -1}}}
	return &pg.Node{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Name: as, Val: ref, Location: -1}}}
}

// selection follows the columns of a SELECT; nil where it is not understood.
func (t *tracer) selection(s *pg.SelectStmt, in *withQueries) *relation {
	if s == nil || len(s.ValuesLists) > 0 || s.Op != pg.SetOperation_SETOP_NONE && s.Op != pg.SetOperation_SET_OPERATION_UNDEFINED {
		return nil
	}
	for _, n := range s.WithClause.GetCtes() {
		c := n.GetCommonTableExpr()
		r := renameColumns(t.selection(c.GetCtequery().GetSelectStmt(), in), c.GetAliascolnames())
		if t.uses[fold(c.GetCtename())] > 1 { // * of the others would have what is added
			r = nil
		}
		in = &withQueries{fold(c.GetCtename()), r, in}
	}
	from, whole := t.items(s.FromClause, in)
	if whole {
		expand(s, from)
	}
	out := &relation{}
	for _, n := range s.TargetList {
		target := n.GetResTarget()
		ref := target.GetVal().GetColumnRef()
		name := target.GetName()
		if name == "" {
			name = syntax.OutputName(target.GetVal())
		}
		if ref != nil && ref.Fields[len(ref.Fields)-1].GetAStar() != nil {
			return nil // which columns these are is not known
		}
		c := tracedColumn{name: name}
		if found := resolve(from, ref); found != nil {
			c.origin = found.origin
			if copiesRows(s) && found.beside != nil {
				c.beside = t.companionAdder(s, found)
			}
		}
		out.columns = append(out.columns, c)
	}
	return out
}

// companionAdder adds the companion of a column to a SELECT, once, where there is room for it.
func (t *tracer) companionAdder(s *pg.SelectStmt, c *tracedColumn) func() string {
	as := ""
	return func() string {
		if as != "" || len(s.TargetList) >= MaxColumns {
			return as
		}
		if below := c.beside(); below != "" && len(s.TargetList) < MaxColumns {
			as = t.freshName()
			s.TargetList = append(s.TargetList, selectColumn("", below, as))
		}
		return as
	}
}

func (t *tracer) freshName() string {
	t.names++
	return Hidden + "beside " + strconv.Itoa(t.names)
}

// copiesRows reports whether each row of a SELECT is one row of what it is from.
func copiesRows(s *pg.SelectStmt) bool {
	if len(s.GroupClause) > 0 || len(s.DistinctClause) > 0 || s.HavingClause != nil {
		return false
	}
	grouped := false
	for _, list := range [][]*pg.Node{s.TargetList, s.SortClause} {
		for _, n := range list {
			syntax.EachNode(n, func(n *pg.Node) bool {
				if f := n.GetFuncCall(); f != nil && f.Over == nil && len(f.Funcname) > 0 {
					name := stringOf(f.Funcname[len(f.Funcname)-1])
					role := functions[name].role
					grouped = grouped || f.AggStar || role == aggregate || role == ordered || valueFunctions[name].role == aggregate
				}
				return n.GetSubLink() == nil
			})
		}
	}
	return !grouped
}

// expand writes the columns of all of FROM in the place of * and t.*.
func expand(s *pg.SelectStmt, from []*relation) {
	var out []*pg.Node
	for _, n := range s.TargetList {
		fields := n.GetResTarget().GetVal().GetColumnRef().GetFields()
		if len(fields) == 0 || len(fields) > 2 || fields[len(fields)-1].GetAStar() == nil {
			out = append(out, n)
			continue
		}
		known := false
		for _, r := range from {
			if len(fields) == 2 && fold(stringOf(fields[0])) != fold(r.alias) {
				continue
			}
			known = true
			for _, c := range r.columns {
				out = append(out, selectColumn(r.alias, c.name, c.name))
			}
		}
		if !known {
			return // DuckDB says what is wrong
		}
	}
	if len(out) <= MaxColumns {
		s.TargetList = out
	}
}

// resolve finds the column of a name; nil where there is none, or more than one.
func resolve(from []*relation, ref *pg.ColumnRef) *tracedColumn {
	if ref == nil || len(ref.Fields) > 2 {
		return nil
	}
	var found *tracedColumn
	name := fold(stringOf(ref.Fields[len(ref.Fields)-1]))
	for _, r := range from {
		if r == nil && len(ref.Fields) == 1 {
			return nil
		}
		if r == nil || len(ref.Fields) == 2 && fold(stringOf(ref.Fields[0])) != fold(r.alias) {
			continue
		}
		for i := range r.columns {
			if fold(r.columns[i].name) != name {
				continue
			}
			if found != nil {
				return nil
			}
			found = &r.columns[i]
		}
	}
	return found
}

// items follows what stands in FROM, and reports whether * is all of its columns in order.
func (t *tracer) items(from []*pg.Node, in *withQueries) (out []*relation, whole bool) {
	whole = true
	for _, n := range from {
		switch x := n.GetNode().(type) {
		case *pg.Node_RangeVar:
			out = append(out, t.table(x.RangeVar, in))
		case *pg.Node_RangeSubselect:
			r := t.selection(x.RangeSubselect.Subquery.GetSelectStmt(), in)
			r = renameColumns(r, x.RangeSubselect.GetAlias().GetColnames())
			if r != nil {
				r.alias = x.RangeSubselect.GetAlias().GetAliasname()
			}
			out = append(out, r)
		case *pg.Node_JoinExpr:
			sides, all := t.items([]*pg.Node{x.JoinExpr.Larg, x.JoinExpr.Rarg}, in)
			if x.JoinExpr.IsNatural || len(x.JoinExpr.UsingClause) > 0 || x.JoinExpr.Alias != nil {
				all = false
			}
			out, whole = append(out, sides...), whole && all
		case *pg.Node_RangeFunction:
			out = append(out, series(x.RangeFunction))
		default:
			out = append(out, nil)
		}
		whole = whole && out[len(out)-1] != nil
	}
	return out, whole
}

// series is the one column of a function in FROM, which is called like the function's alias.
func series(f *pg.RangeFunction) *relation {
	if len(f.Functions) != 1 || f.Ordinality || f.IsRowsfrom {
		return nil
	}
	items := f.Functions[0].GetList().GetItems()
	if len(items) == 0 || len(items[0].GetFuncCall().GetFuncname()) != 1 {
		return nil
	}
	call := items[0].GetFuncCall()
	c := tracedColumn{name: stringOf(call.Funcname[0]), origin: Constant}
	out := &relation{alias: c.name}
	if f.Alias != nil {
		c.name, out.alias = f.Alias.Aliasname, f.Alias.Aliasname
	}
	syntax.EachNode(items[0], func(n *pg.Node) bool {
		if n.GetSubLink() != nil || n.GetColumnRef() != nil { // of released values
			c.origin = Origin{}
		}
		return true
	})
	out.columns = []tracedColumn{c}
	return renameColumns(out, f.Alias.GetColnames())
}

// table is a released result or a query of WITH.
func (t *tracer) table(v *pg.RangeVar, in *withQueries) *relation {
	out := &relation{alias: v.Relname}
	if v.Alias != nil {
		out.alias = v.Alias.Aliasname
	}
	if named, ok := in.find(v.Relname); ok {
		if named == nil {
			return nil
		}
		out.columns = append(out.columns, named.columns...)
		return renameColumns(out, v.Alias.GetColnames())
	}
	columns, ok := t.tables[v.Relname]
	if !ok {
		return nil
	}
	for _, name := range columns {
		c := tracedColumn{name: name, origin: Origin{v.Relname, name}}
		if own := t.beside(c.origin); own != "" {
			c.beside = func() string { return own }
		}
		out.columns = append(out.columns, c)
	}
	return renameColumns(out, v.Alias.GetColnames())
}

// renameColumns gives the first columns of a relation other names.
func renameColumns(r *relation, names []*pg.Node) *relation {
	if r == nil || len(names) > len(r.columns) {
		return nil
	}
	for i, n := range names {
		r.columns[i].name = stringOf(n)
	}
	return r
}

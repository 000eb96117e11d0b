package postquery

import (
	"slices"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

type statementPrinter struct {
	*output
	scope *scope
	from  *fromPrinter
	exprs *exprPrinter
}

// selectStmt prints a SELECT, a VALUES or a set operation, and returns its columns. The outermost
// one has a limit.
func (p *statementPrinter) selectStmt(s *pg.SelectStmt, top bool) (columns []outputColumn) {
	defer p.leave()
	if !p.enter(-1) {
		return nil
	}
	switch {
	case s == nil:
		p.refuse(syntax.Malformed, -1, "write a SELECT", "a SELECT is missing")
	case s.IntoClause != nil:
		p.refuse(syntax.Unsupported, s.IntoClause.GetRel().GetLocation(), "leave out INTO; the answer is the result",
			"SELECT INTO writes a table")
	case len(s.LockingClause) > 0:
		p.refuse(syntax.Unsupported, -1, "leave it out", "FOR UPDATE and FOR SHARE lock rows, and released results have no rows to lock")
	}
	if p.refused != nil {
		return nil
	}
	visible, around, outputs := len(p.scope.ctes), len(p.scope.elements), p.scope.outputs
	defer func() {
		p.scope.ctes, p.scope.elements, p.scope.outputs = p.scope.ctes[:visible], p.scope.elements[:around], outputs
	}()
	p.withClause(s.WithClause)
	switch {
	case s.Op != pg.SetOperation_SETOP_NONE && s.Op != pg.SetOperation_SET_OPERATION_UNDEFINED:
		columns = p.setOperation(s)
	case len(s.ValuesLists) > 0:
		columns = p.values(s.ValuesLists)
	default:
		columns = p.simple(s)
	}
	p.scope.outputs = columns
	p.exprs.orderBy(s.SortClause, " ORDER BY ", true)
	p.limit(s, top)
	for _, c := range columns {
		if top && c.is == rowOf {
			p.exprs.scalar("", rowOf)
		}
	}
	return columns
}

// withClause prints WITH queries. MATERIALIZED keeps DuckDB from planning a query again wherever it
// is used: with queries that use each other twice that would double at every step.
func (p *statementPrinter) withClause(w *pg.WithClause) {
	if w == nil {
		return
	}
	if w.Recursive {
		p.refuse(syntax.Unsupported, w.Location, "use generate_series for a list of numbers or dates", "WITH RECURSIVE may never end")
		return
	}
	p.write("WITH ")
	printList(p.output, w.Ctes, func(n *pg.Node) {
		c := n.GetCommonTableExpr()
		body := c.GetCtequery().GetSelectStmt()
		if c == nil || body == nil || c.SearchClause != nil || c.CycleClause != nil {
			p.refuse(syntax.Unsupported, c.GetLocation(), "write a SELECT in WITH", "WITH holds something that is not a SELECT")
			return
		}
		_, released := p.scope.released[fold(c.Ctename)]
		if released || slices.ContainsFunc(p.scope.ctes, func(o string) bool { return fold(o) == fold(c.Ctename) }) {
			p.refuse(syntax.DuplicateAlias, c.Location, "choose another name",
				"the name %q is taken by a released result or by another WITH query", c.Ctename)
			return
		}
		p.write(p.quotedName(c.Ctename, c.Location))
		p.from.columnNames(c.Aliascolnames)
		p.write(" AS MATERIALIZED (")
		p.scope.tables[fold(c.Ctename)] = rename(p.selectStmt(body, false), c.Aliascolnames)
		p.write(")")
		p.scope.ctes = append(p.scope.ctes, c.Ctename)
	})
	p.write(" ")
}

func (p *statementPrinter) setOperation(s *pg.SelectStmt) []outputColumn {
	words := map[pg.SetOperation]string{
		pg.SetOperation_SETOP_UNION: "UNION", pg.SetOperation_SETOP_INTERSECT: "INTERSECT", pg.SetOperation_SETOP_EXCEPT: "EXCEPT",
	}
	word, ok := words[s.Op]
	if !ok {
		p.refuse(syntax.Unsupported, -1, "use UNION, INTERSECT or EXCEPT", "this set operation is not supported")
		return nil
	}
	if s.All {
		word += " ALL"
	}
	p.write("(")
	columns := p.selectStmt(s.Larg, false)
	p.write(") ", word, " (")
	right := p.selectStmt(s.Rarg, false)
	p.write(")")
	if word != "UNION ALL" {
		p.exprs.scalars(columns, word)
	}
	for i := range min(len(columns), len(right)) {
		if columns[i].is != right[i].is {
			p.refuse(syntax.Mismatch, -1, "cast them to the same type", "the column %q has different types on the sides of %s",
				columns[i].name, word)
		}
	}
	return columns
}

// values prints VALUES with the names that PostgreSQL gives its columns.
func (p *statementPrinter) values(rows []*pg.Node) (columns []outputColumn) {
	width := len(rows[0].GetList().GetItems())
	if width == 0 || width > MaxColumns {
		p.refuse(syntax.TooComplex, -1, "write fewer columns", "VALUES has no columns, or more than %d", MaxColumns)
		return nil
	}
	p.write("SELECT * FROM (VALUES ")
	printList(p.output, rows, func(n *pg.Node) {
		row := n.GetList().GetItems()
		if len(row) != width {
			p.refuse(syntax.Malformed, -1, "give every row the same number of values", "the rows of VALUES have different lengths")
			return
		}
		p.write("(")
		printList(p.output, row, p.exprs.expr)
		p.write(")")
	})
	p.write(`) AS "*VALUES*"(`)
	for i := range width {
		if i > 0 {
			p.write(", ")
		}
		name := "column" + strconv.Itoa(i+1)
		p.write(`"`, name, `"`)
		columns = append(columns, outputColumn{name: name})
	}
	p.write(")")
	return columns
}

// simple prints FROM first, because what its columns are decides how the others are printed.
func (p *statementPrinter) simple(s *pg.SelectStmt) (columns []outputColumn) {
	if len(s.TargetList) == 0 || len(s.TargetList) > MaxColumns {
		p.refuse(syntax.TooComplex, -1, "select at least one column, and at most "+strconv.Itoa(MaxColumns), "a SELECT has %d columns",
			len(s.TargetList))
		return nil
	}
	around := len(p.scope.elements)
	var all []outputColumn // what * stands for
	from := p.capture(func() {
		if len(s.FromClause) > 0 {
			p.write(" FROM ")
			printList(p.output, s.FromClause, func(n *pg.Node) { all = append(all, p.from.fromItem(n)...) })
		}
	})
	if p.scope.width(s.TargetList, around) > MaxColumns {
		p.refuse(syntax.TooComplex, -1, "name the columns you need", "a SELECT has more than %d columns", MaxColumns)
		return nil
	}
	p.write("SELECT ")
	p.distinct(s.DistinctClause)
	printList(p.output, s.TargetList, func(n *pg.Node) { columns = append(columns, p.target(n, all)...) })
	if len(s.DistinctClause) > 0 {
		p.exprs.scalars(columns, "DISTINCT")
	}
	p.write(from)
	if s.WhereClause != nil {
		p.write(" WHERE ")
		p.from.countEqual(countEqualities(s.WhereClause))
		p.exprs.expr(s.WhereClause)
	}
	p.scope.outputs = columns
	p.groupBy(s)
	if s.HavingClause != nil {
		p.write(" HAVING ")
		p.from.countEqual(countEqualities(s.HavingClause))
		p.exprs.expr(s.HavingClause)
	}
	if len(s.WindowClause) > 0 {
		p.write(" WINDOW ")
		printList(p.output, s.WindowClause, func(n *pg.Node) {
			w := n.GetWindowDef()
			p.write(p.quotedName(w.GetName(), w.GetLocation()), " AS ")
			p.exprs.window(w)
		})
	}
	return columns
}

// scalars refuses columns that DuckDB has not itself where it compares them.
func (p *exprPrinter) scalars(columns []outputColumn, what string) {
	for _, c := range columns {
		if c.is != ordinary {
			p.refuse(syntax.NoFunction, -1, "cast it to another type, or leave it out", "%s compares the column %q, which is %s", what,
				c.name,
				classNames[c.is])
		}
	}
}

func (p *statementPrinter) distinct(d []*pg.Node) {
	switch {
	case len(d) == 0:
	case len(d) == 1 && d[0].GetNode() == nil: // DISTINCT without ON
		p.write("DISTINCT ")
	default:
		p.write("DISTINCT ON (")
		printList(p.output, d, p.exprs.side)
		p.write(") ")
	}
}

// target prints a column of a SELECT, with the name that PostgreSQL gives it. all is what * stands
// for.
func (p *statementPrinter) target(n *pg.Node, all []outputColumn) []outputColumn {
	t := n.GetResTarget()
	if t == nil || len(t.Indirection) > 0 {
		p.refuse(syntax.Unsupported, t.GetLocation(), "write an expression", "this column cannot be selected")
		return nil
	}
	if c := t.Val.GetColumnRef(); isStar(c) {
		p.star(t.Val)
		if len(c.Fields) == 2 {
			if _, e := p.scope.resolve(c); e != nil {
				return e.columns
			}
		}
		return all
	}
	name := t.Name
	if name == "" {
		name = syntax.OutputName(t.Val)
	}
	is := p.exprs.value(t.Val)
	if t.Name != "" || is == rowOf || t.Val.GetColumnRef() == nil { // a column keeps its name
		p.write(" AS ", p.quotedName(name, t.Location))
	}
	return []outputColumn{{name, is}}
}

// isStar reports whether something is * or t.*.
func isStar(c *pg.ColumnRef) bool {
	return c != nil && len(c.Fields) > 0 && c.Fields[len(c.Fields)-1].GetAStar() != nil
}

func (p *statementPrinter) star(n *pg.Node) bool {
	c := n.GetColumnRef()
	if !isStar(c) {
		return false
	}
	switch len(c.Fields) {
	case 1:
		p.write("*")
	case 2:
		p.write(p.tableName(stringOf(c.Fields[0]), c.Location), ".*")
	default:
		p.refuse(syntax.Unsupported, c.Location, "write only the table's name", "released results have no schema")
	}
	return true
}

func (p *statementPrinter) groupBy(s *pg.SelectStmt) {
	if len(s.GroupClause) == 0 {
		return
	}
	if s.GroupDistinct {
		p.refuse(syntax.Unsupported, -1, "write GROUP BY without DISTINCT", "GROUP BY DISTINCT is not available")
		return
	}
	sets := 1
	p.write(" GROUP BY ")
	printList(p.output, s.GroupClause, func(n *pg.Node) {
		sets = min(sets*groupingSets(n), maxSets+1)
		if sets > maxSets {
			p.refuse(syntax.TooComplex, n.GetGroupingSet().GetLocation(), "group by fewer columns in CUBE and ROLLUP",
				"there are more than %d grouping sets", maxSets)
			return
		}
		p.grouping(n)
	})
}

// groupingSets counts them, up to a little above maxSets.
func groupingSets(n *pg.Node) int {
	g := n.GetGroupingSet()
	if g == nil {
		return 1
	}
	switch g.Kind {
	case pg.GroupingSetKind_GROUPING_SET_ROLLUP:
		return len(g.Content) + 1
	case pg.GroupingSetKind_GROUPING_SET_CUBE:
		return 1 << min(len(g.Content), 10)
	case pg.GroupingSetKind_GROUPING_SET_SETS:
		sum := 0
		for _, c := range g.Content {
			sum = min(sum+groupingSets(c), maxSets+1)
		}
		return sum
	}
	return 1
}

func (p *statementPrinter) grouping(n *pg.Node) {
	g := n.GetGroupingSet()
	if g == nil {
		p.exprs.ordinal(n, false)
		return
	}
	defer p.leave()
	if !p.enter(g.Location) {
		return
	}
	words := map[pg.GroupingSetKind]string{
		pg.GroupingSetKind_GROUPING_SET_EMPTY: "", pg.GroupingSetKind_GROUPING_SET_ROLLUP: "ROLLUP ",
		pg.GroupingSetKind_GROUPING_SET_CUBE: "CUBE ", pg.GroupingSetKind_GROUPING_SET_SETS: "GROUPING SETS ",
	}
	word, ok := words[g.Kind]
	if !ok {
		p.refuse(syntax.Unsupported, g.Location, "use ROLLUP, CUBE or GROUPING SETS", "this grouping is not supported")
		return
	}
	p.write(word, "(")
	printList(p.output, g.Content, p.grouping)
	p.write(")")
}

// ordinal prints an expression where a bare whole number is the number of a column. To ORDER BY a
// name is first one of the answer, and to GROUP BY one of FROM.
func (p *exprPrinter) ordinal(n *pg.Node, ordering bool) {
	if c := n.GetAConst(); c != nil && !c.Isnull {
		if c.GetIval() == nil || c.GetIval().Ival < 1 {
			p.refuse(syntax.Unsupported, c.Location, "write the number or the name of a column",
				"a constant cannot be used to order or group")
			return
		}
		number := int(c.GetIval().Ival)
		p.write(strconv.Itoa(number))
		if columns := p.statements.scope.outputs; number <= len(columns) {
			p.scalars(columns[number-1:number], "ORDER BY or GROUP BY")
		}
		return
	}
	if c := n.GetColumnRef(); c != nil && len(c.Fields) == 1 {
		in, row := p.statements.scope.resolve(c)
		for _, o := range p.statements.scope.outputs {
			if fold(o.name) != fold(stringOf(c.Fields[0])) || !ordering && (in.name != "" || row != nil) {
				continue
			}
			p.scalars([]outputColumn{o}, "ORDER BY or GROUP BY")
			p.write(p.quotedName(o.name, c.Location))
			return
		}
	}
	p.side(n)
}

// orderBy prints an order with the place of NULLs, which PostgreSQL sorts as the largest value.
// Only the ORDER BY of a SELECT knows numbers of columns.
func (p *exprPrinter) orderBy(sorts []*pg.Node, words string, ordinals bool) {
	if len(sorts) == 0 {
		return
	}
	p.write(words)
	printList(p.output, sorts, func(n *pg.Node) {
		s := n.GetSortBy()
		if s == nil || len(s.UseOp) > 0 || s.SortbyDir == pg.SortByDir_SORTBY_USING {
			p.refuse(syntax.Unsupported, s.GetLocation(), "write ASC or DESC", "ORDER BY USING is not available")
			return
		}
		if ordinals {
			p.ordinal(s.Node, true)
		} else {
			p.expr(s.Node)
		}
		descending := s.SortbyDir == pg.SortByDir_SORTBY_DESC
		first := descending
		switch s.SortbyNulls {
		case pg.SortByNulls_SORTBY_NULLS_FIRST:
			first = true
		case pg.SortByNulls_SORTBY_NULLS_LAST:
			first = false
		}
		if descending {
			p.write(" DESC")
		} else {
			p.write(" ASC")
		}
		if first {
			p.write(" NULLS FIRST")
		} else {
			p.write(" NULLS LAST")
		}
	})
}

// limit prints LIMIT and OFFSET. The outermost SELECT stops one row after MaxRows, where Run sees
// that there are too many: DuckDB would make all of them first.
func (p *statementPrinter) limit(s *pg.SelectStmt, top bool) {
	if s.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES {
		p.refuse(syntax.Unsupported, -1, "filter by rank() in a query around it", "FETCH ... WITH TIES is not available")
		return
	}
	count := s.LimitCount
	if count.GetAConst().GetIsnull() { // LIMIT ALL
		count = nil
	}
	most := strconv.Itoa(MaxRows + 1)
	switch {
	case count == nil && top:
		p.write(" LIMIT ", most)
	case count != nil && top:
		p.write(" LIMIT least(")
		p.exprs.expr(count)
		p.write(", ", most, ")")
	case count != nil:
		p.write(" LIMIT ")
		p.exprs.expr(count)
	}
	if s.LimitOffset != nil && !s.LimitOffset.GetAConst().GetIsnull() {
		p.write(" OFFSET ")
		p.exprs.expr(s.LimitOffset)
	}
}

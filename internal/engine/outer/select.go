package outer

import (
	"slices"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// selectStmt prints a SELECT, a VALUES or a set operation, and returns how many columns it has at
// most. The outermost one has a limit.
func (p *printer) selectStmt(s *pg.SelectStmt, top bool) (width int) {
	defer p.leave()
	if !p.enter(-1) {
		return 0
	}
	switch {
	case s == nil:
		p.refuse(-1, "write a SELECT", "a SELECT is missing")
	case s.IntoClause != nil:
		p.refuse(s.IntoClause.GetRel().GetLocation(), "leave INTO out; the answer is the result", "SELECT INTO writes a table")
	case len(s.LockingClause) > 0:
		p.refuse(-1, "leave it out", "FOR UPDATE and FOR SHARE lock rows, and released results have none to lock")
	}
	if p.refused != nil {
		return 0
	}
	visible := len(p.ctes)
	p.withClause(s.WithClause)
	switch {
	case s.Op != pg.SetOperation_SETOP_NONE && s.Op != pg.SetOperation_SET_OPERATION_UNDEFINED:
		width = p.setOperation(s)
	case len(s.ValuesLists) > 0:
		width = p.values(s.ValuesLists)
	default:
		width = p.simple(s)
	}
	p.orderBy(s.SortClause, " ORDER BY ", true)
	p.limit(s, top)
	p.ctes = p.ctes[:visible]
	return width
}

// withClause prints WITH queries. MATERIALIZED keeps DuckDB from planning a query again wherever it
// is used: with queries that use each other twice that would double at every step.
func (p *printer) withClause(w *pg.WithClause) {
	if w == nil {
		return
	}
	if w.Recursive {
		p.refuse(w.Location, "use generate_series for a list of numbers or dates", "WITH RECURSIVE may never end")
		return
	}
	p.say("WITH ")
	list(p, w.Ctes, func(n *pg.Node) {
		c := n.GetCommonTableExpr()
		body := c.GetCtequery().GetSelectStmt()
		if c == nil || body == nil || c.SearchClause != nil || c.CycleClause != nil {
			p.refuse(c.GetLocation(), "write a SELECT in WITH", "WITH holds something that is not a SELECT")
			return
		}
		_, released := p.released[fold(c.Ctename)]
		if released || slices.ContainsFunc(p.ctes, func(o string) bool { return fold(o) == fold(c.Ctename) }) {
			p.refuse(c.Location, "choose another name", "the name %q is taken by a released result or by another WITH query", c.Ctename)
			return
		}
		p.say(p.quoted(c.Ctename, c.Location))
		p.columnNames(c.Aliascolnames)
		p.say(" AS MATERIALIZED (")
		p.widths[fold(c.Ctename)] = p.selectStmt(body, false)
		p.say(")")
		p.ctes = append(p.ctes, c.Ctename)
	})
	p.say(" ")
}

func (p *printer) setOperation(s *pg.SelectStmt) (width int) {
	words := map[pg.SetOperation]string{
		pg.SetOperation_SETOP_UNION: "UNION", pg.SetOperation_SETOP_INTERSECT: "INTERSECT", pg.SetOperation_SETOP_EXCEPT: "EXCEPT",
	}
	word, ok := words[s.Op]
	if !ok {
		p.refuse(-1, "use UNION, INTERSECT or EXCEPT", "this set operation is not known")
		return 0
	}
	if s.All {
		word += " ALL"
	}
	p.say("(")
	width = p.selectStmt(s.Larg, false)
	p.say(") ", word, " (")
	p.selectStmt(s.Rarg, false)
	p.say(")")
	return width
}

// values prints VALUES with the names that PostgreSQL gives its columns.
func (p *printer) values(rows []*pg.Node) (width int) {
	width = len(rows[0].GetList().GetItems())
	if width == 0 || width > MaxColumns {
		p.refuse(-1, "write fewer columns", "VALUES has no columns, or more than %d", MaxColumns)
		return 0
	}
	p.say("SELECT * FROM (VALUES ")
	list(p, rows, func(n *pg.Node) {
		row := n.GetList().GetItems()
		if len(row) != width {
			p.refuse(-1, "give every row the same number of values", "the rows of VALUES differ in length")
			return
		}
		p.say("(")
		list(p, row, p.expr)
		p.say(")")
	})
	p.say(`) AS "*VALUES*"(`)
	for i := range width {
		if i > 0 {
			p.say(", ")
		}
		p.say(`"column`, strconv.Itoa(i+1), `"`)
	}
	p.say(")")
	return width
}

func (p *printer) simple(s *pg.SelectStmt) (width int) {
	if len(s.TargetList) == 0 || len(s.TargetList) > MaxColumns {
		p.refuse(-1, "select at least one column, and not more than "+strconv.Itoa(MaxColumns), "a SELECT has %d columns",
			len(s.TargetList))
		return 0
	}
	around := len(p.sight)
	defer func() { p.sight = p.sight[:around] }()
	p.say("SELECT ")
	p.distinct(s.DistinctClause)
	list(p, s.TargetList, p.target)
	if len(s.FromClause) > 0 {
		p.say(" FROM ")
		list(p, s.FromClause, p.fromItem)
	}
	if width = p.width(s.TargetList, around); width > MaxColumns {
		p.refuse(-1, "name the columns that you need", "a SELECT has more than %d columns", MaxColumns)
		return 0
	}
	if s.WhereClause != nil {
		p.say(" WHERE ")
		p.countEqual(equalities(s.WhereClause))
		p.expr(s.WhereClause)
	}
	p.groupBy(s)
	if s.HavingClause != nil {
		p.say(" HAVING ")
		p.countEqual(equalities(s.HavingClause))
		p.expr(s.HavingClause)
	}
	if len(s.WindowClause) > 0 {
		p.say(" WINDOW ")
		list(p, s.WindowClause, func(n *pg.Node) {
			w := n.GetWindowDef()
			p.say(p.quoted(w.GetName(), w.GetLocation()), " AS ")
			p.window(w)
		})
	}
	return width
}

func (p *printer) distinct(d []*pg.Node) {
	switch {
	case len(d) == 0:
	case len(d) == 1 && d[0].GetNode() == nil: // DISTINCT without ON
		p.say("DISTINCT ")
	default:
		p.say("DISTINCT ON (")
		list(p, d, p.side)
		p.say(") ")
	}
}

// target prints a column of a SELECT, with the name that PostgreSQL gives it.
func (p *printer) target(n *pg.Node) {
	t := n.GetResTarget()
	if t == nil || len(t.Indirection) > 0 {
		p.refuse(t.GetLocation(), "write an expression", "this column cannot be selected")
		return
	}
	if p.star(t.Val) {
		return
	}
	name := t.Name
	if name == "" {
		name = outputName(t.Val)
	}
	p.expr(t.Val)
	if t.Name != "" || t.Val.GetColumnRef() == nil { // a column keeps its name
		p.say(" AS ", p.quoted(name, t.Location))
	}
}

// isStar reports whether something is * or t.*.
func isStar(c *pg.ColumnRef) bool {
	return c != nil && len(c.Fields) > 0 && c.Fields[len(c.Fields)-1].GetAStar() != nil
}

// star prints * and t.*.
func (p *printer) star(n *pg.Node) bool {
	c := n.GetColumnRef()
	if !isStar(c) {
		return false
	}
	switch len(c.Fields) {
	case 1:
		p.say("*")
	case 2:
		p.say(p.table(text(c.Fields[0]), c.Location), ".*")
	default:
		p.refuse(c.Location, "write the table's name alone", "a released result is in no schema")
	}
	return true
}

func (p *printer) groupBy(s *pg.SelectStmt) {
	if len(s.GroupClause) == 0 {
		return
	}
	if s.GroupDistinct {
		p.refuse(-1, "write GROUP BY without DISTINCT", "GROUP BY DISTINCT is not available")
		return
	}
	sets := 1
	p.say(" GROUP BY ")
	list(p, s.GroupClause, func(n *pg.Node) {
		sets = min(sets*groupingSets(n), maxSets+1)
		if sets > maxSets {
			p.refuse(n.GetGroupingSet().GetLocation(), "group by fewer columns in CUBE and ROLLUP",
				"these are more than %d grouping sets", maxSets)
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

// grouping prints an element of GROUP BY.
func (p *printer) grouping(n *pg.Node) {
	g := n.GetGroupingSet()
	if g == nil {
		p.ordinal(n)
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
		p.refuse(g.Location, "use ROLLUP, CUBE or GROUPING SETS", "this grouping is not known")
		return
	}
	p.say(word, "(")
	list(p, g.Content, p.grouping)
	p.say(")")
}

// ordinal prints an expression where a bare whole number is the number of a column.
func (p *printer) ordinal(n *pg.Node) {
	if c := n.GetAConst(); c != nil && !c.Isnull {
		if c.GetIval() == nil || c.GetIval().Ival < 1 {
			p.refuse(c.Location, "write the number or the name of a column", "a constant is no order and no group")
			return
		}
		p.say(strconv.Itoa(int(c.GetIval().Ival)))
		return
	}
	p.side(n)
}

// orderBy prints an order with the place of NULLs, which PostgreSQL sorts as the largest value.
// Only the ORDER BY of a SELECT knows numbers of columns.
func (p *printer) orderBy(sorts []*pg.Node, words string, ordinals bool) {
	if len(sorts) == 0 {
		return
	}
	p.say(words)
	list(p, sorts, func(n *pg.Node) {
		s := n.GetSortBy()
		if s == nil || len(s.UseOp) > 0 || s.SortbyDir == pg.SortByDir_SORTBY_USING {
			p.refuse(s.GetLocation(), "write ASC or DESC", "ORDER BY USING is not available")
			return
		}
		if ordinals {
			p.ordinal(s.Node)
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
			p.say(" DESC")
		} else {
			p.say(" ASC")
		}
		if first {
			p.say(" NULLS FIRST")
		} else {
			p.say(" NULLS LAST")
		}
	})
}

// limit prints LIMIT and OFFSET. The outermost SELECT stops one row after MaxRows, where Run sees
// that there are too many: DuckDB would make all of them first.
func (p *printer) limit(s *pg.SelectStmt, top bool) {
	if s.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES {
		p.refuse(-1, "filter by rank() in a query around it", "FETCH ... WITH TIES is not available")
		return
	}
	count := s.LimitCount
	if count.GetAConst().GetIsnull() { // LIMIT ALL
		count = nil
	}
	most := strconv.Itoa(MaxRows + 1)
	switch {
	case count == nil && top:
		p.say(" LIMIT ", most)
	case count != nil && top:
		p.say(" LIMIT least(")
		p.expr(count)
		p.say(", ", most, ")")
	case count != nil:
		p.say(" LIMIT ")
		p.expr(count)
	}
	if s.LimitOffset != nil && !s.LimitOffset.GetAConst().GetIsnull() {
		p.say(" OFFSET ")
		p.expr(s.LimitOffset)
	}
}

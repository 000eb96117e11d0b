package outer

import (
	"maps"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// fromItem prints an element of FROM.
func (p *printer) fromItem(n *pg.Node) {
	defer p.leave()
	if !p.enter(-1) {
		return
	}
	if n.GetJoinExpr() == nil {
		p.sources++
	}
	if p.sources > maxSources {
		p.refuse(n.GetRangeVar().GetLocation(), "read fewer tables in one statement",
			"the statement reads more than %d tables and subqueries", maxSources)
		return
	}
	switch n := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		p.rangeVar(n.RangeVar)
	case *pg.Node_RangeSubselect:
		s := n.RangeSubselect
		if s.Lateral {
			p.say("LATERAL ")
		}
		p.say("(")
		width := p.selectStmt(s.Subquery.GetSelectStmt(), false)
		p.say(")")
		p.alias(s.Alias, "unnamed_subquery")
		p.see(s.Alias.GetAliasname(), width)
	case *pg.Node_RangeFunction:
		p.rangeFunction(n.RangeFunction)
	case *pg.Node_JoinExpr:
		p.join(n.JoinExpr)
	default:
		p.refuse(-1, "read released results, subqueries, generate_series or unnest", "FROM has something that is not a released result")
	}
}

// rangeVar prints a table: a released one or a WITH query in sight, and nothing else.
func (p *printer) rangeVar(v *pg.RangeVar) {
	if v.Catalogname != "" || v.Schemaname != "" {
		p.refuse(v.Location, "write the table's name alone", "a released result is in no schema")
		return
	}
	if p.released[fold(v.Relname)] != v.Relname && !slices.Contains(p.ctes, v.Relname) {
		known := append(slices.Sorted(maps.Values(p.released)), p.ctes...)
		instead := "there is none in this statement"
		if len(known) > 0 {
			instead = "there is " + strings.Join(known[:min(len(known), 20)], ", ")
		}
		p.refuse(v.Location, instead, "%q is not a released result", v.Relname)
		return
	}
	p.say(p.quoted(v.Relname, v.Location))
	p.alias(v.Alias, v.Relname)
	name := v.Relname
	if v.Alias != nil {
		name = v.Alias.Aliasname
	}
	p.see(name, p.widths[fold(v.Relname)])
}

// alias prints what a table is called, which has another name where it is given none.
func (p *printer) alias(a *pg.Alias, other string) {
	if a == nil {
		p.say(" AS ", p.table(other, -1))
		return
	}
	p.say(" AS ", p.table(a.Aliasname, -1))
	p.columnNames(a.Colnames)
}

func (p *printer) columnNames(names []*pg.Node) {
	if len(names) == 0 {
		return
	}
	p.say("(")
	list(p, names, func(n *pg.Node) { p.say(p.quoted(text(n), -1)) })
	p.say(")")
}

// rangeFunction prints generate_series and unnest. In PostgreSQL the column has the name of the
// table.
func (p *printer) rangeFunction(f *pg.RangeFunction) {
	var call *pg.FuncCall
	if len(f.Functions) == 1 {
		if items := f.Functions[0].GetList().GetItems(); len(items) > 0 {
			call = items[0].GetFuncCall()
		}
	}
	name := ""
	if call != nil && len(call.Funcname) == 1 {
		name = text(call.Funcname[0])
	}
	switch {
	case f.Ordinality:
		p.refuse(call.GetLocation(), "number the rows with row_number()", "WITH ORDINALITY is not available")
	case f.IsRowsfrom || len(f.Coldeflist) > 0 || name != "generate_series" && name != "unnest" || !bare(call):
		p.refuse(call.GetLocation(), "use generate_series or unnest(ARRAY[...])", "this function cannot stand in FROM")
	case name == "generate_series" && len(call.Args) != 2 && len(call.Args) != 3:
		p.refuse(call.Location, "write generate_series(first, last) or generate_series(first, last, step)",
			"generate_series has %d arguments", len(call.Args))
	case name == "unnest" && (len(call.Args) != 1 || call.Args[0].GetAArrayExpr() == nil):
		p.refuse(call.Location, "write unnest(ARRAY[...])", "unnest takes one array that is written out")
	}
	if p.refused != nil {
		return
	}
	if f.Lateral {
		p.say("LATERAL ")
	}
	p.say(name, "(")
	if name == "unnest" {
		p.array(call.Args[0].GetAArrayExpr())
	} else {
		list(p, call.Args, p.expr)
	}
	p.say(")")
	alias := name
	if f.Alias != nil {
		alias = f.Alias.Aliasname
	}
	column := alias
	if n := len(f.Alias.GetColnames()); n == 1 {
		column = text(f.Alias.Colnames[0])
	} else if n > 1 {
		p.refuse(call.Location, "give it one column name", "%s has one column", name)
		return
	}
	p.say(" AS ", p.table(alias, -1), "(", p.quoted(column, -1), ")")
	p.see(alias, 1)
}

func (p *printer) join(j *pg.JoinExpr) {
	if j.Alias != nil || j.JoinUsingAlias != nil {
		p.refuse(-1, "give the tables aliases, and the join none", "a join cannot have an alias")
		return
	}
	words := map[pg.JoinType]string{
		pg.JoinType_JOIN_INNER: "JOIN", pg.JoinType_JOIN_LEFT: "LEFT JOIN",
		pg.JoinType_JOIN_FULL: "FULL JOIN", pg.JoinType_JOIN_RIGHT: "RIGHT JOIN",
	}
	word, ok := words[j.Jointype]
	if !ok {
		p.refuse(-1, "use JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN or CROSS JOIN", "this join is not known")
		return
	}
	switch {
	case j.IsNatural:
		word = "NATURAL " + word
	case j.Quals == nil && len(j.UsingClause) == 0:
		word = "CROSS JOIN"
	}
	p.say("(")
	before := len(p.sight)
	p.fromItem(j.Larg)
	between := len(p.sight)
	p.say(" ", word, " ")
	p.fromItem(j.Rarg)
	p.countMatched(j, before, between)
	if len(j.UsingClause) > 0 {
		p.say(" USING ")
		p.columnNames(j.UsingClause)
	} else if j.Quals != nil {
		p.say(" ON ")
		p.countEqual(equalities(j.Quals))
		p.expr(j.Quals)
	}
	p.say(")")
}

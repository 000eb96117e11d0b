package postquery

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// fromPrinter prints FROM, and counts what DuckDB cannot be stopped at while it plans.
type fromPrinter struct {
	*output
	scope      *scope
	exprs      *exprPrinter
	statements *statementPrinter
	sources    int
	equal      int // conditions that two things are equal
	matched    int // columns that NATURAL and USING compare, for each table on the left
}

// fromItem prints something of FROM, and returns the columns that * has of it.
func (p *fromPrinter) fromItem(n *pg.Node) []outputColumn {
	defer p.leave()
	if !p.enter(-1) {
		return nil
	}
	if n.GetJoinExpr() == nil {
		p.sources++
	}
	if p.sources > maxSources {
		p.refuse(syntax.TooComplex, n.GetRangeVar().GetLocation(), "read fewer tables in one statement",
			"the statement reads more than %d tables and subqueries", maxSources)
		return nil
	}
	switch n := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return p.rangeVar(n.RangeVar)
	case *pg.Node_RangeSubselect:
		s := n.RangeSubselect
		if s.Lateral {
			p.write("LATERAL ")
		}
		p.write("(")
		columns := p.statements.selectStmt(s.Subquery.GetSelectStmt(), false)
		p.write(")")
		p.alias(s.Alias, "unnamed_subquery")
		return p.scope.add(s.Alias.GetAliasname(), rename(columns, s.Alias.GetColnames()))
	case *pg.Node_RangeFunction:
		return p.rangeFunction(n.RangeFunction)
	case *pg.Node_JoinExpr:
		return p.join(n.JoinExpr)
	default:
		p.refuse(syntax.Unsupported, -1, "read released results, subqueries, generate_series or unnest",
			"FROM has something that is not a released result")
	}
	return nil
}

// rename gives the first columns other names.
func rename(columns []outputColumn, names []*pg.Node) []outputColumn {
	out := slices.Clone(columns)
	for i := range min(len(out), len(names)) {
		out[i].name = stringOf(names[i])
	}
	return out
}

// rangeVar prints a table: a released one or a WITH query in sight, and nothing else.
func (p *fromPrinter) rangeVar(v *pg.RangeVar) []outputColumn {
	if v.Catalogname != "" || v.Schemaname != "" {
		p.refuse(syntax.Unsupported, v.Location, "write only the table's name", "released results have no schema")
		return nil
	}
	if p.scope.released[fold(v.Relname)] != v.Relname && !slices.Contains(p.scope.ctes, v.Relname) {
		known := append(slices.Sorted(maps.Values(p.scope.released)), p.scope.ctes...)
		instead := "this statement has no released results"
		if len(known) > 0 {
			instead = "there is " + strings.Join(known[:min(len(known), 20)], ", ")
		}
		p.refuse(syntax.NoTable, v.Location, instead, "%q is not a released result", v.Relname)
		return nil
	}
	p.write(p.quotedName(v.Relname, v.Location))
	p.alias(v.Alias, v.Relname)
	name := v.Relname
	if v.Alias != nil {
		name = v.Alias.Aliasname
	}
	return p.scope.add(name, rename(p.scope.tables[fold(v.Relname)], v.Alias.GetColnames()))
}

// alias prints what a table is called, which has another name where it is given none.
func (p *fromPrinter) alias(a *pg.Alias, other string) {
	if a == nil {
		p.write(" AS ", p.tableName(other, -1))
		return
	}
	p.write(" AS ", p.tableName(a.Aliasname, -1))
	p.columnNames(a.Colnames)
}

func (p *fromPrinter) columnNames(names []*pg.Node) {
	if len(names) == 0 {
		return
	}
	p.write("(")
	printList(p.output, names, func(n *pg.Node) { p.write(p.quotedName(stringOf(n), -1)) })
	p.write(")")
}

// rangeFunction prints generate_series and unnest. In PostgreSQL the column has the name of the
// table.
func (p *fromPrinter) rangeFunction(f *pg.RangeFunction) []outputColumn {
	var call *pg.FuncCall
	if len(f.Functions) == 1 {
		if items := f.Functions[0].GetList().GetItems(); len(items) > 0 {
			call = items[0].GetFuncCall()
		}
	}
	name := ""
	if call != nil && len(call.Funcname) == 1 {
		name = stringOf(call.Funcname[0])
	}
	switch {
	case f.Ordinality:
		p.refuse(syntax.Unsupported, call.GetLocation(), "number the rows with row_number()", "WITH ORDINALITY is not available")
	case f.IsRowsfrom || len(f.Coldeflist) > 0 || name != "generate_series" && name != "unnest" || !hasArgumentsOnly(call):
		p.refuse(syntax.Unsupported, call.GetLocation(), "use generate_series or unnest(ARRAY[...])",
			"this function cannot be used in FROM")
	case name == "generate_series" && len(call.Args) != 2 && len(call.Args) != 3:
		p.refuse(syntax.NoFunction, call.Location, "write generate_series(first, last) or generate_series(first, last, step)",
			"generate_series has %d arguments", len(call.Args))
	case name == "unnest" && len(call.Args) != 1:
		p.refuse(syntax.Unsupported, call.Location, "write unnest(ARRAY[...])", "unnest takes one array")
	}
	if p.refused != nil {
		return nil
	}
	if f.Lateral {
		p.write("LATERAL ")
	}
	if len(call.Args) == 3 {
		call.Args[2] = stepInterval(call.Args[2])
	}
	p.write(name, "(")
	if name == "unnest" {
		p.exprs.values.list(call.Args[0], "write unnest(ARRAY[...])", "unnest takes an array")
	} else {
		printList(p.output, call.Args, p.exprs.expr)
	}
	p.write(")")
	alias := name
	if f.Alias != nil {
		alias = f.Alias.Aliasname
	}
	column := alias
	if n := len(f.Alias.GetColnames()); n == 1 {
		column = stringOf(f.Alias.Colnames[0])
	} else if n > 1 {
		p.refuse(syntax.Malformed, call.Location, "give it one column name", "%s has one column", name)
		return nil
	}
	p.write(" AS ", p.tableName(alias, -1), "(", p.quotedName(column, -1), ")")
	p.scope.add(alias, []outputColumn{{name: column}})
	p.scope.elements[len(p.scope.elements)-1].single = true
	return []outputColumn{{name: column}}
}

// stepInterval is the step of a series: '1 month' is an interval, and '2' a number.
func stepInterval(n *pg.Node) *pg.Node {
	text := n.GetAConst().GetSval().GetSval()
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		return n
	}
	name := &pg.Node{Node: &pg.Node_String_{String_: &pg.String{Sval: "interval"}}}
	at := n.GetAConst().Location
	return &pg.Node{Node: &pg.Node_TypeCast{TypeCast: &pg.TypeCast{Arg: n, Location: at,
		TypeName: &pg.TypeName{Names: []*pg.Node{name}, Typemod: -1, Location: at}}}}
}

// join prints a join, and returns the columns that * has of it.
func (p *fromPrinter) join(j *pg.JoinExpr) []outputColumn {
	if j.Alias != nil || j.JoinUsingAlias != nil {
		p.refuse(syntax.Unsupported, -1, "give aliases to the tables, not to the join", "a join cannot have an alias")
		return nil
	}
	words := map[pg.JoinType]string{
		pg.JoinType_JOIN_INNER: "JOIN", pg.JoinType_JOIN_LEFT: "LEFT JOIN",
		pg.JoinType_JOIN_FULL: "FULL JOIN", pg.JoinType_JOIN_RIGHT: "RIGHT JOIN",
	}
	word, ok := words[j.Jointype]
	if !ok {
		p.refuse(syntax.Unsupported, -1, "use JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN or CROSS JOIN", "this join is not supported")
		return nil
	}
	switch {
	case j.IsNatural:
		word = "NATURAL " + word
	case j.Quals == nil && len(j.UsingClause) == 0:
		word = "CROSS JOIN"
	}
	p.write("(")
	before := len(p.scope.elements)
	left := p.fromItem(j.Larg)
	between := len(p.scope.elements)
	p.write(" ", word, " ")
	right := p.fromItem(j.Rarg)
	p.countMatched(j, before, between)
	if len(j.UsingClause) > 0 {
		p.write(" USING ")
		p.columnNames(j.UsingClause)
	} else if j.Quals != nil {
		p.write(" ON ")
		p.countEqual(countEqualities(j.Quals))
		p.exprs.expr(j.Quals)
	}
	p.write(")")
	p.scope.outer(j.Jointype, before, between)
	return p.merged(j, left, right)
}

// outer notes which tables may have no row beside one of the others.
func (p *scope) outer(how pg.JoinType, left, right int) {
	for i := left; i < len(p.elements); i++ {
		if i < right && (how == pg.JoinType_JOIN_RIGHT || how == pg.JoinType_JOIN_FULL) ||
			i >= right && (how == pg.JoinType_JOIN_LEFT || how == pg.JoinType_JOIN_FULL) {
			p.elements[i].nullable = true
		}
	}
}

// merged are the columns of a join: those that USING and NATURAL compare stand first, and once.
func (p *fromPrinter) merged(j *pg.JoinExpr, left, right []outputColumn) []outputColumn {
	has := func(all []outputColumn, name string) bool {
		return slices.ContainsFunc(all, func(c outputColumn) bool { return fold(c.name) == fold(name) })
	}
	var shared []string
	for _, n := range j.UsingClause {
		shared = append(shared, stringOf(n))
	}
	for _, c := range left {
		if j.IsNatural && has(right, c.name) {
			shared = append(shared, c.name)
		}
	}
	if len(shared) == 0 {
		return slices.Concat(left, right)
	}
	var out []outputColumn
	for _, name := range shared {
		for _, c := range slices.Concat(left, right) {
			if fold(c.name) != fold(name) {
				continue
			}
			if c.is != ordinary {
				p.refuse(syntax.NoFunction, -1, "join with ON", "the join compares the column %q, which is %s", c.name, classNames[c.is])
			}
			if !has(out, name) {
				out = append(out, c)
			}
		}
	}
	merged := len(out)
	for _, c := range slices.Concat(left, right) {
		if !has(out[:merged], c.name) {
			out = append(out, c)
		}
	}
	return out
}

// A * is as many columns as there are in FROM, and WITH queries of many * over each other would
// multiply: DuckDB makes all of these columns when it plans, outside of its limits of memory and of
// time. So they are counted first.

// scope is what a statement can name: released results, WITH queries, and what is in FROM.
type scope struct {
	*output
	released map[string]string         // by the name as DuckDB compares it
	ctes     []string                  // WITH queries in sight, innermost last
	tables   map[string][]outputColumn // columns of released results and of WITH queries, by the name as DuckDB compares it
	elements []element                 // what is in FROM so far, here and around, innermost last
	outputs  []outputColumn            // of the SELECT whose clauses are printed
}

type element struct {
	alias    string
	name     string // the alias as DuckDB compares it
	columns  []outputColumn
	nullable bool // a row may be missing beside another one's
	single   bool // a row is its one value, as with generate_series
}

func (p *scope) add(name string, columns []outputColumn) []outputColumn {
	p.elements = append(p.elements, element{alias: name, name: fold(name), columns: columns})
	return columns
}

// countColumns is how many columns elements of FROM have together.
func countColumns(all []element) (n int) {
	for _, s := range all {
		n += len(s.columns)
	}
	return n
}

// countMatched counts the columns that NATURAL and USING compare, as often as there are tables on
// the left in which DuckDB looks for each; the two sides are in sight. It cannot be stopped there.
func (p *fromPrinter) countMatched(j *pg.JoinExpr, left, right int) {
	n := len(j.UsingClause)
	if j.IsNatural {
		n = min(countColumns(p.scope.elements[left:right]), countColumns(p.scope.elements[right:]))
	}
	if p.matched += n * (right - left); p.matched > maxMatched {
		p.refuse(syntax.TooComplex, -1, "join with ON, or fewer tables",
			"NATURAL JOIN and USING compare too many columns of too many tables")
	}
	p.countEqual(n)
}

// countEqual counts conditions that two things are equal. From each two of them DuckDB makes a
// third one, and cannot be stopped there either.
func (p *fromPrinter) countEqual(n int) {
	if p.equal += n * p.weight; p.equal > maxEqual {
		p.refuse(syntax.TooComplex, -1, "join fewer tables, or on fewer columns",
			"more than %d conditions of the statement compare two columns", maxEqual)
	}
}

// countEqualities is how many conditions in ON, WHERE or HAVING hold two things together of which
// neither is a constant. What is no equality may be made one, by NOT or by a list of one.
func countEqualities(n *pg.Node) (sum int) {
	if b := n.GetBoolExpr(); b != nil {
		for _, arg := range b.Args {
			sum += countEqualities(arg)
		}
		return sum
	}
	x := n.GetAExpr()
	if x == nil || isConstant(x.Lexpr) || isConstant(x.Rexpr) {
		return 0
	}
	return 1
}

func isConstant(n *pg.Node) bool {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().Arg
	}
	return n.GetAConst() != nil
}

// width is how many columns a SELECT has at most, whose FROM is what is in sight from somewhere on.
// JOIN USING shows columns once that are counted twice.
func (p *scope) width(targets []*pg.Node, from int) int {
	n, all := 0, countColumns(p.elements[from:])
	for _, t := range targets {
		switch c := t.GetResTarget().GetVal().GetColumnRef(); {
		case !isStar(c):
			n++
		case len(c.Fields) == 1:
			n += all
		default:
			n += p.widthOf(stringOf(c.Fields[0]))
		}
	}
	return n
}

// widthOf is how many columns what has a name in FROM has, here or around.
func (p *scope) widthOf(name string) int {
	n, found := 0, false
	for _, s := range p.elements {
		if s.name == fold(name) {
			n, found = max(n, len(s.columns)), true
		}
	}
	if !found {
		p.refuse(syntax.NoTable, -1, "write a name from FROM", "FROM has no %q to select all columns of", name)
	}
	return n
}

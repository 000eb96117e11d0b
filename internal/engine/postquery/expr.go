package postquery

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// exprPrinter prints expressions and what is made of them: orders, windows and rows to compare.
type exprPrinter struct {
	*output
	functions  *functionPrinter
	operators  *operatorPrinter
	values     *valuePrinter
	statements *statementPrinter // for subqueries
}

// value prints an expression, and says what it is. What it has no case for is refused.
func (p *exprPrinter) value(n *pg.Node) class {
	defer p.leave()
	if !p.enter(-1) {
		return ordinary
	}
	switch n := n.GetNode().(type) {
	case *pg.Node_AConst:
		p.constant(n.AConst)
	case *pg.Node_ColumnRef:
		return p.column(n.ColumnRef)
	case *pg.Node_AExpr:
		return p.operators.operation(n.AExpr)
	case *pg.Node_BoolExpr:
		p.logic(n.BoolExpr)
	case *pg.Node_NullTest:
		p.write("(")
		p.test(n.NullTest.Arg)
		if n.NullTest.Nulltesttype == pg.NullTestType_IS_NOT_NULL {
			p.write(" IS NOT NULL)")
		} else {
			p.write(" IS NULL)")
		}
	case *pg.Node_BooleanTest:
		p.truthTest(n.BooleanTest)
	case *pg.Node_CaseExpr:
		return p.caseExpr(n.CaseExpr)
	case *pg.Node_CoalesceExpr:
		return p.coalesce(n.CoalesceExpr)
	case *pg.Node_MinMaxExpr:
		if n.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			p.arguments("least", n.MinMaxExpr.Args, n.MinMaxExpr.Location)
		} else {
			p.arguments("greatest", n.MinMaxExpr.Args, n.MinMaxExpr.Location)
		}
	case *pg.Node_TypeCast:
		return p.cast(n.TypeCast)
	case *pg.Node_FuncCall:
		return p.functions.call(n.FuncCall)
	case *pg.Node_GroupingFunc:
		p.arguments("grouping", n.GroupingFunc.Args, n.GroupingFunc.Location)
	case *pg.Node_SubLink:
		return p.subquery(n.SubLink)
	case *pg.Node_RowExpr:
		return p.values.writtenRow(n.RowExpr)
	case *pg.Node_SqlvalueFunction:
		p.refuse(syntax.Unsupported, n.SqlvalueFunction.Location, "write the date or the name that you mean",
			"the clock and the session are not available, so that an answer stays the same")
	case *pg.Node_ParamRef:
		p.refuse(syntax.Unsupported, n.ParamRef.Location, "write the value itself", "parameters cannot be used here")
	case *pg.Node_AArrayExpr:
		return p.values.keepList(p.captureCosting(func() { p.array(n.AArrayExpr) }))
	case *pg.Node_AIndirection:
		return p.values.element(n.AIndirection)
	case *pg.Node_CollateClause:
		p.collate(n.CollateClause)
	default:
		p.refuse(syntax.Unsupported, -1, "write it with operators, CASE and functions",
			"an expression of this form is not available over released results")
	}
	return ordinary
}

// constant prints a constant anew, so that nothing of the text is left in it.
func (p *exprPrinter) constant(c *pg.A_Const) {
	if c.Isnull {
		p.write("NULL")
		return
	}
	switch v := c.Val.(type) {
	case *pg.A_Const_Ival:
		if v.Ival.Ival < 0 {
			p.write("(", strconv.Itoa(int(v.Ival.Ival)), ")")
		} else {
			p.write(strconv.Itoa(int(v.Ival.Ival)))
		}
	case *pg.A_Const_Fval:
		p.number(v.Fval.Fval, c.Location)
	case *pg.A_Const_Boolval:
		if v.Boolval.Boolval {
			p.write("TRUE")
		} else {
			p.write("FALSE")
		}
	case *pg.A_Const_Sval:
		p.textConstant(v.Sval.Sval, c.Location)
	default:
		p.refuse(syntax.Unsupported, c.Location, "write a number, a text in single quotes, TRUE, FALSE or NULL",
			"a constant of this form is not available")
	}
}

func (p *exprPrinter) textConstant(s string, pos int32) {
	if utf8.RuneCountInString(s) > MaxText || strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
		p.refuse(syntax.TooComplex, pos, "write a shorter one", "a text has more than %d characters", MaxText)
		return
	}
	p.write("'", strings.ReplaceAll(s, "'", "''"), "'")
}

// number prints a number that is not a small whole one. The parser also knows 0x1F and 1_000, of
// which DuckDB would make something else.
func (p *exprPrinter) number(s string, pos int32) {
	negative := strings.HasPrefix(s, "-")
	digits := strings.TrimPrefix(s, "-")
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(digits), "e")
	whole, fraction, point := strings.Cut(mantissa, ".")
	decimal := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	sign := strings.TrimPrefix(strings.TrimPrefix(exponent, "+"), "-")
	if len(s) > 100 || whole+fraction == "" || !decimal(whole) || !decimal(fraction) || scientific &&
		(sign == "" || len(sign) > 4 || !decimal(sign)) {
		p.refuse(syntax.Unsupported, pos, "write it with decimal digits", "this number is not available")
		return
	}
	if whole == "" {
		whole = "0"
	}
	if point && fraction == "" {
		fraction = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if scientific {
		whole += "e" + exponent
	}
	if negative {
		p.write("(-", whole, ")")
	} else {
		p.write(whole)
	}
}

// sessionWords are names that DuckDB reads as the clock or the session where there is no such
// column, even in quotes.
var sessionWords = []string{
	"current_catalog", "current_date", "current_database", "current_role", "current_schema", "current_time", "current_timestamp",
	"current_user", "localtime", "localtimestamp", "session_user", "user",
}

func (p *exprPrinter) column(c *pg.ColumnRef) class {
	found, row := p.statements.scope.resolve(c)
	if row != nil && row.single {
		p.write(p.tableName(row.alias, c.Location), ".", p.quotedName(row.columns[0].name, c.Location))
		return ordinary
	}
	if row != nil {
		return p.values.tableRow(row, c.Location)
	}
	for _, f := range c.Fields {
		if f.GetAStar() != nil {
			p.refuse(syntax.Unsupported, c.Location, "use * as a column of SELECT or in COUNT(*)", "* cannot be used here")
			return ordinary
		}
	}
	switch len(c.Fields) {
	case 1:
		name := stringOf(c.Fields[0])
		if slices.Contains(sessionWords, fold(name)) {
			p.refuse(syntax.Unsupported, c.Location, "write table.column, or give the column another name",
				"%q is also the name of a value of the session",
				name)
			return ordinary
		}
		p.write(p.quotedName(name, c.Location))
	case 2:
		p.write(p.tableName(stringOf(c.Fields[0]), c.Location), ".", p.quotedName(stringOf(c.Fields[1]), c.Location))
	default:
		p.refuse(syntax.Unsupported, c.Location, "write column or table.column", "released results have no schema")
	}
	return found.is
}

func (p *exprPrinter) logic(b *pg.BoolExpr) {
	word := map[pg.BoolExprType]string{pg.BoolExprType_AND_EXPR: " AND ", pg.BoolExprType_OR_EXPR: " OR "}[b.Boolop]
	p.write("(")
	if b.Boolop == pg.BoolExprType_NOT_EXPR {
		p.write("NOT ")
	}
	for i, a := range b.Args {
		if i > 0 {
			p.write(word)
		}
		p.expr(a)
	}
	p.write(")")
}

// truthTest prints x IS TRUE and its like.
func (p *exprPrinter) truthTest(b *pg.BooleanTest) {
	words := map[pg.BoolTestType]string{
		pg.BoolTestType_IS_TRUE: " IS NOT DISTINCT FROM TRUE", pg.BoolTestType_IS_NOT_TRUE: " IS DISTINCT FROM TRUE",
		pg.BoolTestType_IS_FALSE: " IS NOT DISTINCT FROM FALSE", pg.BoolTestType_IS_NOT_FALSE: " IS DISTINCT FROM FALSE",
		pg.BoolTestType_IS_UNKNOWN: " IS NULL", pg.BoolTestType_IS_NOT_UNKNOWN: " IS NOT NULL",
	}
	word, ok := words[b.Booltesttype]
	if !ok {
		p.refuse(syntax.Unsupported, b.Location, "compare it", "this test is not supported")
		return
	}
	p.write("(")
	p.expr(b.Arg)
	p.write(word, ")")
}

func (p *exprPrinter) caseExpr(c *pg.CaseExpr) class {
	var results []part
	for _, n := range c.Args {
		results = append(results, p.part(n.GetCaseWhen().GetResult()))
	}
	if c.Defresult != nil {
		results = append(results, p.part(c.Defresult))
	}
	is := p.unify(results, "CASE")
	p.write("(CASE")
	if c.Arg != nil {
		p.write(" ")
		p.withCopies(max(1, len(c.Args)), func() { p.expr(c.Arg) })
	}
	for i, n := range c.Args {
		p.write(" WHEN ")
		p.expr(n.GetCaseWhen().GetExpr())
		p.write(" THEN ", results[i].text)
	}
	if c.Defresult != nil {
		p.write(" ELSE ", results[len(results)-1].text)
	}
	p.write(" END)")
	return is
}

func (p *exprPrinter) coalesce(c *pg.CoalesceExpr) class {
	if len(c.Args) > maxArgs {
		p.arguments("coalesce", c.Args, c.Location) // which refuses it
		return ordinary
	}
	all := p.parts(c.Args)
	is := p.unify(all, "COALESCE")
	p.write("coalesce(")
	printList(p.output, all, func(a part) { p.write(a.text) })
	p.write(")")
	return is
}

// arguments prints a call of something that is known.
func (p *exprPrinter) arguments(name string, args []*pg.Node, pos int32) {
	if len(args) > maxArgs {
		p.refuse(syntax.TooComplex, pos, "write it in several steps", "%s has more than %d arguments", name, maxArgs)
		return
	}
	p.write(name, "(")
	printList(p.output, args, p.expr)
	p.write(")")
}

// side prints an expression, or a row, where rows are compared and not kept: rows of rows would
// grow with every step.
func (p *exprPrinter) side(n *pg.Node) {
	if r := n.GetRowExpr(); r != nil {
		p.row(r)
	} else {
		p.expr(n)
	}
}

func (p *exprPrinter) row(r *pg.RowExpr) {
	if len(r.Args) < 2 {
		p.refuse(syntax.Unsupported, r.Location, "compare the value itself", "a row has fewer than two values")
		return
	}
	p.write("(")
	printList(p.output, r.Args, p.expr)
	p.write(")")
}

func (p *exprPrinter) array(a *pg.A_ArrayExpr) {
	p.write("[")
	printList(p.output, a.Elements, p.expr)
	p.write("]")
}

func (p *exprPrinter) subquery(s *pg.SubLink) class {
	query := s.Subselect.GetSelectStmt()
	switch s.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		p.write("EXISTS (")
		p.statements.selectStmt(query, false)
		p.write(")")
		return ordinary
	case pg.SubLinkType_EXPR_SUBLINK:
		p.write("(")
		columns := p.statements.selectStmt(query, false)
		p.write(")")
		if len(columns) == 0 {
			return ordinary
		}
		return columns[0].is
	case pg.SubLinkType_ARRAY_SUBLINK:
		return p.values.arraySubquery(query, s.Location)
	case pg.SubLinkType_ANY_SUBLINK, pg.SubLinkType_ALL_SUBLINK:
		p.write("(")
		p.side(s.Testexpr)
		word := " = "
		if len(s.OperName) > 0 {
			word = " " + p.operators.comparison(s.OperName, s.Location) + " "
		}
		if s.SubLinkType == pg.SubLinkType_ALL_SUBLINK {
			p.write(word, "ALL (")
		} else {
			p.write(word, "ANY (")
		}
		p.scalars(p.statements.selectStmt(query, false), "IN, ANY and ALL")
		p.write("))")
		return ordinary
	}
	p.refuse(syntax.Unsupported, s.Location, "use EXISTS, IN, ANY, ALL, ARRAY or a single value",
		"a subquery of this form is not available")
	return ordinary
}

// castTypes are what can be cast to, by PostgreSQL's name.
var castTypes = map[string]string{
	"bool": "BOOLEAN", "boolean": "BOOLEAN", "int2": "SMALLINT", "smallint": "SMALLINT", "int4": "INTEGER", "int": "INTEGER",
	"integer": "INTEGER", "int8": "BIGINT", "bigint": "BIGINT", "float4": "FLOAT", "real": "FLOAT", "float8": "DOUBLE",
	"numeric": "DOUBLE", "decimal": "DOUBLE", "text": "VARCHAR", "varchar": "VARCHAR", "date": "DATE", "timestamp": "TIMESTAMP",
	"interval": "INTERVAL",
}

func (p *exprPrinter) cast(c *pg.TypeCast) class {
	t := c.TypeName
	names := t.GetNames()
	if len(names) == 2 && stringOf(names[0]) == "pg_catalog" {
		names = names[1:]
	}
	name := ""
	if len(names) == 1 && !t.Setof && !t.PctType {
		name = stringOf(names[0])
	}
	if len(t.ArrayBounds) == 0 && (name == "json" || name == "jsonb") {
		return p.values.castToJSON(c.Arg, name)
	}
	to, ok := castTypes[name]
	if !ok || len(t.ArrayBounds) > 1 {
		p.refuse(syntax.Unsupported, t.GetLocation(),
			"use boolean, integer, bigint, numeric(p, s), double precision, text, date, timestamp, interval, "+
				"json, jsonb or an array of these", "nothing can be cast to this type")
		return ordinary
	}
	if len(t.Typmods) > 0 {
		to = p.digits(name, t)
	}
	if len(t.ArrayBounds) == 1 {
		return p.values.castToArray(c.Arg, to)
	}
	arg := p.part(c.Arg)
	if arg.is == longText && to == "VARCHAR" {
		p.write(arg.text)
		return longText
	}
	if to == "VARCHAR" && (arg.is == jsonOf || arg.is == jsonbOf || arg.is == arrayOf) {
		p.values.long(arg)
		return longText
	}
	p.write("CAST(")
	p.scalar(arg.text, arg.is)
	p.write(" AS ", to, ")")
	return ordinary
}

// digits prints numeric(p, s). Other types have no size: DuckDB would ignore it, and PostgreSQL
// cuts.
func (p *exprPrinter) digits(name string, t *pg.TypeName) string {
	if name != "numeric" && name != "decimal" || len(t.Typmods) > 2 {
		p.refuse(syntax.Unsupported, t.Location, "leave out the size, and use left() or date_trunc()",
			"the type %s cannot have a size here", name)
		return ""
	}
	size := []int32{0, 0}
	for i, m := range t.Typmods {
		c := m.GetAConst()
		if c == nil || c.Isnull || c.GetSval() != nil || c.GetFval() != nil {
			p.refuse(syntax.Unsupported, t.Location, "write numeric(10, 2)", "the size of a type is not a whole number")
			return ""
		}
		size[i] = c.GetIval().GetIval()
	}
	if size[0] < 1 || size[0] > 38 || size[1] < 0 || size[1] > size[0] {
		p.refuse(syntax.BadValue, t.Location, "write at most 38 digits, as in numeric(38, 2)", "numeric(%d, %d) is not available", size[0],
			size[1])
		return ""
	}
	return "DECIMAL(" + strconv.Itoa(int(size[0])) + ", " + strconv.Itoa(int(size[1])) + ")"
}

// What a frame may be made of. BETWEEN is always printed, written or not.
const (
	frameMode       = syntax.FrameRange | syntax.FrameRows | syntax.FrameGroups
	frameStart      = syntax.StartUnbounded | syntax.StartCurrent | syntax.StartPreceding | syntax.StartFollowing
	frameEnd        = syntax.EndUnbounded | syntax.EndCurrent | syntax.EndPreceding | syntax.EndFollowing
	frameEverything = syntax.FrameGiven | frameMode | frameStart | frameEnd | syntax.FrameExclusion | syntax.FrameBetween
)

// overClause prints OVER, with a window or the name of one.
func (p *exprPrinter) overClause(w *pg.WindowDef) {
	p.write(" OVER ")
	if w.Name != "" {
		p.write(p.quotedName(w.Name, w.Location))
		return
	}
	p.window(w)
}

func (p *exprPrinter) window(w *pg.WindowDef) {
	defer p.leave()
	if !p.enter(w.GetLocation()) {
		return
	}
	p.write("(")
	if w.GetRefname() != "" {
		p.write(p.quotedName(w.Refname, w.Location))
	}
	if len(w.GetPartitionClause()) > 0 {
		p.write(" PARTITION BY ")
		printList(p.output, w.PartitionClause, p.expr)
	}
	p.orderBy(w.GetOrderClause(), " ORDER BY ", false)
	if w.GetFrameOptions()&syntax.FrameGiven != 0 {
		p.frame(w)
	}
	p.write(")")
}

func (p *exprPrinter) frame(w *pg.WindowDef) {
	modes := map[int32]string{syntax.FrameRange: " RANGE", syntax.FrameRows: " ROWS", syntax.FrameGroups: " GROUPS"}
	mode, ok := modes[w.FrameOptions&frameMode]
	if !ok || w.FrameOptions&^frameEverything != 0 {
		p.refuse(syntax.Unsupported, w.Location, "use ROWS, RANGE or GROUPS", "this frame is not supported")
		return
	}
	p.write(mode, " BETWEEN ")
	switch w.FrameOptions & frameStart {
	case syntax.StartUnbounded:
		p.write("UNBOUNDED PRECEDING")
	case syntax.StartCurrent:
		p.write("CURRENT ROW")
	case syntax.StartPreceding:
		p.expr(w.StartOffset)
		p.write(" PRECEDING")
	case syntax.StartFollowing:
		p.expr(w.StartOffset)
		p.write(" FOLLOWING")
	default:
		p.refuse(syntax.Unsupported, w.Location, "write BETWEEN ... AND ...", "the frame has no start")
	}
	p.write(" AND ")
	switch w.FrameOptions & frameEnd {
	case syntax.EndUnbounded:
		p.write("UNBOUNDED FOLLOWING")
	case syntax.EndCurrent:
		p.write("CURRENT ROW")
	case syntax.EndPreceding:
		p.expr(w.EndOffset)
		p.write(" PRECEDING")
	case syntax.EndFollowing:
		p.expr(w.EndOffset)
		p.write(" FOLLOWING")
	default:
		p.refuse(syntax.Unsupported, w.Location, "write BETWEEN ... AND ...", "the frame has no end")
	}
	p.write(map[int32]string{syntax.FrameExcludeCurrent: " EXCLUDE CURRENT ROW", syntax.FrameExcludeGroup: " EXCLUDE GROUP",
		syntax.FrameExcludeTies: " EXCLUDE TIES"}[w.FrameOptions&syntax.FrameExclusion])
}

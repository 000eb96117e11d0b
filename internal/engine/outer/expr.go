package outer

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// expr prints an expression. What it has no case for is refused.
func (p *printer) expr(n *pg.Node) {
	defer p.leave()
	if !p.enter(-1) {
		return
	}
	switch n := n.GetNode().(type) {
	case *pg.Node_AConst:
		p.constant(n.AConst)
	case *pg.Node_ColumnRef:
		p.column(n.ColumnRef)
	case *pg.Node_AExpr:
		p.operation(n.AExpr)
	case *pg.Node_BoolExpr:
		p.logic(n.BoolExpr)
	case *pg.Node_NullTest:
		p.say("(")
		p.expr(n.NullTest.Arg)
		if n.NullTest.Nulltesttype == pg.NullTestType_IS_NOT_NULL {
			p.say(" IS NOT NULL)")
		} else {
			p.say(" IS NULL)")
		}
	case *pg.Node_BooleanTest:
		p.truth(n.BooleanTest)
	case *pg.Node_CaseExpr:
		p.caseExpr(n.CaseExpr)
	case *pg.Node_CoalesceExpr:
		p.arguments("coalesce", n.CoalesceExpr.Args, n.CoalesceExpr.Location)
	case *pg.Node_MinMaxExpr:
		if n.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			p.arguments("least", n.MinMaxExpr.Args, n.MinMaxExpr.Location)
		} else {
			p.arguments("greatest", n.MinMaxExpr.Args, n.MinMaxExpr.Location)
		}
	case *pg.Node_TypeCast:
		p.cast(n.TypeCast)
	case *pg.Node_FuncCall:
		p.call(n.FuncCall)
	case *pg.Node_GroupingFunc:
		p.arguments("grouping", n.GroupingFunc.Args, n.GroupingFunc.Location)
	case *pg.Node_SubLink:
		p.subquery(n.SubLink)
	case *pg.Node_RowExpr:
		p.refuse(n.RowExpr.Location, "compare it, as in (a, b) = (c, d) or (a, b) IN (...), or write its values one by one",
			"a row cannot be a value")
	case *pg.Node_SqlvalueFunction:
		p.refuse(n.SqlvalueFunction.Location, "write the date or the name that you mean",
			"the clock and the session are not available, so that an answer stays the same")
	case *pg.Node_ParamRef:
		p.refuse(n.ParamRef.Location, "write the value itself", "there are no parameters here")
	case *pg.Node_AArrayExpr:
		p.refuse(n.AArrayExpr.Location, "use arrays in = ANY(ARRAY[...]) and unnest(ARRAY[...])", "an array cannot stand here")
	case *pg.Node_AIndirection:
		p.refuse(-1, "use columns", "there are no arrays and no fields to look into")
	case *pg.Node_CollateClause:
		p.collate(n.CollateClause)
	default:
		p.refuse(-1, "write it with operators, CASE and functions", "an expression of this form is not available over released results")
	}
}

// constant prints a constant anew, so that nothing of the text is left in it.
func (p *printer) constant(c *pg.A_Const) {
	if c.Isnull {
		p.say("NULL")
		return
	}
	switch v := c.Val.(type) {
	case *pg.A_Const_Ival:
		if v.Ival.Ival < 0 {
			p.say("(", strconv.Itoa(int(v.Ival.Ival)), ")")
		} else {
			p.say(strconv.Itoa(int(v.Ival.Ival)))
		}
	case *pg.A_Const_Fval:
		p.number(v.Fval.Fval, c.Location)
	case *pg.A_Const_Boolval:
		if v.Boolval.Boolval {
			p.say("TRUE")
		} else {
			p.say("FALSE")
		}
	case *pg.A_Const_Sval:
		p.textConstant(v.Sval.Sval, c.Location)
	default:
		p.refuse(c.Location, "write a number, a text in single quotes, TRUE, FALSE or NULL", "a constant of this form is not available")
	}
}

func (p *printer) textConstant(s string, pos int32) {
	if utf8.RuneCountInString(s) > MaxText || strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
		p.refuse(pos, "write a shorter one", "a text has more than %d characters", MaxText)
		return
	}
	p.say("'", strings.ReplaceAll(s, "'", "''"), "'")
}

// number prints a number that is not a small whole one. The parser also knows 0x1F and 1_000, of
// which DuckDB would make something else.
func (p *printer) number(s string, pos int32) {
	negative := strings.HasPrefix(s, "-")
	digits := strings.TrimPrefix(s, "-")
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(digits), "e")
	whole, fraction, point := strings.Cut(mantissa, ".")
	decimal := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	sign := strings.TrimPrefix(strings.TrimPrefix(exponent, "+"), "-")
	if len(s) > 100 || whole+fraction == "" || !decimal(whole) || !decimal(fraction) || scientific &&
		(sign == "" || len(sign) > 4 || !decimal(sign)) {
		p.refuse(pos, "write it with decimal digits", "this number is not available")
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
		p.say("(-", whole, ")")
	} else {
		p.say(whole)
	}
}

// sessionWords are names that DuckDB reads as the clock or the session where there is no such
// column, even in quotes.
var sessionWords = []string{
	"current_catalog", "current_date", "current_database", "current_role", "current_schema", "current_time", "current_timestamp",
	"current_user", "localtime", "localtimestamp", "session_user", "user",
}

func (p *printer) column(c *pg.ColumnRef) {
	for _, f := range c.Fields {
		if f.GetAStar() != nil {
			p.refuse(c.Location, "use * as a column of SELECT or in COUNT(*)", "* cannot stand here")
			return
		}
	}
	switch len(c.Fields) {
	case 1:
		name := text(c.Fields[0])
		if slices.Contains(sessionWords, fold(name)) {
			p.refuse(c.Location, "write table.column, or give the column another name", "%q is also the name of a value of the session",
				name)
			return
		}
		p.say(p.quoted(name, c.Location))
	case 2:
		p.say(p.table(text(c.Fields[0]), c.Location), ".", p.quoted(text(c.Fields[1]), c.Location))
	default:
		p.refuse(c.Location, "write column or table.column", "a released result is in no schema")
	}
}

func (p *printer) logic(b *pg.BoolExpr) {
	word := map[pg.BoolExprType]string{pg.BoolExprType_AND_EXPR: " AND ", pg.BoolExprType_OR_EXPR: " OR "}[b.Boolop]
	p.say("(")
	if b.Boolop == pg.BoolExprType_NOT_EXPR {
		p.say("NOT ")
	}
	for i, a := range b.Args {
		if i > 0 {
			p.say(word)
		}
		p.expr(a)
	}
	p.say(")")
}

// truth prints x IS TRUE and its like.
func (p *printer) truth(b *pg.BooleanTest) {
	words := map[pg.BoolTestType]string{
		pg.BoolTestType_IS_TRUE: " IS NOT DISTINCT FROM TRUE", pg.BoolTestType_IS_NOT_TRUE: " IS DISTINCT FROM TRUE",
		pg.BoolTestType_IS_FALSE: " IS NOT DISTINCT FROM FALSE", pg.BoolTestType_IS_NOT_FALSE: " IS DISTINCT FROM FALSE",
		pg.BoolTestType_IS_UNKNOWN: " IS NULL", pg.BoolTestType_IS_NOT_UNKNOWN: " IS NOT NULL",
	}
	word, ok := words[b.Booltesttype]
	if !ok {
		p.refuse(b.Location, "compare it", "this test is not known")
		return
	}
	p.say("(")
	p.expr(b.Arg)
	p.say(word, ")")
}

func (p *printer) caseExpr(c *pg.CaseExpr) {
	p.say("(CASE")
	if c.Arg != nil {
		p.say(" ")
		p.copied(max(1, len(c.Args)), func() { p.expr(c.Arg) })
	}
	for _, n := range c.Args {
		w := n.GetCaseWhen()
		p.say(" WHEN ")
		p.expr(w.GetExpr())
		p.say(" THEN ")
		p.expr(w.GetResult())
	}
	if c.Defresult != nil {
		p.say(" ELSE ")
		p.expr(c.Defresult)
	}
	p.say(" END)")
}

// arguments prints a call of something that is known.
func (p *printer) arguments(name string, args []*pg.Node, pos int32) {
	if len(args) > maxArgs {
		p.refuse(pos, "write it in several steps", "%s has more than %d arguments", name, maxArgs)
		return
	}
	p.say(name, "(")
	list(p, args, p.expr)
	p.say(")")
}

// side prints an expression, or a row, where rows are compared and not kept: rows of rows would
// grow with every step.
func (p *printer) side(n *pg.Node) {
	if r := n.GetRowExpr(); r != nil {
		p.row(r)
	} else {
		p.expr(n)
	}
}

func (p *printer) row(r *pg.RowExpr) {
	if len(r.Args) < 2 {
		p.refuse(r.Location, "compare the value itself", "a row has fewer than two values")
		return
	}
	p.say("(")
	list(p, r.Args, p.expr)
	p.say(")")
}

func (p *printer) array(a *pg.A_ArrayExpr) {
	p.say("[")
	list(p, a.Elements, p.expr)
	p.say("]")
}

func (p *printer) subquery(s *pg.SubLink) {
	query := s.Subselect.GetSelectStmt()
	switch s.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		p.say("EXISTS (")
	case pg.SubLinkType_EXPR_SUBLINK:
		p.say("(")
	case pg.SubLinkType_ANY_SUBLINK, pg.SubLinkType_ALL_SUBLINK:
		p.say("(")
		p.side(s.Testexpr)
		word := " = "
		if len(s.OperName) > 0 {
			word = " " + p.comparison(s.OperName, s.Location) + " "
		}
		if s.SubLinkType == pg.SubLinkType_ALL_SUBLINK {
			p.say(word, "ALL (")
		} else {
			p.say(word, "ANY (")
		}
		p.selectStmt(query, false)
		p.say("))")
		return
	default:
		p.refuse(s.Location, "use EXISTS, IN, ANY, ALL or a single value", "a subquery of this form is not available")
	}
	p.selectStmt(query, false)
	p.say(")")
}

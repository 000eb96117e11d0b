package postquery

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/posix"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	pg "github.com/pganalyze/pg_query_go/v6"
)

var comparisons = []string{"=", "<>", "<", "<=", ">", ">="}

// operators that mean the same in both languages.
var operators = []string{"+", "-", "*", "/", "%", "&", "|", "<<", ">>"}

// prefixes are operators before one value, by what they are in DuckDB.
var prefixes = map[string]string{"+": "(+ ", "-": "(- ", "~": "(~ ", "@": "abs(", "|/": "sqrt(", "||/": "cbrt("}

type operatorPrinter struct {
	*output
	exprs     *exprPrinter
	functions *functionPrinter // some operators are calls in DuckDB
}

// operator returns the name of an operator, which nothing may qualify.
func (p *operatorPrinter) operator(names []*pg.Node, pos int32) string {
	if len(names) != 1 {
		p.refuse(syntax.Unsupported, pos, "write only the operator", "the operator has a schema")
		return ""
	}
	return stringOf(names[0])
}

func (p *operatorPrinter) comparison(names []*pg.Node, pos int32) string {
	op := p.operator(names, pos)
	if !slices.Contains(comparisons, op) {
		p.refuse(syntax.NoFunction, pos, "use =, <>, <, <=, > or >=", "the operator %s cannot be used before ANY and ALL", op)
		return ""
	}
	return op
}

func (p *operatorPrinter) operation(e *pg.A_Expr) class {
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		op := p.operator(e.Name, e.Location)
		if e.Lexpr != nil && (op == "->" || op == "->>") {
			return p.exprs.values.look(e, op)
		}
		p.plainOperation(e, op)
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		p.arrayComparison(e)
	case pg.A_Expr_Kind_AEXPR_DISTINCT:
		p.infix(e, " IS DISTINCT FROM ")
	case pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		p.infix(e, " IS NOT DISTINCT FROM ")
	case pg.A_Expr_Kind_AEXPR_NULLIF: // a macro in DuckDB, which writes both twice at most
		p.withCopies(2, func() { p.exprs.arguments("nullif", []*pg.Node{e.Lexpr, e.Rexpr}, e.Location) })
	case pg.A_Expr_Kind_AEXPR_IN:
		p.write("(")
		p.exprs.side(e.Lexpr)
		if p.operator(e.Name, e.Location) == "<>" {
			p.write(" NOT")
		}
		p.write(" IN (")
		printList(p.output, e.Rexpr.GetList().GetItems(), p.exprs.side)
		p.write("))")
	case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE:
		p.like(e, p.operator(e.Name, e.Location))
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		p.betweenExpr(e)
	case pg.A_Expr_Kind_AEXPR_SIMILAR:
		p.similar(e)
	default:
		p.refuse(syntax.Unsupported, e.Location, "write it with comparisons", "this operation is not available")
	}
	return ordinary
}

func (p *operatorPrinter) infix(e *pg.A_Expr, word string) {
	p.write("(")
	p.exprs.side(e.Lexpr)
	p.write(word)
	p.exprs.side(e.Rexpr)
	p.write(")")
}

func (p *operatorPrinter) function(e *pg.A_Expr, before, after string) {
	p.write(before, "(")
	p.exprs.expr(e.Lexpr)
	p.write(", ")
	p.exprs.expr(e.Rexpr)
	p.write(after)
}

func (p *operatorPrinter) plainOperation(e *pg.A_Expr, op string) {
	if e.Lexpr == nil {
		before, ok := prefixes[op]
		if !ok {
			p.refuse(syntax.NoFunction, e.Location, "use a function", "the operator %s is not available", op)
			return
		}
		p.write(before)
		p.exprs.expr(e.Rexpr)
		p.write(")")
		return
	}
	switch {
	case slices.Contains(comparisons, op), slices.Contains(operators, op):
		p.infix(e, " "+op+" ")
	case op == "||":
		p.functions.grow(e.Location, func() { p.infix(e, " || ") })
	case op == "^":
		p.function(e, "pow", ")")
	case op == "#":
		p.function(e, "xor", ")")
	case op == "~", op == "~*", op == "!~", op == "!~*": // DuckDB's own ~ matches the whole text
		p.functions.match(e.Lexpr, e.Rexpr, op[len(op)-1] == '*', op[0] == '!', e.Location)
	case op == "~~", op == "!~~", op == "~~*", op == "!~~*":
		p.like(e, op)
	default:
		p.refuse(syntax.NoFunction, e.Location, "use a function", "the operator %s is not available", op)
	}
}

// like prints LIKE as a regular expression, which takes linear time.
func (p *operatorPrinter) like(e *pg.A_Expr, op string) {
	pattern, escape := e.Rexpr, `\`
	if f := pattern.GetFuncCall(); f != nil && f.Funcformat == pg.CoercionForm_COERCE_EXPLICIT_CALL && len(f.Funcname) == 2 &&
		stringOf(f.Funcname[0]) == "pg_catalog" && stringOf(f.Funcname[1]) == "like_escape" && len(f.Args) == 2 { // LIKE ... ESCAPE ...
		escape = f.Args[1].GetAConst().GetSval().GetSval()
		if len(escape) != 1 || escape == "'" || escape[0] >= 0x80 {
			p.refuse(syntax.BadEscape, e.Location, "write ESCAPE '!' or another character", "the escape of LIKE is not one character")
			return
		}
		pattern = f.Args[0]
	}
	c := pattern.GetAConst().GetSval()
	if c == nil {
		p.refuse(syntax.Unsupported, e.Location, "write the pattern in single quotes, or use strpos", "the pattern of LIKE is a constant")
		return
	}
	p.write("(")
	if op[0] == '!' {
		p.write("NOT ")
	}
	p.write("regexp_matches(")
	p.exprs.expr(e.Lexpr)
	p.write(", ")
	p.functions.pattern(func() (string, error) { return posix.Like(c.Sval, rune(escape[0]), op[len(op)-1] == '*') }, e.Location)
	p.write("))")
}

func (p *operatorPrinter) betweenExpr(e *pg.A_Expr) {
	bounds := e.Rexpr.GetList().GetItems()
	if len(bounds) != 2 {
		p.refuse(syntax.Malformed, e.Location, "write BETWEEN low AND high", "BETWEEN needs two bounds")
		return
	}
	p.write("(")
	p.withCopies(2, func() { p.exprs.expr(e.Lexpr) })
	if e.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN {
		p.write(" NOT")
	}
	p.write(" BETWEEN ")
	p.exprs.expr(bounds[0])
	p.write(" AND ")
	p.exprs.expr(bounds[1])
	p.write(")")
}

func (p *operatorPrinter) arrayComparison(e *pg.A_Expr) {
	word := " ANY("
	if e.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL {
		word = " ALL("
	}
	p.write("(")
	p.exprs.expr(e.Lexpr)
	p.write(" ", p.comparison(e.Name, e.Location), word)
	p.exprs.values.list(e.Rexpr, "write ANY(ARRAY[...]) or a subquery", "ANY and ALL take an array")
	p.write("))")
}

package planner

import (
	"math/big"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// scope says what names and functions mean in one part of a question. Below the
// noise a name is a private column and no aggregate exists; above it a name is
// a released key, and aggregates are released values.
type scope interface {
	// whole recognises an expression as a whole, before its parts are looked at.
	whole(n *pg.Node) (tree.Expr, bool)
	column(name string, pos int32) (tree.Expr, error)
	call(f *pg.FuncCall) (tree.Expr, error)
	sublink(s *pg.SubLink) (tree.Expr, error)
	meter() *meter.Meter
	beyond() *beyondBounds
}

// groupingScope is a scope in which GROUPING has a meaning.
type groupingScope interface {
	groupingOf(f *pg.GroupingFunc) (tree.Expr, error)
}

// personNames is a scope in which COALESCE may name the person of a FULL JOIN; nil where it does
// not.
type personNames interface {
	person(args []*pg.Node) tree.Expr
}

// listedTexts is a scope that knows which texts of a column count, because they are listed: how
// long the longest is, or 0.
type listedTexts interface {
	longestListed(n *pg.Node, e tree.Expr) int
}

// Texts that are joined have to be short, and one of a column can have any length. Only where a key
// of GROUP BY is nothing but joined texts does the end of those that are not listed make no
// difference: what is joined of them is no key that is made of listed ones, which is shorter.
// Elsewhere it does: the joined text has another length then.
const (
	maxListedText = 50
	maxCutText    = 240
)

// shortened is the beginning of a text that is joined with others, where texts are listed.
func shortened(s scope, n *pg.Node, e tree.Expr, pos int32) (tree.Expr, error) {
	l, ok := s.(listedTexts)
	if !ok || e.Type().Kind != tree.Text || e.Type().MaxLength > 0 {
		return e, nil
	}
	if n := l.longestListed(n, e); n == 0 || n > maxListedText {
		return e, nil
	}
	return expr.Named("left", []tree.Expr{e, expr.NewNumber(big.NewRat(maxCutText, 1))}, pos)
}

// joinedTexts are the nodes of the texts that an expression joins, where it does nothing else.
func joinedTexts(n *pg.Node) []*pg.Node {
	if f := n.GetFuncCall(); f != nil && (functionName(f) == "concat" || functionName(f) == "concat_ws") {
		return f.Args
	}
	a := n.GetAExpr()
	if a == nil || a.Kind != pg.A_Expr_Kind_AEXPR_OP || len(a.Name) != 1 || a.Name[0].GetString_().GetSval() != "||" {
		return nil
	}
	var out []*pg.Node
	for _, side := range []*pg.Node{a.Lexpr, a.Rexpr} {
		if inner := joinedTexts(side); inner != nil {
			out = append(out, inner...)
		} else {
			out = append(out, side)
		}
	}
	return out
}

// checkExpr turns a node of the grammar into a checked expression, or refuses.
func checkExpr(s scope, n *pg.Node) (tree.Expr, error) {
	if e, ok := s.whole(n); ok {
		return e, nil
	}
	s.meter().Work(1, meter.Written)
	e, err := checkNode(s, n)
	if err != nil {
		return nil, err
	}
	countNode(s.meter(), e)
	s.beyond().look(e)
	if _, column := e.(*tree.Column); !column && e.Type().Kind == tree.Identity {
		return nil,
			syntax.Refuse(syntax.Private, syntax.Location(n),
				"compare it with = to the same column of another table, or count it with COUNT(DISTINCT ...)",
				"a column that identifies people or their records cannot be used in computations")
	}
	return e, nil
}

func checkNode(s scope, n *pg.Node) (tree.Expr, error) {
	switch x := n.GetNode().(type) {
	case *pg.Node_AConst:
		return checkConst(x.AConst)
	case *pg.Node_ColumnRef:
		name, err := columnName(x.ColumnRef)
		if err != nil {
			return nil, err
		}
		return s.column(name, x.ColumnRef.Location)
	case *pg.Node_FuncCall:
		return s.call(x.FuncCall)
	case *pg.Node_GroupingFunc:
		if s, ok := s.(groupingScope); ok {
			return s.groupingOf(x.GroupingFunc)
		}
	case *pg.Node_AExpr:
		return checkOperator(s, x.AExpr)
	case *pg.Node_BoolExpr:
		return checkLogic(s, x.BoolExpr)
	case *pg.Node_NullTest:
		return checkNull(s, x.NullTest)
	case *pg.Node_SubLink:
		return s.sublink(x.SubLink)
	case *pg.Node_TypeCast:
		return checkCast(s, x.TypeCast)
	case *pg.Node_CaseExpr:
		return checkCase(s, x.CaseExpr)
	case *pg.Node_CollateClause:
		return checkCollate(s, x.CollateClause)
	case *pg.Node_BooleanTest:
		return checkTruth(s, x.BooleanTest)
	case *pg.Node_CoalesceExpr:
		if s, ok := s.(personNames); ok {
			if person := s.person(x.CoalesceExpr.Args); person != nil {
				return person, nil
			}
		}
		return checkNamed(s, "coalesce", x.CoalesceExpr.Args, x.CoalesceExpr.Location)
	case *pg.Node_MinMaxExpr:
		name := "greatest"
		if x.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			name = "least"
		}
		return checkNamed(s, name, x.MinMaxExpr.Args, x.MinMaxExpr.Location)
	}
	what, instead := unsupported(n)
	return nil, syntax.Refuse(syntax.Unsupported, syntax.Location(n), instead, "%s cannot be used here", what)
}

func checkNull(s scope, n *pg.NullTest) (tree.Expr, error) {
	if n.Argisrow {
		return nil, syntax.Refuse(syntax.Unsupported, n.Location, "test a single value", "rows cannot be tested for NULL")
	}
	x, err := checkExpr(s, n.Arg)
	if err != nil {
		return nil, err
	}
	var e tree.Expr = &tree.IsNull{X: x}
	if n.Nulltesttype == pg.NullTestType_IS_NOT_NULL {
		e = &tree.Not{X: e}
	}
	return e, nil
}

// unsupported names a node of the grammar that has no place in a question, in
// the words of its users.
func unsupported(n *pg.Node) (what, instead string) {
	const plain = "use columns, constants, operators, CASE and the functions of docs/sql-functions.md"
	switch n.GetNode().(type) {
	case *pg.Node_SqlvalueFunction:
		return "CURRENT_DATE or the like", "write the value itself, as in '2024-01-31'"
	case *pg.Node_ParamRef:
		return "a parameter such as $1", "write the value itself"
	case *pg.Node_GroupingFunc:
		return "GROUPING", "put it into SELECT, HAVING or ORDER BY of a question with GROUP BY"
	case *pg.Node_AArrayExpr, *pg.Node_RowExpr, *pg.Node_AIndirection:
		return "an array or a row", plain
	}
	return "this expression", plain
}

// checkCondition is checkExpr for something that must be true or false.
func checkCondition(s scope, n *pg.Node) (tree.Expr, error) {
	e, err := checkExpr(s, n)
	if err != nil {
		return nil, err
	}
	e = expr.Adopt(e, expr.NewBool(true))
	if k := e.Type().Kind; k != tree.Boolean {
		return nil, syntax.Refuse(syntax.Mismatch, syntax.Location(n), "write a comparison, such as age > 40",
			"a condition must be true or false, but this is %s", expr.Article(k))
	}
	return e, nil
}

func checkConst(c *pg.A_Const) (tree.Expr, error) {
	if c.Isnull {
		return expr.NewNull(tree.Type{}), nil
	}
	switch v := c.Val.(type) {
	case *pg.A_Const_Ival:
		return expr.NewNumber(big.NewRat(int64(v.Ival.GetIval()), 1)), nil
	case *pg.A_Const_Fval:
		r, err := dp.ParseDecimal(v.Fval.GetFval())
		if err != nil {
			return nil, syntax.Refuse(syntax.OutOfRange, c.Location, "write a decimal number of at most 64 digits",
				"this number cannot be read")
		}
		l := expr.NewNumber(r)
		l.Point = strings.ContainsAny(v.Fval.GetFval(), ".eE")
		return expr.Checked(l, c.Location)
	case *pg.A_Const_Boolval:
		return expr.NewBool(v.Boolval.GetBoolval()), nil
	case *pg.A_Const_Sval:
		return expr.NewText(v.Sval.GetSval()), nil
	}
	return nil, syntax.Refuse(syntax.Unsupported, c.Location, "write a number, a 'text', true, false or a date",
		"this constant cannot be used here")
}

func checkCase(s scope, c *pg.CaseExpr) (tree.Expr, error) {
	var subject tree.Expr
	if c.Arg != nil {
		var err error
		if subject, err = checkExpr(s, c.Arg); err != nil {
			return nil, err
		}
	}
	var whens []tree.When
	for _, n := range c.Args {
		w := n.GetCaseWhen()
		var when tree.When
		var err error
		if subject == nil {
			when.If, err = checkCondition(s, w.Expr)
		} else if when.If, err = checkExpr(s, w.Expr); err == nil {
			when.If, err = expr.NewCompare(tree.Eq, subject, when.If, w.Location)
		}
		if err != nil {
			return nil, err
		}
		if when.Then, err = checkExpr(s, w.Result); err != nil {
			return nil, err
		}
		whens = append(whens, when)
	}
	var otherwise tree.Expr = expr.NewNull(tree.Type{})
	if c.Defresult != nil {
		var err error
		if otherwise, err = checkExpr(s, c.Defresult); err != nil {
			return nil, err
		}
	}
	return expr.NewCase(whens, otherwise, c.Location)
}

// checkTruth makes IS TRUE and its relatives, which are never NULL.
func checkTruth(s scope, b *pg.BooleanTest) (tree.Expr, error) {
	x, err := checkCondition(s, b.Arg)
	if err != nil {
		return nil, err
	}
	known := func(otherwise bool) (tree.Expr, error) {
		return expr.NewCall("coalesce", tree.Bool, b.Location, x, expr.NewBool(otherwise))
	}
	not := func(e tree.Expr, err error) (tree.Expr, error) { return &tree.Not{X: e}, err }
	switch b.Booltesttype {
	case pg.BoolTestType_IS_TRUE:
		return known(false)
	case pg.BoolTestType_IS_NOT_TRUE:
		return not(known(false))
	case pg.BoolTestType_IS_FALSE:
		return not(known(true))
	case pg.BoolTestType_IS_NOT_FALSE:
		return known(true)
	case pg.BoolTestType_IS_UNKNOWN:
		return &tree.IsNull{X: x}, nil
	}
	return &tree.Not{X: &tree.IsNull{X: x}}, nil
}

// castPlace is where a cast stands. DATE '2024-01-31' has no place of its own.
func castPlace(c *pg.TypeCast) int32 {
	if c.Location < 0 {
		return syntax.Location(c.Arg)
	}
	return c.Location
}

// castTo is PostgreSQL's name of the type that an expression is cast to, where it is a cast. A
// whole number that was computed with 1.0 is numeric.
func castTo(n *pg.Node, e tree.Expr) string {
	if c := n.GetTypeCast(); c != nil {
		return syntax.TypeName(c)
	}
	if e.Type().Integer() && expr.Pointed(e) {
		return "numeric"
	}
	return ""
}

func checkCast(s scope, c *pg.TypeCast) (tree.Expr, error) {
	pos, name := castPlace(c), syntax.TypeName(c)
	kind, ok := expr.CastKinds[name]
	switch {
	case name == "interval":
		return nil, syntax.Refuse(syntax.Unsupported, pos, "add it to a date or a timestamp, as in day + INTERVAL '1 month'",
			"an INTERVAL cannot be "+
				"used by itself")
	case !ok:
		return nil, syntax.Refuse(syntax.Unsupported, pos, "cast to integer, bigint, numeric(p,s), text, boolean, date or timestamp",
			"a cast to this type cannot be used here")
	}
	var mods []int64
	for _, n := range c.TypeName.GetTypmods() {
		v, ok := n.GetAConst().GetVal().(*pg.A_Const_Ival)
		if !ok {
			return nil, syntax.Refuse(syntax.BadValue, pos, "write numbers, as in numeric(10,2)", "the size of this type cannot be read")
		}
		mods = append(mods, int64(v.Ival.GetIval()))
	}
	x, err := checkExpr(s, c.Arg)
	if err != nil {
		return nil, err
	}
	if l, ok := x.(*tree.Literal); ok && len(mods) == 0 {
		if e, done, err := expr.CastConstant(l, name, kind, pos); done {
			return e, err
		}
	}
	if x.Type().Kind == 0 {
		x = expr.NewNull(tree.Type{Kind: tree.Text})
	}
	return expr.NewCast(x, name, kind, mods, pos)
}

// byBytes are the collations in which texts compare by their bytes, as all texts do here.
var byBytes = []string{"C", "POSIX", "ucs_basic", "C.UTF-8", "C.utf8", "pg_c_utf8", "default"}

// checkCollate reads x COLLATE "C", which is x.
func checkCollate(s scope, c *pg.CollateClause) (tree.Expr, error) {
	names := c.Collname
	if len(names) == 2 && names[0].GetString_().GetSval() == "pg_catalog" {
		names = names[1:]
	}
	if len(names) != 1 || !slices.Contains(byBytes, names[0].GetString_().GetSval()) {
		return nil, syntax.Refuse(syntax.Unsupported, c.Location, `leave it out, or write COLLATE "C"`,
			"texts are compared by their bytes here, and there are no other collations")
	}
	if c.Arg.GetCollateClause() != nil {
		return nil, syntax.Refuse(syntax.Malformed, c.Location, "write COLLATE once", "a text has one collation")
	}
	e, err := checkExpr(s, c.Arg)
	if err != nil {
		return nil, err
	}
	if e = adoptText(e); e.Type().Kind != tree.Text {
		return nil, syntax.Refuse(syntax.Mismatch, c.Location, "leave it out", "COLLATE is for text, but this is %s",
			expr.Article(e.Type().Kind))
	}
	return e, nil
}

// adoptText gives a constant without a type the one it has on its own.
func adoptText(e tree.Expr) tree.Expr {
	if e.Type().Kind == 0 {
		return expr.Adopt(e, expr.NewText(""))
	}
	return e
}

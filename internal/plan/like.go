package plan

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

func checkLike(s scope, op string, a *pg.A_Expr) (tree.Expr, error) {
	const example = "name LIKE 'A%'"
	x, err := checkExpr(s, a.Lexpr)
	if err != nil {
		return nil, err
	}
	right, escape := a.Rexpr, '\\'
	if f := right.GetFuncCall(); f != nil && functionName(f) == "like_escape" && len(f.Args) == 2 {
		right = f.Args[0]
		if escape, err = escapeCharacter(f.Args[1], a.Location); err != nil {
			return nil, err
		}
	}
	r, err := checkExpr(s, right)
	if err != nil {
		return nil, err
	}
	if l, ok := expr.Constant(r); ok && l.IsNullLiteral() {
		return expr.NewNull(tree.Bool), nil
	}
	if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
		return expr.NewNull(tree.Bool), nil
	}
	if k := x.Type().Kind; k != tree.Text {
		return nil, syntax.Refuse(a.Location, "compare with =, < or BETWEEN, or cast it, as in CAST(age AS text)",
			"LIKE is for text, and this is %s", expr.Article(k))
	}
	text, err := expr.TextConstant(r, expr.MaxNeedle, example, a.Location)
	if err != nil {
		return nil, err
	}
	not := strings.HasPrefix(op, "!")
	p, ok := expr.ReadPattern(text, escape)
	if !ok {
		return nil, syntax.Refuse(a.Location, "write the escape character twice", "the pattern ends with its escape character")
	}
	if strings.HasSuffix(op, "*") { // ILIKE
		for i, c := range p {
			if c >= 0 {
				p[i] = tree.PatternPart([]rune(expr.Lower(string(rune(c))))[0])
			}
		}
		if x, err = expr.Named("lower", []tree.Expr{x}, a.Location); err != nil {
			return nil, err
		}
	}
	e, err := expr.NewLike(x, p, a.Location)
	if err == nil && not {
		e = &tree.Not{X: e}
	}
	return e, err
}

// escapeCharacter reads what stands behind ESCAPE; 0 for none.
func escapeCharacter(n *pg.Node, pos int32) (rune, error) {
	text, isText := n.GetAConst().GetVal().(*pg.A_Const_Sval)
	runes := []rune(text2(text))
	if !isText || len(runes) > 1 {
		return 0, syntax.Refuse(pos, "write one character in quotes, as in LIKE '10!%' ESCAPE '!'", "ESCAPE takes one constant character")
	}
	if len(runes) == 0 {
		return 0, nil
	}
	return runes[0], nil
}

func text2(s *pg.A_Const_Sval) string {
	if s == nil {
		return ""
	}
	return s.Sval.GetSval()
}

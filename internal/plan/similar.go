package plan

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/posix"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// checkSimilar reads x SIMILAR TO 'p' and its negation, with or without ESCAPE.
func checkSimilar(s scope, op string, a *pg.A_Expr) (tree.Expr, error) {
	x, err := checkExpr(s, a.Lexpr)
	if err != nil {
		return nil, err
	}
	right, escape := a.Rexpr, '\\'
	if f := right.GetFuncCall(); f != nil && functionName(f) == "similar_to_escape" && len(f.Args) > 0 {
		right = f.Args[0]
		if len(f.Args) == 2 {
			if escape, err = escapeCharacter(f.Args[1], a.Location); err != nil {
				return nil, err
			}
		}
	}
	r, err := checkExpr(s, right)
	if err != nil {
		return nil, err
	}
	e, err := expr.NewMatch(x, r, func(p string) (string, error) { return posix.Similar(p, escape) }, a.Location)
	if err == nil && strings.HasPrefix(op, "!") {
		e = &tree.Not{X: e}
	}
	return e, err
}

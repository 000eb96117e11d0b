package plan

import (
	"math/big"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

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
			return nil, syntax.Refuse(c.Location, "write a decimal number of at most 64 digits", "this number cannot be read")
		}
		l := expr.NewNumber(r)
		l.Point = strings.ContainsAny(v.Fval.GetFval(), ".eE")
		return expr.Checked(l, c.Location)
	case *pg.A_Const_Boolval:
		return expr.NewBool(v.Boolval.GetBoolval()), nil
	case *pg.A_Const_Sval:
		return expr.NewText(v.Sval.GetSval()), nil
	}
	return nil, syntax.Refuse(c.Location, "write a number, a 'text', true, false or a date", "this constant cannot be used here")
}

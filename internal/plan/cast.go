package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

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
		return nil, syntax.Refuse(pos, "add it to a date or a timestamp, as in day + INTERVAL '1 month'", "an INTERVAL cannot stand alone")
	case !ok:
		return nil, syntax.Refuse(pos, "cast to integer, bigint, numeric(p,s), text, boolean, date or timestamp",
			"a cast to this type cannot be used here")
	}
	var mods []int64
	for _, n := range c.TypeName.GetTypmods() {
		v, ok := n.GetAConst().GetVal().(*pg.A_Const_Ival)
		if !ok {
			return nil, syntax.Refuse(pos, "write numbers, as in numeric(10,2)", "this type has a size that cannot be read")
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

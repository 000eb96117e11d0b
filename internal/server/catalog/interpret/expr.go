package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// expr is an expression of a known type.
type expr struct {
	typ  uint32
	cols []datum.Column // the fields, where it is a record of known ones
	eval func(*env) (datum.Value, error)

	lit   *string // a literal without a type yet
	null  bool    // NULL without a type yet
	param int     // the number of a parameter without a type yet
	eq    *equation
	// where it is a column of this very SELECT
	scope     *scope
	rte, attr int
}

// equation is l = r, with the relations of this SELECT that each side needs.
type equation struct {
	l, r         *expr
	lrefs, rrefs uint64
}

// raise is an expression of the SELECT that stands n levels further out.
func (x *expr) raise(n int) *expr {
	if n == 0 {
		return x
	}
	return &expr{typ: x.typ, cols: x.cols, eval: func(e *env) (datum.Value, error) { return x.eval(e.enclosing(n)) }}
}

// held is an expression of the same type whose value is what v holds at that moment.
func (x *expr) held(v *datum.Value) *expr {
	return &expr{typ: x.typ, cols: x.cols, eval: func(*env) (datum.Value, error) { return *v, nil }}
}

func (x *expr) untyped() bool { return x.typ == oid.Unknown }

// expr binds an expression.
func (s *scope) expr(n *pg.Node) (*expr, error) {
	if s.group != nil && s.group.off == 0 && s.group.has(n) {
		s.group.off++
		defer func() { s.group.off-- }()
	}
	return s.exprNode(n)
}

// exprNode binds an expression by its kind.
func (s *scope) exprNode(n *pg.Node) (*expr, error) {
	switch v := n.GetNode().(type) {
	case *pg.Node_AConst:
		return s.constant(v.AConst)
	case *pg.Node_ColumnRef:
		return s.columnRef(v.ColumnRef)
	case *pg.Node_ParamRef:
		return s.parameter(v.ParamRef)
	case *pg.Node_TypeCast:
		return s.typeCast(v.TypeCast)
	case *pg.Node_AExpr:
		x, err := s.operator(v.AExpr)
		return x, locate(err, v.AExpr.Location)
	case *pg.Node_BoolExpr:
		return s.boolExpr(v.BoolExpr)
	case *pg.Node_FuncCall:
		x, err := s.call(v.FuncCall)
		return x, locate(err, v.FuncCall.Location)
	case *pg.Node_SubLink:
		x, err := s.subLink(v.SubLink)
		return x, locate(err, v.SubLink.Location)
	case *pg.Node_CaseExpr:
		return s.caseExpr(v.CaseExpr)
	case *pg.Node_CoalesceExpr:
		return s.coalesce(v.CoalesceExpr.Args)
	case *pg.Node_MinMaxExpr:
		return s.minMax(v.MinMaxExpr)
	case *pg.Node_NullTest:
		return s.nullTest(v.NullTest)
	case *pg.Node_BooleanTest:
		return s.booleanTest(v.BooleanTest)
	case *pg.Node_SqlvalueFunction:
		return s.sessionValue(v.SqlvalueFunction)
	case *pg.Node_AArrayExpr:
		return s.array(v.AArrayExpr, 0)
	case *pg.Node_RowExpr:
		return s.row(v.RowExpr)
	case *pg.Node_AIndirection:
		return s.indirection(v.AIndirection.Arg, v.AIndirection.Indirection)
	case *pg.Node_CollateClause:
		x, err := s.expr(v.CollateClause.Arg)
		if err != nil {
			return nil, err
		}
		return s.b.settled(x)
	case *pg.Node_SetToDefault:
		return nil, Fail("42601", "DEFAULT is not allowed in this context")
	case *pg.Node_GroupingFunc:
		return nil, unsupported("GROUPING")
	}
	return nil, unsupported("this expression")
}

// exprs binds a list of expressions.
func (s *scope) exprs(list []*pg.Node) ([]*expr, error) {
	var out []*expr
	for _, n := range list {
		x, err := s.expr(n)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// unified binds expressions that get one type.
func (s *scope) unified(list []*pg.Node, where string) ([]*expr, uint32, error) {
	args, err := s.exprs(list)
	if err != nil {
		return nil, 0, err
	}
	t, err := s.b.unify(args, where)
	return args, t, err
}

// compute is an expression of the values of others.
func compute(t uint32, args []*expr, do func(r *run, v datum.Tuple) (datum.Value, error)) *expr {
	return &expr{typ: t, eval: func(e *env) (datum.Value, error) {
		v, err := evalAll(e, args)
		if err != nil {
			return nil, err
		}
		return do(e.run, v)
	}}
}

// evalAll evaluates a row of expressions.
func evalAll(e *env, xs []*expr) (datum.Tuple, error) {
	if err := e.run.spend(len(xs), 24+16*len(xs)); err != nil {
		return nil, err
	}
	t := make(datum.Tuple, len(xs))
	for i, x := range xs {
		v, err := x.eval(e)
		if err != nil {
			return nil, err
		}
		t[i] = v
	}
	return t, nil
}

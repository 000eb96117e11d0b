package interpret

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
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

type exprBinder struct {
	scope     *scope
	types     *typeBinder
	operators operatorBinder
	functions functionBinder
}

func (s *scope) exprs() exprBinder {
	t := s.binder.types
	return exprBinder{s, t, operatorBinder{t}, functionBinder{s.binder.library, t}}
}

func (b exprBinder) calls() callBinder { return callBinder{b.scope, b} }

func (b exprBinder) expr(n *pg.Node) (*expr, error) {
	if b.scope.group != nil && b.scope.group.off == 0 && b.scope.group.has(n) {
		b.scope.group.off++
		defer func() { b.scope.group.off-- }()
	}
	return b.exprNode(n)
}

func (b exprBinder) exprNode(n *pg.Node) (*expr, error) {
	switch v := n.GetNode().(type) {
	case *pg.Node_AConst:
		return b.constant(v.AConst)
	case *pg.Node_ColumnRef:
		return b.columnRef(v.ColumnRef)
	case *pg.Node_ParamRef:
		return b.parameter(v.ParamRef)
	case *pg.Node_TypeCast:
		return b.typeCast(v.TypeCast)
	case *pg.Node_AExpr:
		x, err := b.operator(v.AExpr)
		return x, locate(err, v.AExpr.Location)
	case *pg.Node_BoolExpr:
		return b.boolExpr(v.BoolExpr)
	case *pg.Node_FuncCall:
		x, err := b.calls().call(v.FuncCall)
		return x, locate(err, v.FuncCall.Location)
	case *pg.Node_SubLink:
		x, err := b.subLink(v.SubLink)
		return x, locate(err, v.SubLink.Location)
	case *pg.Node_CaseExpr:
		return b.caseExpr(v.CaseExpr)
	case *pg.Node_CoalesceExpr:
		return b.coalesce(v.CoalesceExpr.Args)
	case *pg.Node_MinMaxExpr:
		return b.minMax(v.MinMaxExpr)
	case *pg.Node_NullTest:
		return b.nullTest(v.NullTest)
	case *pg.Node_BooleanTest:
		return b.booleanTest(v.BooleanTest)
	case *pg.Node_SqlvalueFunction:
		return b.calls().sessionValue(v.SqlvalueFunction)
	case *pg.Node_AArrayExpr:
		return b.array(v.AArrayExpr, 0)
	case *pg.Node_RowExpr:
		return b.row(v.RowExpr)
	case *pg.Node_AIndirection:
		return b.indirection(v.AIndirection.Arg, v.AIndirection.Indirection)
	case *pg.Node_CollateClause:
		x, err := b.expr(v.CollateClause.Arg)
		if err != nil {
			return nil, err
		}
		return b.types.settled(x)
	case *pg.Node_SetToDefault:
		return nil, Fail("42601", "DEFAULT is not allowed in this context")
	case *pg.Node_GroupingFunc:
		return nil, unsupported("GROUPING")
	}
	return nil, unsupported("this expression")
}

func (b exprBinder) exprs(list []*pg.Node) ([]*expr, error) {
	var out []*expr
	for _, n := range list {
		x, err := b.expr(n)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func (b exprBinder) unified(list []*pg.Node, where string) ([]*expr, uint32, error) {
	args, err := b.exprs(list)
	if err != nil {
		return nil, 0, err
	}
	t, err := b.types.unify(args, where)
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

// constant is an expression of a known value.
func constant(t uint32, v datum.Value) *expr {
	return &expr{typ: t, eval: func(*env) (datum.Value, error) { return v, nil }}
}

// untypedLiteral is a text that what is around it gives a type.
func untypedLiteral(s string) *expr {
	x := constant(oid.Unknown, datum.Text(s))
	x.lit = &s
	return x
}

// untypedNull is a NULL that what is around it gives a type.
func untypedNull() *expr {
	x := constant(oid.Unknown, nil)
	x.null = true
	return x
}

func (b exprBinder) constant(k *pg.A_Const) (*expr, error) {
	if k.Isnull {
		return untypedNull(), nil
	}
	switch v := k.Val.(type) {
	case *pg.A_Const_Ival:
		return constant(oid.Int4, datum.Int(v.Ival.GetIval())), nil
	case *pg.A_Const_Fval:
		text := v.Fval.GetFval()
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return constant(oid.Int8, datum.Int(n)), nil
		}
		f, ok := datum.ParseNumeric(text)
		if !ok {
			return nil, locate(Fail("22003", "the number %s is out of range", clip(text)), k.Location)
		}
		return constant(oid.Numeric, f), nil
	case *pg.A_Const_Boolval:
		return constant(oid.Bool, datum.Bool(v.Boolval.GetBoolval())), nil
	case *pg.A_Const_Sval:
		return untypedLiteral(v.Sval.GetSval()), nil
	}
	return bitConstant(k.GetBsval().GetBsval())
}

func (b exprBinder) caseExpr(c *pg.CaseExpr) (*expr, error) {
	var arg *expr
	var err error
	if c.Arg != nil {
		if arg, err = b.expr(c.Arg); err != nil {
			return nil, err
		}
		if arg, err = b.types.settled(arg); err != nil {
			return nil, err
		}
	}
	var whens, results []*expr
	for _, n := range c.Args {
		w := n.GetCaseWhen()
		x, err := b.expr(w.GetExpr())
		if err != nil {
			return nil, err
		}
		if arg != nil {
			x, err = b.operators.comparison("=", arg, x)
		} else {
			x, err = b.types.truth(x, "CASE/WHEN")
		}
		if err != nil {
			return nil, locate(err, c.Location)
		}
		r, err := b.expr(w.GetResult())
		if err != nil {
			return nil, err
		}
		whens, results = append(whens, x), append(results, r)
	}
	otherwise := untypedNull()
	if c.Defresult != nil {
		if otherwise, err = b.expr(c.Defresult); err != nil {
			return nil, err
		}
	}
	// The last one decides the type before the others, as in PostgreSQL.
	results = append([]*expr{otherwise}, results...)
	t, err := b.types.unify(results, "CASE")
	if err != nil {
		return nil, locate(err, c.Location)
	}
	otherwise, results = results[0], results[1:]
	return &expr{typ: t, cols: results[0].cols, eval: func(e *env) (datum.Value, error) {
		if err := e.run.step(1); err != nil {
			return nil, err
		}
		for i, w := range whens {
			v, err := w.eval(e)
			if err != nil {
				return nil, err
			}
			if v == datum.True {
				return results[i].eval(e)
			}
		}
		return otherwise.eval(e)
	}}, nil
}

// coalesce binds COALESCE: the first value that is not NULL.
func (b exprBinder) coalesce(list []*pg.Node) (*expr, error) {
	args, t, err := b.unified(list, "COALESCE")
	if err != nil {
		return nil, err
	}
	return &expr{typ: t, cols: args[0].cols, eval: func(e *env) (datum.Value, error) {
		if err := e.run.step(1); err != nil {
			return nil, err
		}
		for _, a := range args {
			v, err := a.eval(e)
			if v != nil || err != nil {
				return v, err
			}
		}
		return nil, nil
	}}, nil
}

func (b exprBinder) minMax(m *pg.MinMaxExpr) (*expr, error) {
	greatest := m.Op == pg.MinMaxOp_IS_GREATEST
	args, t, err := b.unified(m.Args, "GREATEST")
	if err != nil {
		return nil, locate(err, m.Location)
	}
	return compute(t, args, func(_ *run, vals datum.Tuple) (best datum.Value, err error) {
		for _, v := range vals {
			if v != nil && (best == nil || (datum.Compare(v, best) > 0) == greatest) {
				best = v
			}
		}
		return best, nil
	}), nil
}

// truth makes a boolean of an expression that must be one.
func (b *typeBinder) truth(x *expr, where string) (*expr, error) {
	if x.untyped() {
		return b.coerce(x, oid.Bool)
	}
	if x.typ != oid.Bool {
		return nil, Fail("42804", "argument of %s must be type boolean, not type %s", strings.TrimRight(where, "_"), b.run.nameType(x.typ))
	}
	return x, nil
}

// decide is AND of n tests, where stop is false, or OR, where it is true: the first that says stop
// decides. Otherwise the result is NULL where one of them is.
func (r *run) decide(n int, stop bool, test func(i int) (datum.Value, error)) (datum.Value, error) {
	unknown := false
	for i := range n {
		if err := r.step(1); err != nil {
			return nil, err
		}
		switch v, err := test(i); {
		case err != nil:
			return nil, err
		case v == nil:
			unknown = true
		case v == datum.Bool(stop):
			return v, nil
		}
	}
	if unknown {
		return nil, nil
	}
	return datum.Bool(!stop), nil
}

// negate is NOT of a truth, where asked for.
func negate(v datum.Value, not bool) datum.Value {
	if b, ok := v.(datum.Bool); ok {
		return datum.Bool(bool(b) != not)
	}
	return nil
}

func (b exprBinder) boolExpr(n *pg.BoolExpr) (*expr, error) {
	var args []*expr
	for _, arg := range n.Args {
		x, err := b.expr(arg)
		if err != nil {
			return nil, err
		}
		if x, err = b.types.truth(x, n.Boolop.String()[:3]); err != nil {
			return nil, locate(err, n.Location)
		}
		args = append(args, x)
	}
	not, stop := n.Boolop == pg.BoolExprType_NOT_EXPR, n.Boolop == pg.BoolExprType_OR_EXPR
	return &expr{typ: oid.Bool, eval: func(e *env) (datum.Value, error) {
		v, err := e.run.decide(len(args), stop, func(i int) (datum.Value, error) { return args[i].eval(e) })
		return negate(v, not), err
	}}, nil
}

// nullTest binds IS NULL and IS NOT NULL.
func (b exprBinder) nullTest(t *pg.NullTest) (*expr, error) {
	x, err := b.expr(t.Arg)
	if err != nil {
		return nil, err
	}
	isNull := t.Nulltesttype == pg.NullTestType_IS_NULL
	return &expr{typ: oid.Bool, eval: func(e *env) (datum.Value, error) {
		v, err := x.eval(e)
		if err != nil {
			return nil, err
		}
		if r, ok := v.(*datum.Record); ok {
			// A row is NULL where all fields are, and not NULL where none is.
			for _, f := range r.Values {
				if (f == nil) != isNull {
					return datum.False, nil
				}
			}
			return datum.True, e.run.step(len(r.Values))
		}
		return datum.Bool((v == nil) == isNull), nil
	}}, nil
}

// booleanTests are IS TRUE and its kin: what is tested for, and whether it is denied.
var booleanTests = map[pg.BoolTestType]struct {
	value datum.Value
	not   bool
}{
	pg.BoolTestType_IS_TRUE: {datum.True, false}, pg.BoolTestType_IS_NOT_TRUE: {datum.True, true},
	pg.BoolTestType_IS_FALSE: {datum.False, false}, pg.BoolTestType_IS_NOT_FALSE: {datum.False, true},
	pg.BoolTestType_IS_UNKNOWN: {nil, false}, pg.BoolTestType_IS_NOT_UNKNOWN: {nil, true},
}

func (b exprBinder) booleanTest(t *pg.BooleanTest) (*expr, error) {
	x, err := b.expr(t.Arg)
	if err != nil {
		return nil, err
	}
	if x, err = b.types.truth(x, "IS TRUE"); err != nil {
		return nil, locate(err, t.Location)
	}
	test := booleanTests[t.Booltesttype]
	return &expr{typ: oid.Bool, eval: func(e *env) (datum.Value, error) {
		v, err := x.eval(e)
		if err != nil {
			return nil, err
		}
		return datum.Bool((v == test.value) != test.not), nil
	}}, nil
}

package catalog

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// truth makes a boolean of an expression that must be one.
func (b *binder) truth(x *expr, where string) (*expr, error) {
	if x.untyped() {
		return b.coerce(x, tBool)
	}
	if x.typ != tBool {
		return nil, fail("42804", "argument of %s must be type boolean, not type %s", strings.TrimRight(where, "_"), b.c.formatType(x.typ, -1))
	}
	return x, nil
}

// boolExpr binds AND, OR and NOT.
func (s *scope) boolExpr(b *pg.BoolExpr) (*expr, error) {
	var args []*expr
	for _, n := range b.Args {
		x, err := s.expr(n)
		if err != nil {
			return nil, err
		}
		if x, err = s.b.truth(x, b.Boolop.String()[:3]); err != nil {
			return nil, at(err, b.Location)
		}
		args = append(args, x)
	}
	op := b.Boolop
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		if err := e.run.step(1); err != nil {
			return nil, err
		}
		if op == pg.BoolExprType_NOT_EXPR {
			v, err := args[0].eval(e)
			if v == nil || err != nil {
				return nil, err
			}
			return v != true, nil
		}
		// AND stops at false, OR at true; NULL is neither.
		stop := op == pg.BoolExprType_OR_EXPR
		unknown := false
		for _, a := range args {
			v, err := a.eval(e)
			if err != nil {
				return nil, err
			}
			if v == stop {
				return stop, nil
			}
			unknown = unknown || v == nil
		}
		if unknown {
			return nil, nil
		}
		return !stop, nil
	}}, nil
}

// nullTest binds IS NULL and IS NOT NULL.
func (s *scope) nullTest(t *pg.NullTest) (*expr, error) {
	x, err := s.expr(t.Arg)
	if err != nil {
		return nil, err
	}
	isNull := t.Nulltesttype == pg.NullTestType_IS_NULL
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		v, err := x.eval(e)
		if err != nil {
			return nil, err
		}
		if r, ok := v.(*record); ok {
			// A row is NULL where all fields are, and not NULL where none is.
			for _, f := range r.vals {
				if (f == nil) != isNull {
					return false, nil
				}
			}
			return true, e.run.step(len(r.vals))
		}
		return (v == nil) == isNull, nil
	}}, nil
}

// booleanTest binds IS TRUE and its kin.
func (s *scope) booleanTest(t *pg.BooleanTest) (*expr, error) {
	x, err := s.expr(t.Arg)
	if err != nil {
		return nil, err
	}
	if x, err = s.b.truth(x, "IS TRUE"); err != nil {
		return nil, at(err, t.Location)
	}
	kind := t.Booltesttype
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		v, err := x.eval(e)
		if err != nil {
			return nil, err
		}
		switch kind {
		case pg.BoolTestType_IS_TRUE:
			return v == true, nil
		case pg.BoolTestType_IS_NOT_TRUE:
			return v != true, nil
		case pg.BoolTestType_IS_FALSE:
			return v == false, nil
		case pg.BoolTestType_IS_NOT_FALSE:
			return v != false, nil
		case pg.BoolTestType_IS_UNKNOWN:
			return v == nil, nil
		}
		return v != nil, nil
	}}, nil
}

package interpret

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// truth makes a boolean of an expression that must be one.
func (b *binder) truth(x *expr, where string) (*expr, error) {
	if x.untyped() {
		return b.coerce(x, oid.Bool)
	}
	if x.typ != oid.Bool {
		return nil, Fail("42804", "argument of %s must be type boolean, not type %s", strings.TrimRight(where, "_"), b.r.nameType(x.typ))
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

// boolExpr binds AND, OR and NOT.
func (s *scope) boolExpr(b *pg.BoolExpr) (*expr, error) {
	var args []*expr
	for _, n := range b.Args {
		x, err := s.expr(n)
		if err != nil {
			return nil, err
		}
		if x, err = s.b.truth(x, b.Boolop.String()[:3]); err != nil {
			return nil, locate(err, b.Location)
		}
		args = append(args, x)
	}
	not, stop := b.Boolop == pg.BoolExprType_NOT_EXPR, b.Boolop == pg.BoolExprType_OR_EXPR
	return &expr{typ: oid.Bool, eval: func(e *env) (datum.Value, error) {
		v, err := e.run.decide(len(args), stop, func(i int) (datum.Value, error) { return args[i].eval(e) })
		return negate(v, not), err
	}}, nil
}

// nullTest binds IS NULL and IS NOT NULL.
func (s *scope) nullTest(t *pg.NullTest) (*expr, error) {
	x, err := s.expr(t.Arg)
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

// booleanTest binds IS TRUE and its kin.
func (s *scope) booleanTest(t *pg.BooleanTest) (*expr, error) {
	x, err := s.expr(t.Arg)
	if err != nil {
		return nil, err
	}
	if x, err = s.b.truth(x, "IS TRUE"); err != nil {
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

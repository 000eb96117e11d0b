package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// anyAll binds x op ANY (array) and x op ALL (array).
func (b *binder) anyAll(op string, l, r *expr, all bool) (*expr, error) {
	var err error
	noArray := Fail("42809", "op ANY/ALL (array) requires array on right side")
	if r.untyped() {
		t := l.typ
		if l.untyped() {
			t = oid.Text
		}
		list := oid.ArrayOf(operand(t))
		if list == 0 {
			return nil, noArray
		}
		if r, err = b.coerce(r, list); err != nil {
			return nil, err
		}
	}
	el := oid.Elem(r.typ)
	if r.typ == oid.AnyArray {
		el = oid.Text
	}
	if el == 0 {
		return nil, noArray
	}
	if l.untyped() {
		if l, err = b.coerce(l, operand(el)); err != nil {
			return nil, err
		}
	}
	var left, item datum.Value
	test, err := b.binary(op, l.held(&left), (&expr{typ: el}).held(&item))
	if err != nil {
		return nil, err
	}
	if test.typ != oid.Bool {
		return nil, Fail("42809", "op ANY/ALL (array) requires operator to yield boolean")
	}
	return &expr{typ: oid.Bool, eval: func(e *env) (datum.Value, error) {
		v, err := l.eval(e)
		if err != nil {
			return nil, err
		}
		a, err := r.eval(e)
		if a == nil || err != nil {
			return nil, err
		}
		list, _ := a.(datum.List)
		return e.run.decide(len(list), !all, func(i int) (datum.Value, error) {
			left, item = v, list[i]
			return test.eval(e)
		})
	}}, nil
}

// inList binds IN and NOT IN with a list.
func (s *scope) inList(a *pg.A_Expr, op string) (*expr, error) {
	l, err := s.expr(a.Lexpr)
	if err != nil {
		return nil, err
	}
	list, err := s.exprs(a.Rexpr.GetList().GetItems())
	if err != nil {
		return nil, err
	}
	if l.untyped() {
		t, err := s.b.common(append([]*expr{l}, list...), "IN")
		if err != nil {
			return nil, err
		}
		if t == oid.Unknown {
			t = oid.Text
		}
		if l, err = s.b.coerce(l, t); err != nil {
			return nil, err
		}
	}
	var tests []*expr
	for _, x := range list {
		t, err := s.b.comparison("=", l, x)
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	not := op == "<>"
	return &expr{typ: oid.Bool, eval: func(e *env) (datum.Value, error) {
		v, err := e.run.decide(len(tests), true, func(i int) (datum.Value, error) { return tests[i].eval(e) })
		return negate(v, not), err
	}}, nil
}

// contains binds @>, <@ and && on arrays.
func (b *binder) contains(op string, l, r *expr) (*expr, error) {
	var err error
	if l.untyped() && oid.Elem(r.typ) != 0 {
		l, err = b.coerce(l, r.typ)
	} else if r.untyped() && oid.Elem(l.typ) != 0 {
		r, err = b.coerce(r, l.typ)
	}
	if err != nil {
		return nil, err
	}
	if oid.Elem(l.typ) == 0 || oid.Elem(r.typ) == 0 {
		return nil, b.noOperator(op, l, r)
	}
	if op == "<@" {
		l, r = r, l
	}
	return strict(oid.Bool, l, r, func(run *run, a, b datum.Value) (datum.Value, error) {
		x, y := a.(datum.List), b.(datum.List)
		if err := run.spend(len(x)+len(y)+datum.Weight(x)+datum.Weight(y), 48*len(x)+datum.Size(x)); err != nil {
			return nil, err
		}
		has := map[string]bool{}
		for _, i := range x {
			if i != nil {
				has[string(datum.Key(nil, i))] = true
			}
		}
		found := 0
		for _, i := range y {
			if i != nil && has[string(datum.Key(nil, i))] {
				found++
			}
		}
		return datum.Bool(op == "&&" && found > 0 || op != "&&" && found == len(y)), nil
	}), nil
}

package catalog

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// anyAll binds x op ANY (array) and x op ALL (array).
func (b *binder) anyAll(op string, l, r *expr, all bool) (*expr, error) {
	var err error
	noArray := fail("42809", "op ANY/ALL (array) requires array on right side")
	if r.untyped() {
		t := l.typ
		if l.untyped() {
			t = tText
		}
		list := arrayOf(operand(t))
		if list == 0 {
			return nil, noArray
		}
		if r, err = b.coerce(r, list); err != nil {
			return nil, err
		}
	}
	el := elem(r.typ)
	if r.typ == tAnyArray {
		el = tText
	}
	if el == 0 {
		return nil, noArray
	}
	var current any
	item := &expr{typ: el, eval: func(*env) (any, error) { return current, nil }}
	var left any
	if l.untyped() {
		if l, err = b.coerce(l, operand(el)); err != nil {
			return nil, err
		}
	}
	held := &expr{typ: l.typ, cols: l.cols, eval: func(*env) (any, error) { return left, nil }}
	test, err := b.binary(op, held, item)
	if err != nil {
		return nil, err
	}
	if test.typ != tBool {
		return nil, fail("42809", "op ANY/ALL (array) requires operator to yield boolean")
	}
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		v, err := l.eval(e)
		if err != nil {
			return nil, err
		}
		a, err := r.eval(e)
		if a == nil || err != nil {
			return nil, err
		}
		list, _ := a.([]any)
		unknown := false
		for _, x := range list {
			if _, nested := x.([]any); nested {
				return nil, unsupported("ANY of an array of arrays")
			}
			left, current = v, x
			if err := e.run.step(1); err != nil {
				return nil, err
			}
			t, err := test.eval(e)
			if err != nil {
				return nil, err
			}
			if t == nil {
				unknown = true
			} else if (t == true) != all {
				return !all, nil
			}
		}
		if unknown {
			return nil, nil
		}
		return all, nil
	}}, nil
}

// in binds IN and NOT IN with a list.
func (s *scope) in(a *pg.A_Expr, op string) (*expr, error) {
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
		if t == tUnknown {
			t = tText
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
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		unknown := false
		for _, t := range tests {
			if err := e.run.step(1); err != nil {
				return nil, err
			}
			v, err := t.eval(e)
			if err != nil {
				return nil, err
			}
			if v == true {
				return !not, nil
			}
			unknown = unknown || v == nil
		}
		if unknown {
			return nil, nil
		}
		return not, nil
	}}, nil
}

// contains binds @>, <@ and && on arrays.
func (b *binder) contains(op string, l, r *expr) (*expr, error) {
	var err error
	if l.untyped() && elem(r.typ) != 0 {
		l, err = b.coerce(l, r.typ)
	} else if r.untyped() && elem(l.typ) != 0 {
		r, err = b.coerce(r, l.typ)
	}
	if err != nil {
		return nil, err
	}
	if elem(l.typ) == 0 || elem(r.typ) == 0 {
		return nil, b.noOperator(op, l, r)
	}
	if op == "<@" {
		l, r = r, l
	}
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		v, err := evalAll(e, []*expr{l, r})
		if err != nil || v[0] == nil || v[1] == nil {
			return nil, err
		}
		x, _ := v[0].([]any)
		y, _ := v[1].([]any)
		has := map[string]bool{}
		for _, i := range x {
			if i != nil {
				has[string(key(nil, i))] = true
			}
		}
		if err := e.run.step(len(x) + len(y) + weight(v[0]) + weight(v[1])); err != nil {
			return nil, err
		}
		if err := e.run.take(48*len(x) + size(v[0])); err != nil {
			return nil, err
		}
		found := 0
		for _, i := range y {
			if i != nil && has[string(key(nil, i))] {
				found++
			}
		}
		if op == "&&" {
			return found > 0, nil
		}
		return found == len(y), nil
	}}, nil
}

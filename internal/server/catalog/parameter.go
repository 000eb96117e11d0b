package catalog

import (
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// parameter binds $n. It has no type until what is around it gives one, or the client has.
func (s *scope) parameter(p *pg.ParamRef) (*expr, error) {
	n := int(p.Number)
	if n < 1 || n > 1000 {
		return nil, at(fail("42P02", "there is no parameter $%d", n), p.Location)
	}
	b := s.b
	for len(b.params) < n {
		b.params = append(b.params, 0)
	}
	if t := b.params[n-1]; t != 0 && t != tUnknown {
		return b.typedParameter(n, t), nil
	}
	return &expr{typ: tUnknown, param: n, eval: func(e *env) (any, error) { return e.run.parameter(n, tText) }}, nil
}

// typedParameter is a parameter of a known type.
func (b *binder) typedParameter(n int, t uint32) *expr {
	return &expr{typ: base(t), eval: func(e *env) (any, error) { return e.run.parameter(n, base(t)) }}
}

// parameter is the value of a parameter, as a type.
func (r *run) parameter(n int, t uint32) (any, error) {
	if n > len(r.params) {
		return nil, fail("08P01", "there is no value for parameter $%d", n)
	}
	array := func(size int, item func(i int) (any, error)) (any, error) {
		if elem(t) == 0 {
			return nil, fail("42804", "parameter $%d is an array, and a %s is expected", n, r.c.formatType(t, -1))
		}
		out := make([]any, size)
		for i := range out {
			var err error
			if out[i], err = item(i); err != nil {
				return nil, err
			}
		}
		return r.list(out)
	}
	switch v := r.params[n-1].(type) {
	case nil:
		return nil, nil
	case string:
		return r.parse(v, t)
	case []string:
		return array(len(v), func(i int) (any, error) { return r.parse(v[i], elem(t)) })
	case int64:
		return r.cast(v, tInt8, t)
	case int32:
		return r.cast(int64(v), tInt8, t)
	case uint32:
		return r.cast(int64(v), tInt8, t)
	case float64:
		return r.cast(v, tFloat8, t)
	case bool:
		return r.cast(v, tBool, t)
	case time.Time:
		return r.cast(v, tTimestamptz, t)
	case []any:
		saved := r.params
		defer func() { r.params = saved }()
		return array(len(v), func(i int) (any, error) {
			if _, nested := v[i].([]any); nested {
				return nil, fail("0A000", "parameter $%d is an array of arrays", n)
			}
			r.params = []Value{v[i]}
			return r.parameter(1, elem(t))
		})
	}
	return nil, fail("42804", "parameter $%d is of an unknown kind", n)
}

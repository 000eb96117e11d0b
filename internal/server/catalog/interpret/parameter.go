package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// parameter binds $n. It has no type until what is around it gives one, or the client has.
func (s *scope) parameter(p *pg.ParamRef) (*expr, error) {
	n := int(p.Number)
	if n < 1 || n > 1000 {
		return nil, locate(Fail("42P02", "there is no parameter $%d", n), p.Location)
	}
	b := s.b
	for len(b.params) < n {
		b.params = append(b.params, 0)
	}
	if t := b.params[n-1]; t != 0 && t != oid.Unknown {
		return b.typedParameter(n, t), nil
	}
	return &expr{typ: oid.Unknown, param: n, eval: func(e *env) (datum.Value, error) { return e.run.parameter(n, oid.Text) }}, nil
}

// typedParameter is a parameter of a known type.
func (b *binder) typedParameter(n int, t uint32) *expr {
	return &expr{typ: oid.Base(t), eval: func(e *env) (datum.Value, error) { return e.run.parameter(n, oid.Base(t)) }}
}

// parameter is the value of a parameter, as a type.
func (r *run) parameter(n int, t uint32) (datum.Value, error) {
	if n > len(r.params) {
		return nil, Fail("08P01", "there is no value for parameter $%d", n)
	}
	switch v := r.params[n-1].(type) {
	case nil:
		return nil, nil
	case datum.Text:
		return r.parse(string(v), t)
	case datum.List:
		if oid.Elem(t) == 0 {
			return nil, Fail("42804", "parameter $%d is an array, and a %s is expected", n, r.nameType(t))
		}
		out := make(datum.List, len(v))
		for i, x := range v {
			text, ok := x.(datum.Text)
			if !ok {
				return nil, Fail("42804", "parameter $%d has an element that is no text", n)
			}
			var err error
			if out[i], err = r.parse(string(text), oid.Elem(t)); err != nil {
				return nil, err
			}
		}
		return r.list(out)
	case datum.Int:
		return r.cast(v, oid.Int8, t)
	case datum.Float:
		return r.cast(v, oid.Float8, t)
	case datum.Bool:
		return r.cast(v, oid.Bool, t)
	}
	return nil, Fail("42804", "parameter $%d is of an unknown kind", n)
}

package catalog

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// record is a composite value.
type record struct {
	cols []Column
	vals []any
	size int // see size
}

// record makes a composite value.
func (r *run) record(cols []Column, vals []any) (*record, error) {
	n := 48
	for _, v := range vals {
		n += 16 + size(v)
	}
	if n > maxValue {
		return nil, fail("54000", "a value is larger than %d bytes", maxValue)
	}
	if err := r.take(48); err != nil {
		return nil, err
	}
	return &record{cols: cols, vals: vals, size: n}, r.step(1 + len(vals)/16 + n/1024)
}

// row binds ROW(...).
func (s *scope) row(r *pg.RowExpr) (*expr, error) {
	args, err := s.exprs(r.Args)
	if err != nil {
		return nil, err
	}
	var cols []Column
	for i, a := range args {
		if a.untyped() {
			if a, err = s.b.coerce(a, tText); err != nil {
				return nil, err
			}
			args[i] = a
		}
		cols = append(cols, Column{"f" + itoa(uint32(i+1)), a.typ})
	}
	return &expr{typ: tRecord, cols: cols, eval: func(e *env) (any, error) {
		t, err := evalAll(e, args)
		if err != nil {
			return nil, err
		}
		return e.run.record(cols, t)
	}}, nil
}

// pick is a field of a record.
func pick(x *expr, i int) *expr {
	return &expr{typ: x.cols[i].OID, eval: func(e *env) (any, error) {
		v, err := x.eval(e)
		if err != nil {
			return nil, err
		}
		if r, ok := v.(*record); ok && i < len(r.vals) {
			return r.vals[i], nil
		}
		return nil, nil
	}}
}

// indirection is x.field, x[i] and x[i:j].
func (s *scope) indirection(arg *pg.Node, list []*pg.Node) (*expr, error) {
	x, err := s.expr(arg)
	if err != nil {
		return nil, err
	}
	subscripts := 0
	for _, n := range list {
		switch {
		case n.GetString_() != nil:
			name := n.GetString_().GetSval()
			found := -1
			for i, c := range x.cols {
				if c.Name == name {
					found = i
				}
			}
			if found < 0 || class(x.typ) != 'r' {
				return nil, fail("42703", "column %q not found in data type %s", clip(name), s.b.c.formatType(x.typ, -1))
			}
			x = pick(x, found)
		case n.GetAIndices() != nil:
			if subscripts++; subscripts > 6 {
				return nil, fail("54000", "number of array dimensions exceeds the maximum allowed (6)")
			}
			if x, err = s.subscript(x, n.GetAIndices()); err != nil {
				return nil, err
			}
		default:
			return nil, unsupported("this indirection")
		}
	}
	return x, nil
}

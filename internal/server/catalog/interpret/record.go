package interpret

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// row binds ROW(...).
func (s *scope) row(r *pg.RowExpr) (*expr, error) {
	args, err := s.exprs(r.Args)
	if err != nil {
		return nil, err
	}
	var cols []datum.Column
	for i, a := range args {
		if a, err = s.b.settled(a); err != nil {
			return nil, err
		}
		args[i] = a
		cols = append(cols, datum.Column{Name: "f" + strconv.Itoa(i+1), OID: a.typ})
	}
	row := compute(oid.Record, args, func(r *run, t datum.Tuple) (datum.Value, error) { return r.record(cols, t) })
	row.cols = cols
	return row, nil
}

// pick is a field of a record.
func pick(x *expr, i int) *expr {
	return &expr{typ: x.cols[i].OID, eval: func(e *env) (datum.Value, error) {
		v, err := x.eval(e)
		if err != nil {
			return nil, err
		}
		if r, ok := v.(*datum.Record); ok && i < len(r.Values) {
			return r.Values[i], nil
		}
		return nil, nil
	}}
}

// indirection is x.field and x[i].
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
			if found < 0 || oid.KindOf(x.typ) != oid.KindRecord {
				return nil, Fail("42703", "column %q not found in data type %s", clip(name), s.b.r.nameType(x.typ))
			}
			x = pick(x, found)
		case n.GetAIndices() != nil:
			if subscripts++; subscripts > 6 {
				return nil, Fail("54000", "number of array dimensions exceeds the maximum allowed (6)")
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

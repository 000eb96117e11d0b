package interpret

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// array binds ARRAY[...]. Its elements get their common type, or that of the elements of the array
// type t where it is cast to one.
func (b exprBinder) array(a *pg.A_ArrayExpr, t uint32) (*expr, error) {
	args, err := b.exprs(a.Elements)
	if err != nil {
		return nil, err
	}
	if t != 0 {
		for i, x := range args {
			if oid.Elem(x.typ) != 0 {
				return nil, locate(unsupported("an array of arrays"), a.Location)
			}
			if args[i], err = b.types.cast(x, oid.Elem(t)); err != nil {
				return nil, locate(err, a.Location)
			}
		}
		return list(t, args), nil
	}
	if len(args) == 0 {
		return untypedLiteral("{}"), nil
	}
	el, err := b.types.unify(args, "ARRAY")
	if err != nil {
		return nil, locate(err, a.Location)
	}
	if oid.Elem(el) != 0 {
		return nil, locate(unsupported("an array of arrays"), a.Location)
	}
	if t = oid.ArrayOf(el); t == 0 {
		return nil, locate(b.types.noArray(el), a.Location)
	}
	return list(t, args), nil
}

func list(t uint32, args []*expr) *expr {
	return compute(t, args, func(r *run, t datum.Tuple) (datum.Value, error) { return r.list(datum.List(t)) })
}

// noArray says that there are no arrays of a type.
func (b *typeBinder) noArray(t uint32) error {
	return Fail("42704", "could not find array type for data type %s", b.run.nameType(t))
}

func (b exprBinder) subscript(x *expr, ix *pg.A_Indices) (*expr, error) {
	var err error
	if x.untyped() {
		if x, err = b.types.coerce(x, oid.TextArray); err != nil {
			return nil, err
		}
	}
	t := oid.Elem(x.typ)
	if t == 0 {
		return nil, Fail("42804", "cannot subscript type %s because it does not support subscripting", b.types.run.nameType(x.typ))
	}
	if ix.IsSlice {
		return b.slice(x, ix)
	}
	if ix.Uidx == nil {
		return nil, unsupported("this subscript")
	}
	index, err := b.expr(ix.Uidx)
	if err == nil {
		index, err = b.types.coerce(index, oid.Int4)
	}
	if err != nil {
		return nil, err
	}
	first := datum.Int(firstIndex(x.typ))
	el := strict(t, x, index, func(r *run, a, n datum.Value) (datum.Value, error) {
		l, i := a.(datum.List), n.(datum.Int)-first
		if i < 0 || i >= datum.Int(len(l)) {
			return nil, nil
		}
		return l[i], r.step(1)
	})
	el.cols = x.cols
	return el, nil
}

// slice binds x[i:j]. Elements count from 1 in it; a side that is missing is the array's own.
func (b exprBinder) slice(x *expr, ix *pg.A_Indices) (*expr, error) {
	if oid.IsVector(x.typ) {
		return nil, unsupported("a slice of a vector")
	}
	args := []*expr{x}
	for _, n := range []*pg.Node{ix.Lidx, ix.Uidx} {
		if n == nil {
			args = append(args, &expr{typ: oid.Int4, eval: func(*env) (datum.Value, error) { return datum.Int(-1), nil }})
			continue
		}
		i, err := b.expr(n)
		if err == nil {
			i, err = b.types.coerce(i, oid.Int4)
		}
		if err != nil {
			return nil, err
		}
		args = append(args, i)
	}
	return compute(x.typ, args, func(r *run, v datum.Tuple) (datum.Value, error) {
		l, ok := v[0].(datum.List)
		if !ok || v[1] == nil || v[2] == nil {
			return nil, nil
		}
		from, to := int(v[1].(datum.Int)), int(v[2].(datum.Int))
		if ix.Lidx == nil {
			from = 1
		}
		if ix.Uidx == nil {
			to = len(l)
		}
		from, to = max(from, 1), min(to, len(l))
		if from > to {
			return datum.List{}, nil
		}
		return r.list(l[from-1 : to])
	}), nil
}

func (b exprBinder) row(r *pg.RowExpr) (*expr, error) {
	for _, a := range r.Args {
		if fields := a.GetColumnRef().GetFields(); len(fields) > 0 && fields[len(fields)-1].GetAStar() != nil {
			return nil, unsupported("ROW of all columns")
		}
	}
	args, err := b.exprs(r.Args)
	if err != nil {
		return nil, err
	}
	var cols []datum.Column
	for i, a := range args {
		if a, err = b.types.settled(a); err != nil {
			return nil, err
		}
		args[i] = a
		cols = append(cols, datum.Column{Name: "f" + strconv.Itoa(i+1), OID: a.typ})
	}
	row := compute(oid.Record, args, func(r *run, t datum.Tuple) (datum.Value, error) { return r.record(cols, t) })
	row.cols = cols
	return row, nil
}

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
func (b exprBinder) indirection(arg *pg.Node, list []*pg.Node) (*expr, error) {
	x, err := b.expr(arg)
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
				return nil, Fail("42703", "column %q not found in data type %s", clip(name), b.types.run.nameType(x.typ))
			}
			x = pick(x, found)
		case n.GetAIndices() != nil:
			if subscripts++; subscripts > 6 {
				return nil, Fail("54000", "number of array dimensions exceeds the maximum allowed (6)")
			}
			if x, err = b.subscript(x, n.GetAIndices()); err != nil {
				return nil, err
			}
		default:
			return nil, unsupported("this indirection")
		}
	}
	return x, nil
}

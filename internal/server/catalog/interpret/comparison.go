package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// comparable brings two sides to types that can be compared.
func (b *binder) comparable(l, r **expr, op string) error {
	var err error
	switch {
	case (*l).untyped() && (*r).untyped():
		if *l, err = b.coerce(*l, oid.Text); err != nil {
			return err
		}
		*r, err = b.coerce(*r, oid.Text)
		return err
	case (*l).untyped():
		*l, err = b.coerce(*l, operand((*r).typ))
		return err
	case (*r).untyped():
		*r, err = b.coerce(*r, operand((*l).typ))
		return err
	}
	lt, rt := (*l).typ, (*r).typ
	lc, rc := oid.KindOf(lt), oid.KindOf(rt)
	switch {
	case lt == rt:
		return nil
	case oid.IsString(lt) && oid.IsString(rt), lc == oid.KindTime && rc == oid.KindTime:
		return nil
	case (lc == oid.KindInt || lc == oid.KindFloat) && (rc == oid.KindInt || rc == oid.KindFloat):
		return nil
	case lc == oid.KindList && rc == oid.KindList:
		a, c := &expr{typ: oid.Elem(lt)}, &expr{typ: oid.Elem(rt)}
		if a.typ != 0 && c.typ != 0 && b.comparable(&a, &c, op) == nil {
			return nil
		}
	case lc == oid.KindRecord && rc == oid.KindRecord:
		return nil
	}
	return b.noOperator(op, *l, *r)
}

// operand is the type that a literal beside a type is read as.
func operand(t uint32) uint32 {
	if t == oid.Varchar || t == oid.Bpchar {
		return oid.Text
	}
	return t
}

// comparison binds = <> < <= > and >=. An equation is noted, so that a join can use it.
func (b *binder) comparison(op string, l, r *expr) (*expr, error) {
	if l.typ == oid.Record && r.typ == oid.Record && len(l.cols) != len(r.cols) {
		return nil, Fail("42601", "unequal number of entries in row expressions")
	}
	if err := b.comparable(&l, &r, op); err != nil {
		return nil, err
	}
	test := strict(oid.Bool, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
		if err := r.step(min(datum.Weight(x), datum.Weight(y))); err != nil {
			return nil, err
		}
		if p, ok := x.(*datum.Record); ok {
			if q, ok := y.(*datum.Record); ok {
				return compareRows(op, p.Values, q.Values), nil
			}
		}
		return datum.Bool(verdict(op, datum.Compare(x, y))), nil
	})
	if op == "=" && hashable(l.typ) && hashable(r.typ) {
		test.eq = &equation{l: l, r: r}
	}
	return test, nil
}

// hashable says whether equal values of a type have equal keys.
func hashable(t uint32) bool {
	switch oid.KindOf(t) {
	case oid.KindTime, oid.KindList, oid.KindRecord:
		return false
	}
	return true
}

// verdict is what a comparison says of the order of its sides.
func verdict(op string, c int) bool {
	switch op {
	case "=":
		return c == 0
	case "<>":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// compareRows compares rows with NULLs in them: it is unknown where a NULL could decide.
func compareRows(op string, a, b []datum.Value) datum.Value {
	unknown := false
	for i := range min(len(a), len(b)) {
		if a[i] == nil || b[i] == nil {
			if op != "=" && op != "<>" {
				return nil
			}
			unknown = true
			continue
		}
		if c := datum.Compare(a[i], b[i]); c != 0 {
			return datum.Bool(verdict(op, c))
		}
	}
	if unknown {
		return nil
	}
	return datum.Bool(verdict(op, 0))
}

// betweenExpr binds BETWEEN and NOT BETWEEN.
func (s *scope) betweenExpr(a *pg.A_Expr) (*expr, error) {
	x, err := s.expr(a.Lexpr)
	if err != nil {
		return nil, err
	}
	ends, err := s.exprs(a.Rexpr.GetList().GetItems())
	if err != nil {
		return nil, err
	}
	if len(ends) != 2 || a.Kind == pg.A_Expr_Kind_AEXPR_BETWEEN_SYM || a.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM {
		return nil, unsupported("BETWEEN SYMMETRIC")
	}
	lo, err := s.b.comparison(">=", x, ends[0])
	if err != nil {
		return nil, err
	}
	hi, err := s.b.comparison("<=", x, ends[1])
	if err != nil {
		return nil, err
	}
	not := a.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN
	return compute(oid.Bool, []*expr{lo, hi}, func(r *run, v datum.Tuple) (datum.Value, error) {
		both, err := r.decide(2, false, func(i int) (datum.Value, error) { return v[i], nil })
		return negate(both, not), err
	}), nil
}

package catalog

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// comparable brings two sides to types that can be compared.
func (b *binder) comparable(l, r **expr, op string) error {
	var err error
	switch {
	case (*l).untyped() && (*r).untyped():
		if *l, err = b.coerce(*l, tText); err != nil {
			return err
		}
		*r, err = b.coerce(*r, tText)
		return err
	case (*l).untyped():
		*l, err = b.coerce(*l, operand((*r).typ))
		return err
	case (*r).untyped():
		*r, err = b.coerce(*r, operand((*l).typ))
		return err
	}
	lt, rt := (*l).typ, (*r).typ
	lc, rc := class(lt), class(rt)
	switch {
	case lt == rt:
		return nil
	case isString(lt) && isString(rt), lc == 't' && rc == 't':
		return nil
	case lt == tRegclass && isString(rt) && rt != tName && rt != tChar, rt == tRegclass && isString(lt) && lt != tName && lt != tChar:
		// text goes into regclass by itself
		if lt == tRegclass {
			*r, err = b.cast(*r, tRegclass)
		} else {
			*l, err = b.cast(*l, tRegclass)
		}
		return err
	case (lc == 'n' || lc == 'f') && (rc == 'n' || rc == 'f'):
		return nil
	case lc == 'a' && rc == 'a':
		a, c := &expr{typ: elem(lt)}, &expr{typ: elem(rt)}
		if a.typ != 0 && c.typ != 0 && b.comparable(&a, &c, op) == nil {
			return nil
		}
	case lc == 'r' && rc == 'r':
		return nil
	}
	return b.noOperator(op, *l, *r)
}

// operand is the type that a literal beside a type is read as.
func operand(t uint32) uint32 {
	if t == tVarchar || t == tBpchar {
		return tText
	}
	return t
}

// comparison binds = <> < <= > and >=. An equation is noted, so that a join can use it.
func (b *binder) comparison(op string, l, r *expr) (*expr, error) {
	if l.typ == tRecord && r.typ == tRecord && len(l.cols) != len(r.cols) {
		return nil, fail("42601", "unequal number of entries in row expressions")
	}
	if err := b.comparable(&l, &r, op); err != nil {
		return nil, err
	}
	test := strict(tBool, l, r, func(r *run, x, y any) (any, error) {
		if err := r.step(min(weight(x), weight(y))); err != nil {
			return nil, err
		}
		if p, ok := x.(*record); ok {
			if q, ok := y.(*record); ok {
				return compareRows(op, p.vals, q.vals), nil
			}
		}
		return verdict(op, compare(x, y)), nil
	})
	if op == "=" && strings.IndexByte("nsbf", class(l.typ)) >= 0 && strings.IndexByte("nsbf", class(r.typ)) >= 0 {
		test.eq = &equation{l: l, r: r}
	}
	return test, nil
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
func compareRows(op string, a, b []any) any {
	unknown := false
	for i := range min(len(a), len(b)) {
		if a[i] == nil || b[i] == nil {
			if op != "=" && op != "<>" {
				return nil
			}
			unknown = true
			continue
		}
		if c := compare(a[i], b[i]); c != 0 {
			return verdict(op, c)
		}
	}
	if unknown {
		return nil
	}
	return verdict(op, 0)
}

// between binds BETWEEN and NOT BETWEEN.
func (s *scope) between(a *pg.A_Expr) (*expr, error) {
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
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		v, err := evalAll(e, []*expr{lo, hi})
		if err != nil {
			return nil, err
		}
		switch {
		case v[0] == false || v[1] == false:
			return not, nil
		case v[0] == nil || v[1] == nil:
			return nil, nil
		}
		return !not, nil
	}}, nil
}

package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// comparable brings two sides to types that can be compared.
func (b operatorBinder) comparable(l, r **expr, op string) error {
	var err error
	switch {
	case (*l).untyped() && (*r).untyped():
		if *l, err = b.types.coerce(*l, oid.Text); err != nil {
			return err
		}
		*r, err = b.types.coerce(*r, oid.Text)
		return err
	case (*l).untyped():
		*l, err = b.types.coerce(*l, operand((*r).typ))
		return err
	case (*r).untyped():
		*r, err = b.types.coerce(*r, operand((*l).typ))
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
func (b operatorBinder) comparison(op string, l, r *expr) (*expr, error) {
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
		if p, ok := x.(datum.List); ok && l.typ == oid.OidVector && len(p) != len(y.(datum.List)) {
			return datum.Bool(verdict(op, len(p)-len(y.(datum.List)))), nil // the shorter one is first
		}
		if l.typ == oid.Interval {
			return datum.Bool(verdict(op, compareSpans(x, y))), nil
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
	return t != oid.Interval
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

func (b exprBinder) betweenExpr(a *pg.A_Expr) (*expr, error) {
	x, err := b.expr(a.Lexpr)
	if err != nil {
		return nil, err
	}
	ends, err := b.exprs(a.Rexpr.GetList().GetItems())
	if err != nil {
		return nil, err
	}
	if len(ends) != 2 || a.Kind == pg.A_Expr_Kind_AEXPR_BETWEEN_SYM || a.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM {
		return nil, unsupported("BETWEEN SYMMETRIC")
	}
	lo, err := b.operators.comparison(">=", x, ends[0])
	if err != nil {
		return nil, err
	}
	hi, err := b.operators.comparison("<=", x, ends[1])
	if err != nil {
		return nil, err
	}
	not := a.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN
	return compute(oid.Bool, []*expr{lo, hi}, func(r *run, v datum.Tuple) (datum.Value, error) {
		both, err := r.decide(2, false, func(i int) (datum.Value, error) { return v[i], nil })
		return negate(both, not), err
	}), nil
}

// anyAll binds x op ANY (array) and x op ALL (array).
func (b operatorBinder) anyAll(op string, l, r *expr, all bool) (*expr, error) {
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
		if r, err = b.types.coerce(r, list); err != nil {
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
		if l, err = b.types.coerce(l, operand(el)); err != nil {
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
func (b exprBinder) inList(a *pg.A_Expr, op string) (*expr, error) {
	l, err := b.expr(a.Lexpr)
	if err != nil {
		return nil, err
	}
	list, err := b.exprs(a.Rexpr.GetList().GetItems())
	if err != nil {
		return nil, err
	}
	if l.untyped() {
		t, err := b.types.common(append([]*expr{l}, list...), "IN")
		if err != nil {
			return nil, err
		}
		if t == oid.Unknown {
			t = oid.Text
		}
		if l, err = b.types.coerce(l, t); err != nil {
			return nil, err
		}
	}
	var tests []*expr
	for _, x := range list {
		t, err := b.operators.comparison("=", l, x)
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
func (b operatorBinder) contains(op string, l, r *expr) (*expr, error) {
	var err error
	if l.untyped() && oid.Elem(r.typ) != 0 {
		l, err = b.types.coerce(l, r.typ)
	} else if r.untyped() && oid.Elem(l.typ) != 0 {
		r, err = b.types.coerce(r, l.typ)
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

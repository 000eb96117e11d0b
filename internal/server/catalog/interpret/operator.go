package interpret

import (
	"math"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// operator binds an operator, and what the grammar takes for one: IN, BETWEEN, IS DISTINCT FROM,
// NULLIF, ANY, LIKE.
func (s *scope) operator(a *pg.A_Expr) (*expr, error) {
	names := nameParts(a.Name)
	op := ""
	if len(names) > 0 {
		op = names[len(names)-1]
	}
	if len(names) > 1 && names[0] != "pg_catalog" {
		return nil, Fail("42883", "operator does not exist: %s", clip(strings.Join(names, ".")))
	}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_IN:
		return s.inList(a, op)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM,
		pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return s.betweenExpr(a)
	}
	l, lrefs, err := s.side(a.Lexpr)
	if err != nil {
		return nil, err
	}
	r, rrefs, err := s.side(a.Rexpr)
	if err != nil {
		return nil, err
	}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return s.b.anyAll(op, l, r, a.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL)
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		not := a.Kind == pg.A_Expr_Kind_AEXPR_NOT_DISTINCT
		if err := s.b.comparable(&l, &r, "="); err != nil {
			return nil, err
		}
		return compute(oid.Bool, []*expr{l, r}, func(_ *run, v datum.Tuple) (datum.Value, error) {
			return datum.Bool((datum.CompareNull(v[0], v[1]) == 0) == not), nil
		}), nil
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return s.b.nullIf(l, r)
	case pg.A_Expr_Kind_AEXPR_OP, pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE:
		x, err := s.b.binary(op, l, r)
		if err == nil && x.eq != nil {
			x.eq.lrefs, x.eq.rrefs = lrefs, rrefs
		}
		return x, err
	case pg.A_Expr_Kind_AEXPR_SIMILAR:
		return nil, unsupported("SIMILAR TO")
	}
	return nil, unsupported("this operator")
}

// side binds one side of an operator by itself, so that what it refers to is known.
func (s *scope) side(n *pg.Node) (x *expr, refs uint64, err error) {
	if n == nil {
		return nil, 0, nil
	}
	refs = s.referred(func() { x, err = s.expr(n) })
	s.refs |= refs
	return x, refs, err
}

// nullIf binds NULLIF.
func (b *binder) nullIf(l, r *expr) (*expr, error) {
	var err error
	if l.untyped() && !r.untyped() {
		if l, err = b.coerce(l, r.typ); err != nil {
			return nil, err
		}
	}
	was := l
	if err := b.comparable(&l, &r, "="); err != nil {
		return nil, err
	}
	if was.untyped() {
		was = l
	}
	return compute(was.typ, []*expr{was, l, r}, func(_ *run, v datum.Tuple) (datum.Value, error) {
		if v[1] != nil && v[2] != nil && datum.Compare(v[1], v[2]) == 0 {
			return nil, nil
		}
		return v[0], nil
	}), nil
}

// noOperator says that an operator does not take these types.
func (b *binder) noOperator(op string, l, r *expr) error {
	name := func(x *expr) string {
		if x == nil {
			return ""
		}
		return b.r.nameType(x.typ)
	}
	return hint(Fail("42883", "operator does not exist: %s", strings.TrimSpace(name(l)+" "+clip(op)+" "+name(r))),
		"No operator matches the given name and argument types. You might need to add explicit type casts.")
}

// strict is an expression of two others that is NULL where one of them is.
func strict(t uint32, l, r *expr, do func(r *run, x, y datum.Value) (datum.Value, error)) *expr {
	return &expr{typ: t, eval: func(e *env) (datum.Value, error) {
		x, err := l.eval(e)
		if x == nil || err != nil {
			return nil, err
		}
		y, err := r.eval(e)
		if y == nil || err != nil {
			return nil, err
		}
		return do(e.run, x, y)
	}}
}

// binary binds an operator with one or two sides; l is nil for a prefix operator.
func (b *binder) binary(op string, l, r *expr) (*expr, error) {
	if l == nil {
		return b.prefix(op, r)
	}
	switch op {
	case "=", "<>", "!=", "<", "<=", ">", ">=":
		if op == "!=" {
			op = "<>"
		}
		return b.comparison(op, l, r)
	case "~", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*":
		return b.matching(op, l, r)
	case "||":
		return b.concat(l, r)
	case "+", "-", "*", "/", "%", "&", "|", ">>":
		return b.arithmetic(op, l, r)
	case "@>", "<@", "&&":
		return b.contains(op, l, r)
	}
	return nil, b.noOperator(op, l, r)
}

// prefix binds an operator with a right side alone.
func (b *binder) prefix(op string, r *expr) (*expr, error) {
	if r.untyped() {
		var err error
		if r, err = b.coerce(r, oid.Float8); err != nil {
			return nil, err
		}
	}
	numeric := oid.IsInt(r.typ) || oid.KindOf(r.typ) == oid.KindFloat
	switch {
	case op == "+" && numeric:
		return r, nil
	case op == "-" && numeric:
		return &expr{typ: r.typ, eval: func(e *env) (datum.Value, error) {
			v, err := r.eval(e)
			switch v := v.(type) {
			case datum.Int:
				if v == math.MinInt64 {
					return nil, Fail("22003", "bigint out of range")
				}
				return checkRange(-v, r.typ)
			case datum.Float:
				return -v, err
			}
			return nil, err
		}}, nil
	}
	return nil, b.noOperator(op, nil, r)
}

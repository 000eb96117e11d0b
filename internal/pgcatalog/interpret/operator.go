package interpret

import (
	"math"
	"strings"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// operatorBinder binds operators by the types of their sides.
type operatorBinder struct{ types *typeBinder }

// operator binds an operator, and what the grammar takes for one: IN, BETWEEN, IS DISTINCT FROM,
// NULLIF, ANY, LIKE.
func (b exprBinder) operator(a *pg.A_Expr) (*expr, error) {
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
		return b.inList(a, op)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM,
		pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return b.betweenExpr(a)
	}
	l, lrefs, err := b.side(a.Lexpr)
	if err != nil {
		return nil, err
	}
	r, rrefs, err := b.side(a.Rexpr)
	if err != nil {
		return nil, err
	}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return b.operators.anyAll(op, l, r, a.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL)
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		not := a.Kind == pg.A_Expr_Kind_AEXPR_NOT_DISTINCT
		if err := b.operators.comparable(&l, &r, "="); err != nil {
			return nil, err
		}
		return compute(oid.Bool, []*expr{l, r}, func(_ *run, v datum.Tuple) (datum.Value, error) {
			return datum.Bool((datum.CompareNull(v[0], v[1]) == 0) == not), nil
		}), nil
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return b.operators.nullIf(l, r)
	case pg.A_Expr_Kind_AEXPR_OP, pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE:
		x, err := b.operators.binary(op, l, r)
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
func (b exprBinder) side(n *pg.Node) (x *expr, refs uint64, err error) {
	if n == nil {
		return nil, 0, nil
	}
	refs = b.scope.referred(func() { x, err = b.expr(n) })
	b.scope.refs |= refs
	return x, refs, err
}

func (b operatorBinder) nullIf(l, r *expr) (*expr, error) {
	var err error
	if l.untyped() && !r.untyped() {
		if l, err = b.types.coerce(l, r.typ); err != nil {
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

// noOperator says that an operator does not take these types, or where PostgreSQL's does, why it is
// not answered.
func (b operatorBinder) noOperator(op string, l, r *expr) error {
	if o := listedOperator(op, l, r); o != nil {
		return refused(signature(o), o.Why())
	}
	name := func(x *expr) string {
		if x == nil {
			return ""
		}
		return b.types.run.nameType(x.typ)
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
func (b operatorBinder) binary(op string, l, r *expr) (*expr, error) {
	if l == nil {
		return b.prefix(op, r)
	}
	if x, err := b.documents(op, l, r); x != nil || err != nil {
		return x, err
	}
	if x := b.bitwise(op, l, r); x != nil {
		return x, nil
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
	case "+", "-", "*", "/", "%", "&", "|", ">>", "<<", "#":
		return b.arithmetic(op, l, r)
	case "^":
		return b.named("power", op, l, r)
	case "^@":
		return b.named("starts_with", op, l, r)
	case "@>", "<@", "&&":
		return b.contains(op, l, r)
	}
	return nil, b.noOperator(op, l, r)
}

// prefix binds an operator with a right side alone.
func (b operatorBinder) prefix(op string, r *expr) (*expr, error) {
	if r.untyped() {
		var err error
		if r, err = b.types.coerce(r, oid.Float8); err != nil {
			return nil, err
		}
	}
	numeric := oid.IsInt(r.typ) || oid.KindOf(r.typ) == oid.KindFloat
	switch {
	case op == "+" && numeric:
		return r, nil
	case op == "|/":
		return b.named("sqrt", op, nil, r)
	case op == "||/":
		return b.named("cbrt", op, nil, r)
	case op == "@" && numeric:
		return b.named("abs", op, nil, r)
	case op == "~" && oid.IsInt(r.typ):
		return strict(r.typ, r, r, func(_ *run, x, _ datum.Value) (datum.Value, error) { return ^x.(datum.Int), nil }), nil
	case op == "-" && r.typ == oid.Interval:
		return strict(r.typ, r, r, func(_ *run, x, _ datum.Value) (datum.Value, error) { return spanOf(x).times(-1).value(), nil }), nil
	case op == "-" && numeric:
		return &expr{typ: r.typ, eval: func(e *env) (datum.Value, error) {
			v, err := r.eval(e)
			switch v := v.(type) {
			case datum.Int:
				if v == math.MinInt64 {
					return nil, Fail("22003", "bigint out of range")
				}
				return checkRange(-v, r.typ)
			case datum.Numeric:
				return v.Negated(), err
			case datum.Float:
				return -v, err
			}
			return nil, err
		}}, nil
	}
	return nil, b.noOperator(op, nil, r)
}

// onValues are the functions that need no database.
var onValues = sync.OnceValue(func() Library { return NewLibrary(nil) })

// named binds an operator that a function of the library does.
func (b operatorBinder) named(function, op string, l, r *expr) (*expr, error) {
	args := []*expr{l, r}
	if l == nil {
		args = args[1:]
	}
	c, err := functionBinder{onValues(), b.types}.bindCall([]string{function}, args)
	if err != nil {
		return nil, b.noOperator(op, l, r)
	}
	return &expr{typ: c.typ, eval: c.eval}, nil
}

// arithmetic binds + - * / % and the operators on bits.
func (b operatorBinder) arithmetic(op string, l, r *expr) (*expr, error) {
	var err error
	switch {
	case l.untyped() && r.untyped():
		return nil, hint(Fail("42725", "operator is not unique: unknown %s unknown", op),
			"Could not choose a best candidate operator. You might need to add explicit type casts.")
	case l.untyped():
		l, err = b.types.coerce(l, r.typ)
	case r.untyped():
		r, err = b.types.coerce(r, l.typ)
	}
	if err != nil {
		return nil, err
	}
	if x, err := b.timeArithmetic(op, l, r); x != nil || err != nil {
		return x, err
	}
	if op == "-" && isMoment(l.typ) && l.typ == r.typ {
		return strict(oid.Interval, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
			return difference(y.(datum.Time), x.(datum.Time)), r.step(1)
		}), nil
	}
	t := arithmeticType(op, l.typ, r.typ)
	if t == 0 {
		return nil, b.noOperator(op, l, r)
	}
	return strict(t, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
		if err := r.step(1); err != nil {
			return nil, err
		}
		if oid.IsInt(t) {
			return computeInt(op, x.(datum.Int), y.(datum.Int), t)
		}
		if t == oid.Numeric {
			return computeNumeric(r, op, numeric(x), numeric(y))
		}
		v, err := computeFloat(op, float(x), float(y))
		if err != nil {
			return nil, err
		}
		return numberOf(v, t)
	}), nil
}

// arithmeticType is the type that an operator makes of two others, or 0.
func arithmeticType(op string, l, r uint32) uint32 {
	number := func(t uint32) uint32 {
		switch {
		case oid.IsInt(t) || oid.KindOf(t) == oid.KindFloat:
			return t
		case t == oid.Oid || oid.IsReg(t):
			return oid.Int8 // as near as one gets to what int4 and oid make
		}
		return 0
	}
	l, r = number(l), number(r)
	switch {
	case l == 0 || r == 0:
		return 0
	case oid.IsInt(l) && oid.IsInt(r):
		switch {
		case (op == ">>" || op == "<<") && r == oid.Int8:
			return 0
		case op == ">>" || op == "<<" || rank(l) >= rank(r):
			return l
		}
		return r
	case op == "&" || op == "|" || op == ">>" || op == "<<" || op == "#":
		return 0
	case l == oid.Float4 && r == oid.Float4:
		return oid.Float4
	case l == oid.Numeric && (oid.IsInt(r) || r == oid.Numeric), r == oid.Numeric && oid.IsInt(l):
		return oid.Numeric
	}
	return oid.Float8
}

// computeInt computes with integers, and refuses what leaves the type.
func computeInt(op string, p, q datum.Int, t uint32) (datum.Value, error) {
	over := func() error { return Fail("22003", "%s out of range", oid.Types(nil).Format(t, -1)) }
	var n datum.Int
	switch op {
	case "+":
		if n = p + q; (n > p) != (q > 0) {
			return nil, over()
		}
	case "-":
		if n = p - q; (n < p) != (q > 0) {
			return nil, over()
		}
	case "*":
		if n = p * q; p != 0 && (n/p != q || p == -1 && q == math.MinInt64) {
			return nil, over()
		}
	case "/", "%":
		switch {
		case q == 0:
			return nil, Fail("22012", "division by zero")
		case q == -1 && op == "%":
			n = 0
		case q == -1 && p == math.MinInt64:
			return nil, over()
		case op == "/":
			n = p / q
		default:
			n = p % q
		}
	case "&":
		n = p & q
	case "|":
		n = p | q
	case "#":
		n = p ^ q
	case "<<":
		return shifted(p, q, t), nil
	case ">>":
		if n = p >> (q & 31); t == oid.Int8 {
			n = p >> (q & 63)
		}
	}
	return checkRange(n, t)
}

func computeFloat(op string, p, q float64) (datum.Value, error) {
	var f float64
	switch op {
	case "+":
		f = p + q
	case "-":
		f = p - q
	case "*":
		f = p * q
	default:
		if q == 0 {
			return nil, Fail("22012", "division by zero")
		}
		if f = p / q; op == "%" {
			f = math.Mod(p, q)
		}
	}
	if math.IsInf(f, 0) && !math.IsInf(p, 0) && !math.IsInf(q, 0) {
		return nil, Fail("22003", "value out of range: overflow")
	}
	return datum.Float(f), nil
}

func float(v datum.Value) float64 {
	switch v := v.(type) {
	case datum.Int:
		return float64(v)
	case datum.Float:
		return float64(v)
	case datum.Numeric:
		return v.Float()
	}
	return 0
}

// concat binds || on texts, arrays, and an array and an element.
func (b operatorBinder) concat(l, r *expr) (*expr, error) {
	// A literal beside an array is one too where it looks like one.
	isList := func(x, other *expr) bool {
		return oid.Elem(x.typ) != 0 ||
			oid.Elem(other.typ) != 0 && (x.null || x.lit != nil && strings.HasPrefix(strings.TrimSpace(*x.lit), "{"))
	}
	if la, ra := isList(l, r), isList(r, l); la || ra {
		return b.concatLists(l, r, la, ra)
	}
	if !(oid.IsString(l.typ) || l.untyped() || oid.IsString(r.typ) || r.untyped()) {
		return nil, b.noOperator("||", l, r)
	}
	l, err := b.types.cast(l, oid.Text)
	if err != nil {
		return nil, err
	}
	if r, err = b.types.cast(r, oid.Text); err != nil {
		return nil, err
	}
	return strict(oid.Text, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
		return r.text(string(x.(datum.Text) + y.(datum.Text)))
	}), nil
}

// concatLists binds || on arrays, and on an array and an element.
func (b operatorBinder) concatLists(l, r *expr, la, ra bool) (*expr, error) {
	t := l.typ
	if oid.Elem(t) == 0 {
		t = r.typ
	}
	switch t {
	case oid.Int2Vector:
		t = oid.Int2Array
	case oid.OidVector:
		t = oid.OidArray
	}
	args, lists := []*expr{l, r}, []bool{la, ra}
	for i, x := range args {
		to := t
		if !lists[i] {
			to = oid.Elem(t)
		}
		var err error
		if args[i], err = b.types.coerce(x, to); err != nil {
			if x.untyped() && lists[i] {
				return nil, err
			}
			return nil, b.noOperator("||", l, r)
		}
	}
	return compute(t, args, func(r *run, v datum.Tuple) (datum.Value, error) {
		if la && ra && v[0] == nil && v[1] == nil {
			return nil, nil
		}
		var out datum.List
		for i, x := range v {
			if list, ok := x.(datum.List); ok {
				out = append(out, list...)
			} else if !lists[i] {
				out = append(out, x)
			}
		}
		return r.list(out)
	}), nil
}

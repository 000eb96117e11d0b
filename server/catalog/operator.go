package catalog

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
)

func (s *scope) operator(a *pg.A_Expr) (*expr, error) {
	names := nameOf(a.Name)
	op := ""
	if len(names) > 0 {
		op = names[len(names)-1]
	}
	if len(names) > 1 && names[0] != "pg_catalog" {
		return nil, fail("42883", "operator does not exist: %s", clip(strings.Join(names, ".")))
	}
	// Each side is bound by itself, so that what it refers to is known.
	side := func(n *pg.Node) (*expr, uint64, error) {
		if n == nil {
			return nil, 0, nil
		}
		saved := s.refs
		s.refs = 0
		x, err := s.expr(n)
		refs := s.refs
		s.refs |= saved
		return x, refs, err
	}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_IN:
		return s.in(a, op)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return s.between(a)
	}
	l, lrefs, err := side(a.Lexpr)
	if err != nil {
		return nil, err
	}
	r, rrefs, err := side(a.Rexpr)
	if err != nil {
		return nil, err
	}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return s.b.anyAll(op, l, r, a.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL)
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		if err := s.b.comparable(&l, &r, "="); err != nil {
			return nil, err
		}
		not := a.Kind == pg.A_Expr_Kind_AEXPR_NOT_DISTINCT
		return &expr{typ: tBool, eval: func(e *env) (any, error) {
			v, err := evalAll(e, []*expr{l, r})
			if err != nil {
				return nil, err
			}
			return (compareNull(v[0], v[1]) == 0) == not, nil
		}}, nil
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		if l.untyped() && !r.untyped() {
			if l, err = s.b.coerce(l, r.typ); err != nil {
				return nil, err
			}
		}
		was := l
		if err := s.b.comparable(&l, &r, "="); err != nil {
			return nil, err
		}
		if was.untyped() {
			was = l
		}
		return &expr{typ: was.typ, eval: func(e *env) (any, error) {
			v, err := evalAll(e, []*expr{was, l, r})
			if err != nil {
				return nil, err
			}
			if v[1] != nil && v[2] != nil && compare(v[1], v[2]) == 0 {
				return nil, nil
			}
			return v[0], nil
		}}, nil
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

func (b *binder) noOperator(op string, l, r *expr) error {
	name := func(x *expr) string {
		if x == nil {
			return ""
		}
		return b.c.formatType(x.typ, -1)
	}
	return hint(fail("42883", "operator does not exist: %s", strings.TrimSpace(name(l)+" "+clip(op)+" "+name(r))), "No operator matches the given name and argument types. You might need to add explicit type casts.")
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
	case "+", "-", "*", "/", "%", "&", "|", "#", "<<", ">>", "^":
		return b.arithmetic(op, l, r)
	case "@>", "<@", "&&":
		return b.contains(op, l, r)
	}
	return nil, b.noOperator(op, l, r)
}

func (b *binder) prefix(op string, r *expr) (*expr, error) {
	if r.untyped() {
		var err error
		if r, err = b.coerce(r, tFloat8); err != nil {
			return nil, err
		}
	}
	numeric := isInt(r.typ) || class(r.typ) == 'f'
	switch {
	case op == "+" && numeric:
		return r, nil
	case op == "-" && numeric:
		return &expr{typ: r.typ, fixed: r.fixed, eval: func(e *env) (any, error) {
			v, err := r.eval(e)
			switch v := v.(type) {
			case int64:
				if v == math.MinInt64 {
					return nil, fail("22003", "bigint out of range")
				}
				return inRange(-v, r.typ)
			case float64:
				return -v, err
			}
			return nil, err
		}}, nil
	case op == "~" && isInt(r.typ):
		return &expr{typ: r.typ, eval: func(e *env) (any, error) {
			v, err := r.eval(e)
			if n, ok := v.(int64); ok {
				return ^n, err
			}
			return nil, err
		}}, nil
	}
	return nil, b.noOperator(op, nil, r)
}

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
	case lt == rt && lc == 's':
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

func (b *binder) comparison(op string, l, r *expr) (*expr, error) {
	if l.typ == tRecord && r.typ == tRecord && len(l.cols) != len(r.cols) {
		return nil, fail("42601", "unequal number of entries in row expressions")
	}
	if err := b.comparable(&l, &r, op); err != nil {
		return nil, err
	}
	x := &expr{typ: tBool, eval: func(e *env) (any, error) {
		a, err := l.eval(e)
		if a == nil || err != nil {
			return nil, err
		}
		c, err := r.eval(e)
		if c == nil || err != nil {
			return nil, err
		}
		if err := e.run.step(min(weight(a), weight(c))); err != nil {
			return nil, err
		}
		if p, ok := a.(*record); ok {
			if q, ok := c.(*record); ok {
				return compareRows(op, p.vals, q.vals), nil
			}
		}
		return verdict(op, compare(a, c)), nil
	}}
	if op == "=" && strings.IndexByte("nsbf", class(l.typ)) >= 0 && strings.IndexByte("nsbf", class(r.typ)) >= 0 {
		x.eq = &equation{l: l, r: r}
	}
	return x, nil
}

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

func (b *binder) anyAll(op string, l, r *expr, all bool) (*expr, error) {
	var err error
	if r.untyped() {
		t := l.typ
		if l.untyped() {
			t = tText
		}
		list := arrayOf(operand(t))
		if list == 0 {
			return nil, fail("42809", "op ANY/ALL (array) requires array on right side")
		}
		if r, err = b.coerce(r, list); err != nil {
			return nil, err
		}
	}
	el := elem(r.typ)
	if r.typ == tAnyArray {
		el = tText
	}
	if el == 0 {
		return nil, fail("42809", "op ANY/ALL (array) requires array on right side")
	}
	var current any
	item := &expr{typ: el, eval: func(*env) (any, error) { return current, nil }}
	var left any
	if l.untyped() {
		if l, err = b.coerce(l, operand(el)); err != nil {
			return nil, err
		}
	}
	held := &expr{typ: l.typ, cols: l.cols, eval: func(*env) (any, error) { return left, nil }}
	test, err := b.binary(op, held, item)
	if err != nil {
		return nil, err
	}
	if test.typ != tBool {
		return nil, fail("42809", "op ANY/ALL (array) requires operator to yield boolean")
	}
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		v, err := l.eval(e)
		if err != nil {
			return nil, err
		}
		a, err := r.eval(e)
		if a == nil || err != nil {
			return nil, err
		}
		list, _ := a.([]any)
		unknown := false
		for _, x := range list {
			if _, nested := x.([]any); nested {
				return nil, unsupported("ANY of an array of arrays")
			}
			left, current = v, x
			if err := e.run.step(1); err != nil {
				return nil, err
			}
			t, err := test.eval(e)
			if err != nil {
				return nil, err
			}
			if t == nil {
				unknown = true
			} else if (t == true) != all {
				return !all, nil
			}
		}
		if unknown {
			return nil, nil
		}
		return all, nil
	}}, nil
}

func (s *scope) in(a *pg.A_Expr, op string) (*expr, error) {
	l, err := s.expr(a.Lexpr)
	if err != nil {
		return nil, err
	}
	list, err := s.exprs(a.Rexpr.GetList().GetItems())
	if err != nil {
		return nil, err
	}
	if l.untyped() {
		t, err := s.b.common(append([]*expr{l}, list...), "IN")
		if err != nil {
			return nil, err
		}
		if t == tUnknown {
			t = tText
		}
		if l, err = s.b.coerce(l, t); err != nil {
			return nil, err
		}
	}
	var tests []*expr
	for _, x := range list {
		t, err := s.b.comparison("=", l, x)
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	not := op == "<>"
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		unknown := false
		for _, t := range tests {
			if err := e.run.step(1); err != nil {
				return nil, err
			}
			v, err := t.eval(e)
			if err != nil {
				return nil, err
			}
			if v == true {
				return !not, nil
			}
			unknown = unknown || v == nil
		}
		if unknown {
			return nil, nil
		}
		return not, nil
	}}, nil
}

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

func (b *binder) concat(l, r *expr) (*expr, error) {
	var err error
	la, ra := elem(l.typ) != 0, elem(r.typ) != 0
	switch {
	case la && r.untyped() && r.lit != nil && strings.HasPrefix(strings.TrimSpace(*r.lit), "{"), la && r.null:
		if r, err = b.coerce(r, l.typ); err != nil {
			return nil, err
		}
		ra = true
	case ra && l.untyped() && l.lit != nil && strings.HasPrefix(strings.TrimSpace(*l.lit), "{"), ra && l.null:
		if l, err = b.coerce(l, r.typ); err != nil {
			return nil, err
		}
		la = true
	}
	if la || ra {
		t := l.typ
		if !la {
			t = r.typ
		}
		switch t {
		case tInt2Vector:
			t = tInt2Array
		case tOidVector:
			t = tOidArray
		}
		for _, side := range []**expr{&l, &r} {
			to := t
			if elem((*side).typ) == 0 {
				to = elem(t)
			}
			if *side, err = b.coerce(*side, to); err != nil {
				return nil, b.noOperator("||", l, r)
			}
		}
		return &expr{typ: t, eval: func(e *env) (any, error) {
			v, err := evalAll(e, []*expr{l, r})
			if err != nil {
				return nil, err
			}
			var out []any
			for i, isList := range []bool{la, ra} {
				if isList {
					list, _ := v[i].([]any)
					out = append(out, list...)
				} else {
					out = append(out, v[i])
				}
			}
			if la && ra && v[0] == nil && v[1] == nil {
				return nil, nil
			}
			return e.run.list(out)
		}}, nil
	}
	if !(isString(l.typ) || l.untyped() || isString(r.typ) || r.untyped()) {
		return nil, b.noOperator("||", l, r)
	}
	if l, err = b.cast(l, tText); err != nil {
		return nil, err
	}
	if r, err = b.cast(r, tText); err != nil {
		return nil, err
	}
	return &expr{typ: tText, eval: func(e *env) (any, error) {
		x, err := l.eval(e)
		if x == nil || err != nil {
			return nil, err
		}
		y, err := r.eval(e)
		if y == nil || err != nil {
			return nil, err
		}
		p, _ := x.(string)
		q, _ := y.(string)
		if len(p)+len(q) > maxString {
			return nil, fail("54000", "a text is longer than %d bytes", maxString)
		}
		return e.run.text(p + q)
	}}, nil
}

func (b *binder) contains(op string, l, r *expr) (*expr, error) {
	var err error
	if l.untyped() && elem(r.typ) != 0 {
		l, err = b.coerce(l, r.typ)
	} else if r.untyped() && elem(l.typ) != 0 {
		r, err = b.coerce(r, l.typ)
	}
	if err != nil {
		return nil, err
	}
	if elem(l.typ) == 0 || elem(r.typ) == 0 {
		return nil, b.noOperator(op, l, r)
	}
	if op == "<@" {
		l, r = r, l
	}
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		v, err := evalAll(e, []*expr{l, r})
		if err != nil || v[0] == nil || v[1] == nil {
			return nil, err
		}
		x, _ := v[0].([]any)
		y, _ := v[1].([]any)
		has := map[string]bool{}
		for _, i := range x {
			if i != nil {
				has[string(key(nil, i))] = true
			}
		}
		if err := e.run.step(len(x) + len(y) + weight(v[0]) + weight(v[1])); err != nil {
			return nil, err
		}
		if err := e.run.take(48*len(x) + size(v[0])); err != nil {
			return nil, err
		}
		found := 0
		for _, i := range y {
			if i != nil && has[string(key(nil, i))] {
				found++
			}
		}
		if op == "&&" {
			return found > 0, nil
		}
		return found == len(y), nil
	}}, nil
}

func (b *binder) arithmetic(op string, l, r *expr) (*expr, error) {
	var err error
	if l.untyped() && r.untyped() {
		return nil, hint(fail("42725", "operator is not unique: unknown %s unknown", op), "Could not choose a best candidate operator. You might need to add explicit type casts.")
	}
	if l.untyped() {
		l, err = b.coerce(l, r.typ)
	} else if r.untyped() {
		r, err = b.coerce(r, l.typ)
	}
	if err != nil {
		return nil, err
	}
	if class(l.typ) == 't' && class(r.typ) == 't' && op == "-" {
		return &expr{typ: tInterval, eval: func(e *env) (any, error) {
			v, err := evalAll(e, []*expr{l, r})
			if err != nil || v[0] == nil || v[1] == nil {
				return nil, err
			}
			x, _ := v[0].(time.Time)
			y, _ := v[1].(time.Time)
			return formatInterval(x.Sub(y)), nil
		}}, nil
	}
	kind := func(t uint32) (uint32, bool) {
		switch {
		case isInt(t) || class(t) == 'f':
			return t, true
		case t == tOid || isReg(t):
			return tInt8, true // as near as one gets to what int4 and oid make
		}
		return 0, false
	}
	lt, lok := kind(l.typ)
	rt, rok := kind(r.typ)
	if !lok || !rok {
		return nil, b.noOperator(op, l, r)
	}
	var t uint32
	switch {
	case isInt(lt) && isInt(rt):
		t = lt
		if rank(rt) > rank(lt) {
			t = rt
		}
		if (op == "<<" || op == ">>") && isInt(lt) {
			t = lt
		}
		if op == "^" {
			t = tFloat8
		}
	case lt == tNumeric && (isInt(rt) || rt == tNumeric), rt == tNumeric && isInt(lt):
		t = tNumeric
	default:
		t = tFloat8
	}
	if class(t) == 'f' && strings.Contains("&|#<<>>", op) {
		return nil, b.noOperator(op, l, r)
	}
	whole := isInt(t)
	return &expr{typ: t, fixed: l.fixed && r.fixed, eval: func(e *env) (any, error) {
		x, err := l.eval(e)
		if x == nil || err != nil {
			return nil, err
		}
		y, err := r.eval(e)
		if y == nil || err != nil {
			return nil, err
		}
		if err := e.run.step(1); err != nil {
			return nil, err
		}
		if whole {
			p, _ := x.(int64)
			q, _ := y.(int64)
			return wholeArithmetic(op, p, q, t)
		}
		return realArithmetic(op, toFloat(x), toFloat(y), t)
	}}, nil
}

func formatInterval(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	base := time.Time{}.Add(d % (24 * time.Hour)).Format("15:04:05.999999")
	if days := int64(d / (24 * time.Hour)); days > 0 {
		return sign + itoa(uint32(days)) + " days " + sign + base
	}
	return sign + base
}

func wholeArithmetic(op string, p, q int64, t uint32) (any, error) {
	over := func() error { return fail("22003", "%s out of range", sqlNames[t]) }
	var n int64
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
		if q == 0 {
			return nil, fail("22012", "division by zero")
		}
		switch {
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
	case "<<", ">>":
		bits := int64(32)
		if t == tInt8 {
			bits = 64
		}
		q &= bits - 1
		if op == ">>" {
			n = p >> q
		} else if n = p << q; bits == 32 {
			n = int64(int32(n))
			if t == tInt2 {
				n = int64(int16(n))
			}
		}
	}
	return inRange(n, t)
}

func realArithmetic(op string, p, q float64, t uint32) (any, error) {
	var f float64
	switch op {
	case "+":
		f = p + q
	case "-":
		f = p - q
	case "*":
		f = p * q
	case "/", "%":
		if q == 0 {
			return nil, fail("22012", "division by zero")
		}
		if op == "/" {
			f = p / q
		} else {
			f = math.Mod(p, q)
		}
	case "^":
		f = math.Pow(p, q)
	}
	if math.IsInf(f, 0) && !math.IsInf(p, 0) && !math.IsInf(q, 0) {
		return nil, fail("22003", "value out of range: overflow")
	}
	if t == tNumeric {
		// A numeric is kept as a double here, and shows the digits that a double is sure of.
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64)
	}
	return f, nil
}

// matching binds LIKE and the regular expressions.
func (b *binder) matching(op string, l, r *expr) (*expr, error) {
	for _, x := range []**expr{&l, &r} {
		if !(*x).untyped() && class((*x).typ) != 's' {
			return nil, b.noOperator(op, l, r)
		}
		var err error
		if *x, err = b.cast(*x, tText); err != nil {
			return nil, err
		}
	}
	not := strings.HasPrefix(op, "!")
	kind := strings.TrimPrefix(op, "!")
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		x, err := l.eval(e)
		if x == nil || err != nil {
			return nil, err
		}
		y, err := r.eval(e)
		if y == nil || err != nil {
			return nil, err
		}
		text, _ := x.(string)
		source, _ := y.(string)
		re, err := e.run.pattern(kind, source)
		if err != nil {
			return nil, err
		}
		if err := e.run.step(re.cost(text)); err != nil {
			return nil, err
		}
		return re.MatchString(text) != not, nil
	}}, nil
}

const (
	maxPattern      = 1000   // bytes
	maxInstructions = 10_000 // of a compiled pattern
)

// pattern is a compiled regular expression, and how many instructions it has.
type pattern struct {
	*regexp.Regexp
	instructions int
}

// cost is how many steps it takes to look for the pattern once: at worst, RE2 tries every instruction at every byte.
func (p *pattern) cost(text string) int { return 1 + len(text)*p.instructions/20 }

// costAll is cost for all places of a text: each may be looked for to the end.
func (p *pattern) costAll(text string) int { return (1 + len(text)) * p.cost(text) }

// pattern compiles a pattern of LIKE (~~) or of POSIX (~), with * for any letter case.
func (r *run) pattern(kind, text string) (*pattern, error) {
	id := kind + " " + text
	if re := r.regexps[id]; re != nil {
		return re, nil
	}
	if len(text) > maxPattern {
		return nil, fail("54000", "a pattern is longer than %d bytes", maxPattern)
	}
	flags := "(?s"
	if strings.HasSuffix(kind, "*") {
		flags += "i"
	}
	var source string
	var err error
	if strings.HasPrefix(kind, "~~") {
		source, err = likeSource(text)
	} else {
		source, err = posixSource(text)
	}
	if err != nil {
		return nil, err
	}
	source = flags + ")" + source
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, fail("2201B", "invalid regular expression")
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, fail("2201B", "invalid regular expression")
	}
	n := len(program.Inst)
	if n > maxInstructions {
		return nil, fail("54000", "a pattern is too large")
	}
	if err := r.step(100 + 10*n); err != nil {
		return nil, err
	}
	if err := r.take(1000 + 300*n); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, fail("2201B", "invalid regular expression")
	}
	if r.regexps == nil {
		r.regexps = map[string]*pattern{}
	}
	p := &pattern{re, n}
	r.regexps[id] = p
	return p, nil
}

func likeSource(text string) (string, error) {
	var b strings.Builder
	b.WriteString("^(?:")
	escaped := false
	for _, c := range text {
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(c)))
			escaped = false
		case c == '\\':
			escaped = true
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if escaped {
		return "", fail("22025", "LIKE pattern must not end with escape character")
	}
	b.WriteString(")$")
	return b.String(), nil
}

// posixSource writes an expression of PostgreSQL as RE2 has it. What RE2 has no word for is refused.
func posixSource(text string) (string, error) {
	if rest, ok := strings.CutPrefix(text, "***="); ok {
		return regexp.QuoteMeta(rest), nil
	}
	if rest, ok := strings.CutPrefix(text, "***:"); ok {
		text = rest
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case '\\':
			i++
			if i >= len(text) {
				return "", fail("2201B", "invalid regular expression: invalid escape \\ sequence")
			}
			switch d := text[i]; d {
			case 'd', 'D', 'w', 'W', 's', 'S', 'A', 'B', 'n', 't', 'r', 'f', 'v':
				b.WriteByte('\\')
				b.WriteByte(d)
			case 'y':
				b.WriteString(`\b`)
			case 'Y':
				b.WriteString(`\B`)
			case 'm', 'M':
				b.WriteString(`\b`)
			case 'Z':
				b.WriteString(`\z`)
			default:
				if d >= '0' && d <= '9' || d >= 'a' && d <= 'z' || d >= 'A' && d <= 'Z' {
					return "", fail("2201B", "invalid regular expression: the escape \\%c is not supported", d)
				}
				if d < 0x80 {
					b.WriteByte('\\')
				}
				b.WriteByte(d)
			}
		case '[':
			// A bracket expression ends at the first ] that is not its first character. RE2 needs its [ and \ escaped.
			j := i + 1
			b.WriteByte('[')
			if j < len(text) && text[j] == '^' {
				b.WriteByte('^')
				j++
			}
			for first := true; ; first = false {
				if j >= len(text) {
					return "", fail("2201B", "invalid regular expression: brackets [] not balanced")
				}
				if text[j] == ']' && !first {
					break
				}
				switch {
				case strings.HasPrefix(text[j:], "[:"):
					end := strings.Index(text[j:], ":]")
					if end < 0 {
						return "", fail("2201B", "invalid regular expression: brackets [] not balanced")
					}
					b.WriteString(text[j : j+end+2])
					j += end + 2
					continue
				case text[j] == '[' || text[j] == ']':
					b.WriteByte('\\')
				case text[j] == '\\':
					b.WriteByte('\\')
					if j++; j >= len(text) {
						return "", fail("2201B", "invalid regular expression: invalid escape \\ sequence")
					}
				}
				b.WriteByte(text[j])
				j++
			}
			b.WriteByte(']')
			i = j
		case '(':
			if strings.HasPrefix(text[i:], "(?") && !strings.HasPrefix(text[i:], "(?:") {
				return "", fail("2201B", "invalid regular expression: look-around is not supported")
			}
			b.WriteByte(c)
		case '$':
			b.WriteString(`\z`)
		case '^':
			b.WriteString(`\A`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

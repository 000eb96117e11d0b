package catalog

import (
	"strconv"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
)

func constant(t uint32, v any) *expr {
	return &expr{typ: t, fixed: true, eval: func(*env) (any, error) { return v, nil }}
}

func untypedLiteral(s string) *expr {
	x := constant(tUnknown, s)
	x.lit = &s
	return x
}

func nameOf(list []*pg.Node) []string {
	var out []string
	for _, n := range list {
		out = append(out, n.GetString_().GetSval())
	}
	return out
}

// expr binds an expression.
func (s *scope) expr(n *pg.Node) (*expr, error) {
	if s.group != nil && s.group.off == 0 && s.group.has(n) {
		s.group.off++
		defer func() { s.group.off-- }()
	}
	return s.exprNode(n)
}

func (s *scope) exprNode(n *pg.Node) (*expr, error) {
	switch v := n.GetNode().(type) {
	case *pg.Node_AConst:
		return s.constant(v.AConst)
	case *pg.Node_ColumnRef:
		return s.columnRef(v.ColumnRef)
	case *pg.Node_ParamRef:
		return s.parameter(v.ParamRef)
	case *pg.Node_TypeCast:
		return s.typeCast(v.TypeCast)
	case *pg.Node_AExpr:
		x, err := s.operator(v.AExpr)
		return x, at(err, v.AExpr.Location)
	case *pg.Node_BoolExpr:
		return s.boolExpr(v.BoolExpr)
	case *pg.Node_FuncCall:
		x, err := s.call(v.FuncCall)
		return x, at(err, v.FuncCall.Location)
	case *pg.Node_SubLink:
		x, err := s.subLink(v.SubLink)
		return x, at(err, v.SubLink.Location)
	case *pg.Node_CaseExpr:
		return s.caseExpr(v.CaseExpr)
	case *pg.Node_CoalesceExpr:
		return s.coalesce(v.CoalesceExpr.Args)
	case *pg.Node_MinMaxExpr:
		return s.minMax(v.MinMaxExpr)
	case *pg.Node_NullTest:
		return s.nullTest(v.NullTest)
	case *pg.Node_BooleanTest:
		return s.booleanTest(v.BooleanTest)
	case *pg.Node_SqlvalueFunction:
		return s.sqlValue(v.SqlvalueFunction)
	case *pg.Node_AArrayExpr:
		return s.array(v.AArrayExpr)
	case *pg.Node_RowExpr:
		return s.row(v.RowExpr)
	case *pg.Node_AIndirection:
		return s.indirection(v.AIndirection.Arg, v.AIndirection.Indirection)
	case *pg.Node_CollateClause:
		x, err := s.expr(v.CollateClause.Arg)
		if err == nil && x.untyped() {
			return s.b.coerce(x, tText)
		}
		return x, err
	case *pg.Node_SetToDefault:
		return nil, fail("42601", "DEFAULT is not allowed in this context")
	case *pg.Node_GroupingFunc:
		return nil, unsupported("GROUPING")
	}
	return nil, unsupported("this expression")
}

func (s *scope) constant(k *pg.A_Const) (*expr, error) {
	if k.Isnull {
		x := constant(tUnknown, nil)
		x.null = true
		return x, nil
	}
	switch v := k.Val.(type) {
	case *pg.A_Const_Ival:
		return constant(tInt4, int64(v.Ival.GetIval())), nil
	case *pg.A_Const_Fval:
		text := v.Fval.GetFval()
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return constant(tInt8, n), nil
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, at(fail("22003", "the number %s is out of range", clip(text)), k.Location)
		}
		return constant(tNumeric, f), nil
	case *pg.A_Const_Boolval:
		return constant(tBool, v.Boolval.GetBoolval()), nil
	case *pg.A_Const_Sval:
		return untypedLiteral(v.Sval.GetSval()), nil
	}
	return nil, unsupported("a bit string")
}

func (s *scope) columnRef(c *pg.ColumnRef) (*expr, error) {
	for _, f := range c.Fields {
		if f.GetString_() == nil {
			return nil, at(fail("42601", "* is not allowed here"), c.Location)
		}
	}
	parts := nameOf(c.Fields)
	if len(parts) == 4 || len(parts) == 3 && parts[0] == s.b.c.session.Database && namespaceOID(parts[1]) != 0 {
		parts = parts[1:]
	}
	if len(parts) > 3 {
		return nil, at(fail("42601", "improper qualified name"), c.Location)
	}
	return s.resolve(parts, c.Location)
}

func (s *scope) parameter(p *pg.ParamRef) (*expr, error) {
	n := int(p.Number)
	if n < 1 || n > 1000 {
		return nil, at(fail("42P02", "there is no parameter $%d", n), p.Location)
	}
	b := s.b
	for len(b.params) < n {
		b.params = append(b.params, 0)
	}
	if t := b.params[n-1]; t != 0 && t != tUnknown {
		return b.typedParameter(n, t), nil
	}
	return &expr{typ: tUnknown, param: n, eval: func(e *env) (any, error) { return e.run.parameter(n, tText) }}, nil
}

func (b *binder) typedParameter(n int, t uint32) *expr {
	return &expr{typ: base(t), fixed: true, eval: func(e *env) (any, error) { return e.run.parameter(n, base(t)) }}
}

// parameter is the value of a parameter, as a type.
func (r *run) parameter(n int, t uint32) (any, error) {
	if n > len(r.params) {
		return nil, fail("08P01", "there is no value for parameter $%d", n)
	}
	switch v := r.params[n-1].(type) {
	case nil:
		return nil, nil
	case string:
		return r.parse(v, t)
	case []string:
		if el := elem(t); el != 0 {
			out := make([]any, len(v))
			for i, x := range v {
				p, err := r.parse(x, el)
				if err != nil {
					return nil, err
				}
				out[i] = p
			}
			return r.list(out)
		}
		return nil, fail("42804", "parameter $%d is an array, and a %s is expected", n, r.c.formatType(t, -1))
	case int64:
		return r.cast(v, tInt8, t)
	case int32:
		return r.cast(int64(v), tInt8, t)
	case uint32:
		return r.cast(int64(v), tInt8, t)
	case float64:
		return r.cast(v, tFloat8, t)
	case bool:
		return r.cast(v, tBool, t)
	case time.Time:
		return r.cast(v, tTimestamptz, t)
	case []any:
		el := elem(t)
		if el == 0 {
			return nil, fail("42804", "parameter $%d is an array, and a %s is expected", n, r.c.formatType(t, -1))
		}
		saved := r.params
		defer func() { r.params = saved }()
		out := make([]any, len(v))
		for i, x := range v {
			if _, nested := x.([]any); nested {
				return nil, fail("0A000", "parameter $%d is an array of arrays", n)
			}
			r.params = []Value{x}
			p, err := r.parameter(1, el)
			if err != nil {
				return nil, err
			}
			out[i] = p
		}
		return r.list(out)
	}
	return nil, fail("42804", "parameter $%d is of an unknown kind", n)
}

func (s *scope) boolExpr(b *pg.BoolExpr) (*expr, error) {
	var args []*expr
	for _, n := range b.Args {
		x, err := s.expr(n)
		if err != nil {
			return nil, err
		}
		if x, err = s.b.truth(x, b.Boolop.String()[:3]); err != nil {
			return nil, at(err, b.Location)
		}
		args = append(args, x)
	}
	op := b.Boolop
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		if err := e.run.step(1); err != nil {
			return nil, err
		}
		if op == pg.BoolExprType_NOT_EXPR {
			v, err := args[0].eval(e)
			if v == nil || err != nil {
				return nil, err
			}
			return v != true, nil
		}
		// AND stops at false, OR at true; NULL is neither.
		stop := op == pg.BoolExprType_OR_EXPR
		unknown := false
		for _, a := range args {
			v, err := a.eval(e)
			if err != nil {
				return nil, err
			}
			if v == stop {
				return stop, nil
			}
			unknown = unknown || v == nil
		}
		if unknown {
			return nil, nil
		}
		return !stop, nil
	}}, nil
}

// truth makes a boolean of an expression that must be one.
func (b *binder) truth(x *expr, where string) (*expr, error) {
	if x.untyped() {
		return b.coerce(x, tBool)
	}
	if x.typ != tBool {
		return nil, fail("42804", "argument of %s must be type boolean, not type %s", strings.TrimRight(where, "_"), b.c.formatType(x.typ, -1))
	}
	return x, nil
}

func (s *scope) caseExpr(c *pg.CaseExpr) (*expr, error) {
	var arg *expr
	var err error
	if c.Arg != nil {
		if arg, err = s.expr(c.Arg); err != nil {
			return nil, err
		}
		if arg.untyped() {
			if arg, err = s.b.coerce(arg, tText); err != nil {
				return nil, err
			}
		}
	}
	var whens, results []*expr
	for _, n := range c.Args {
		w := n.GetCaseWhen()
		x, err := s.expr(w.GetExpr())
		if err != nil {
			return nil, err
		}
		if arg != nil {
			x, err = s.b.comparison("=", arg, x)
		} else {
			x, err = s.b.truth(x, "CASE/WHEN")
		}
		if err != nil {
			return nil, at(err, c.Location)
		}
		r, err := s.expr(w.GetResult())
		if err != nil {
			return nil, err
		}
		whens, results = append(whens, x), append(results, r)
	}
	otherwise := constant(tUnknown, nil)
	otherwise.null = true
	if c.Defresult != nil {
		if otherwise, err = s.expr(c.Defresult); err != nil {
			return nil, err
		}
	}
	// The last one decides the type before the others, as in PostgreSQL.
	results = append([]*expr{otherwise}, results...)
	t, err := s.b.unify(results, "CASE")
	if err != nil {
		return nil, at(err, c.Location)
	}
	otherwise, results = results[0], results[1:]
	return &expr{typ: t, cols: results[0].cols, eval: func(e *env) (any, error) {
		if err := e.run.step(1); err != nil {
			return nil, err
		}
		for i, w := range whens {
			v, err := w.eval(e)
			if err != nil {
				return nil, err
			}
			if v == true {
				return results[i].eval(e)
			}
		}
		return otherwise.eval(e)
	}}, nil
}

func (s *scope) exprs(list []*pg.Node) ([]*expr, error) {
	var out []*expr
	for _, n := range list {
		x, err := s.expr(n)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func (s *scope) coalesce(list []*pg.Node) (*expr, error) {
	args, err := s.exprs(list)
	if err != nil {
		return nil, err
	}
	t, err := s.b.unify(args, "COALESCE")
	if err != nil {
		return nil, err
	}
	return &expr{typ: t, cols: args[0].cols, eval: func(e *env) (any, error) {
		if err := e.run.step(1); err != nil {
			return nil, err
		}
		for _, a := range args {
			v, err := a.eval(e)
			if v != nil || err != nil {
				return v, err
			}
		}
		return nil, nil
	}}, nil
}

func (s *scope) minMax(m *pg.MinMaxExpr) (*expr, error) {
	args, err := s.exprs(m.Args)
	if err != nil {
		return nil, err
	}
	greatest := m.Op == pg.MinMaxOp_IS_GREATEST
	t, err := s.b.unify(args, "GREATEST")
	if err != nil {
		return nil, at(err, m.Location)
	}
	return &expr{typ: t, eval: func(e *env) (any, error) {
		vals, err := evalAll(e, args)
		if err != nil {
			return nil, err
		}
		var best any
		for _, v := range vals {
			if v != nil && (best == nil || (compare(v, best) > 0) == greatest) {
				best = v
			}
		}
		return best, nil
	}}, nil
}

func (s *scope) nullTest(t *pg.NullTest) (*expr, error) {
	x, err := s.expr(t.Arg)
	if err != nil {
		return nil, err
	}
	isNull := t.Nulltesttype == pg.NullTestType_IS_NULL
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		v, err := x.eval(e)
		if err != nil {
			return nil, err
		}
		if r, ok := v.(*record); ok {
			// A row is NULL where all fields are, and not NULL where none is.
			for _, f := range r.vals {
				if (f == nil) != isNull {
					return false, nil
				}
			}
			return true, e.run.step(len(r.vals))
		}
		return (v == nil) == isNull, nil
	}}, nil
}

func (s *scope) booleanTest(t *pg.BooleanTest) (*expr, error) {
	x, err := s.expr(t.Arg)
	if err != nil {
		return nil, err
	}
	if x, err = s.b.truth(x, "IS TRUE"); err != nil {
		return nil, at(err, t.Location)
	}
	kind := t.Booltesttype
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		v, err := x.eval(e)
		if err != nil {
			return nil, err
		}
		switch kind {
		case pg.BoolTestType_IS_TRUE:
			return v == true, nil
		case pg.BoolTestType_IS_NOT_TRUE:
			return v != true, nil
		case pg.BoolTestType_IS_FALSE:
			return v == false, nil
		case pg.BoolTestType_IS_NOT_FALSE:
			return v != false, nil
		case pg.BoolTestType_IS_UNKNOWN:
			return v == nil, nil
		}
		return v != nil, nil
	}}, nil
}

func (s *scope) sqlValue(f *pg.SQLValueFunction) (*expr, error) {
	switch f.Op {
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_ROLE, pg.SQLValueFunctionOp_SVFOP_CURRENT_USER, pg.SQLValueFunctionOp_SVFOP_USER, pg.SQLValueFunctionOp_SVFOP_SESSION_USER:
		return constant(tName, s.b.c.session.User), nil
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:
		return constant(tName, s.b.c.session.Database), nil
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:
		return &expr{typ: tName, eval: func(e *env) (any, error) { return e.run.c.currentSchema(), nil }}, nil
	}
	t := uint32(tTimestamptz)
	switch f.Op {
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE:
		t = tDate
	case pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
		t = tTimestamp
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP, pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N:
	default:
		return nil, unsupported("the time of day")
	}
	return &expr{typ: t, eval: func(e *env) (any, error) { return e.run.cast(e.run.now(), tTimestamptz, t) }}, nil
}

func (c *Catalog) currentSchema() any {
	if p := c.searchPath(false); len(p) > 0 {
		return p[0]
	}
	return nil
}

func (s *scope) array(a *pg.A_ArrayExpr) (*expr, error) {
	args, err := s.exprs(a.Elements)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return &expr{typ: tUnknown, lit: ptr("{}"), eval: func(*env) (any, error) { return "{}", nil }}, nil
	}
	t, err := s.b.unify(args, "ARRAY")
	if err != nil {
		return nil, at(err, a.Location)
	}
	if elem(t) != 0 {
		return nil, at(unsupported("an array of arrays"), a.Location)
	}
	list := arrayOf(t)
	if list == 0 {
		return nil, at(fail("42704", "could not find array type for data type %s", s.b.c.formatType(t, -1)), a.Location)
	}
	return &expr{typ: list, eval: func(e *env) (any, error) {
		t, err := evalAll(e, args)
		if err != nil {
			return nil, err
		}
		return e.run.list(t)
	}}, nil
}

func ptr[T any](v T) *T { return &v }

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

func (s *scope) subscript(x *expr, ix *pg.A_Indices) (*expr, error) {
	var err error
	if x.untyped() {
		if x, err = s.b.coerce(x, tTextArray); err != nil {
			return nil, err
		}
	}
	t := elem(x.typ)
	if t == 0 {
		return nil, fail("42804", "cannot subscript type %s because it does not support subscripting", s.b.c.formatType(x.typ, -1))
	}
	index := func(n *pg.Node) (*expr, error) {
		if n == nil {
			return nil, nil
		}
		i, err := s.expr(n)
		if err != nil {
			return nil, err
		}
		return s.b.coerce(i, tInt4)
	}
	lower, err := index(ix.Lidx)
	if err != nil {
		return nil, err
	}
	upper, err := index(ix.Uidx)
	if err != nil {
		return nil, err
	}
	first := int64(1)
	if x.typ == tInt2Vector || x.typ == tOidVector {
		first = 0
	}
	number := func(e *env, i *expr, otherwise int64) (int64, bool, error) {
		if i == nil {
			return otherwise, true, nil
		}
		v, err := i.eval(e)
		n, ok := v.(int64)
		return n - first, ok, err
	}
	if ix.IsSlice {
		return &expr{typ: x.typ, eval: func(e *env) (any, error) {
			v, err := x.eval(e)
			if v == nil || err != nil {
				return nil, err
			}
			list, _ := v.([]any)
			from, ok, err := number(e, lower, 0)
			if err != nil || !ok {
				return nil, err
			}
			to, ok, err := number(e, upper, int64(len(list))-1)
			if err != nil || !ok {
				return nil, err
			}
			from, to = max(from, 0), min(to, int64(len(list))-1)
			if from > to {
				return []any{}, nil
			}
			return e.run.list(append([]any(nil), list[from:to+1]...))
		}}, nil
	}
	if upper == nil {
		return nil, unsupported("this subscript")
	}
	return &expr{typ: t, cols: x.cols, eval: func(e *env) (any, error) {
		v, err := x.eval(e)
		if v == nil || err != nil {
			return nil, err
		}
		list, _ := v.([]any)
		i, ok, err := number(e, upper, 0)
		if err != nil || !ok || i < 0 || i >= int64(len(list)) {
			return nil, err
		}
		if _, nested := list[i].([]any); nested {
			return nil, nil
		}
		return list[i], e.run.step(1)
	}}, nil
}

// figure is the name of an output column that was given none, and whether it is more than a guess.
func figure(n *pg.Node) (string, bool) {
	last := func(list []*pg.Node) (string, bool) {
		for i := len(list) - 1; i >= 0; i-- {
			if s := list[i].GetString_(); s != nil {
				return s.Sval, true
			}
		}
		return "", false
	}
	switch v := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		if s, ok := last(v.ColumnRef.Fields); ok {
			return s, true
		}
	case *pg.Node_AIndirection:
		if s, ok := last(v.AIndirection.Indirection); ok {
			return s, true
		}
		return figure(v.AIndirection.Arg)
	case *pg.Node_FuncCall:
		if s, ok := last(v.FuncCall.Funcname); ok {
			return s, true
		}
	case *pg.Node_AExpr:
		if v.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", true
		}
	case *pg.Node_TypeCast:
		if s, strong := figure(v.TypeCast.Arg); strong {
			return s, true
		}
		if s, ok := last(v.TypeCast.GetTypeName().GetNames()); ok {
			return s, false
		}
	case *pg.Node_CollateClause:
		return figure(v.CollateClause.Arg)
	case *pg.Node_CaseExpr:
		if s, strong := figure(v.CaseExpr.Defresult); strong {
			return s, true
		}
		return "case", false
	case *pg.Node_AArrayExpr:
		return "array", true
	case *pg.Node_RowExpr:
		return "row", true
	case *pg.Node_CoalesceExpr:
		return "coalesce", true
	case *pg.Node_MinMaxExpr:
		if v.MinMaxExpr.Op == pg.MinMaxOp_IS_GREATEST {
			return "greatest", true
		}
		return "least", true
	case *pg.Node_SqlvalueFunction:
		name := strings.ToLower(strings.TrimPrefix(v.SqlvalueFunction.Op.String(), "SVFOP_"))
		return strings.TrimSuffix(name, "_n"), true
	case *pg.Node_SubLink:
		switch v.SubLink.SubLinkType {
		case pg.SubLinkType_EXISTS_SUBLINK:
			return "exists", true
		case pg.SubLinkType_ARRAY_SUBLINK:
			return "array", true
		case pg.SubLinkType_EXPR_SUBLINK:
			st := v.SubLink.Subselect.GetSelectStmt()
			for st != nil && st.Larg != nil {
				st = st.Larg
			}
			if st != nil && len(st.TargetList) > 0 {
				if t := st.TargetList[0].GetResTarget(); t != nil {
					if t.Name != "" {
						return t.Name, true
					}
					return figure(t.Val)
				}
			}
		}
	}
	return "?column?", false
}

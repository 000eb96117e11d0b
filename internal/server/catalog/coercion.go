package catalog

// typed gives a type to what has none. Literals are read now, so that what is wrong with them is told before anything runs.
func (b *binder) typed(x *expr, t uint32) (*expr, error) {
	switch {
	case x.param > 0:
		if b.params[x.param-1] == 0 || b.params[x.param-1] == tUnknown {
			b.params[x.param-1] = t
		}
		if known := b.params[x.param-1]; base(known) != t {
			return b.cast(b.typedParameter(x.param, known), t)
		}
		return b.typedParameter(x.param, t), nil
	case x.null:
		return constant(t, nil), nil
	case x.lit != nil:
		if class(t) == 't' || t == tRecord {
			break // now is later
		}
		v, err := b.r.parse(*x.lit, t)
		if err != nil {
			return nil, err
		}
		return constant(t, v), nil
	}
	inner := x.eval
	return &expr{typ: t, eval: func(e *env) (any, error) {
		v, err := inner(e)
		if s, ok := v.(string); ok && err == nil {
			return e.run.parse(s, t)
		}
		return v, err
	}}, nil
}

// coerce makes a value of a type where PostgreSQL does so without being told.
func (b *binder) coerce(x *expr, t uint32) (*expr, error) {
	t = base(t)
	switch {
	case x.typ == t:
		return x, nil
	case x.untyped():
		return b.typed(x, t)
	case implicit(x.typ, t) == 0:
		return nil, fail("42804", "a value of type %s is not of type %s", b.c.formatType(x.typ, -1), b.c.formatType(t, -1))
	}
	return b.cast(x, t)
}

// implicit says how well a type goes into another by itself: 0 not at all, 3 the same.
func implicit(from, to uint32) int {
	from, to = base(from), base(to)
	switch {
	case from == to:
		return 3
	case from == tUnknown:
		return 1
	case isInt(from) && isInt(to):
		if rank(from) < rank(to) {
			return 2
		}
		return 0
	case isInt(from) && (to == tNumeric || to == tFloat8 || to == tFloat4), from == tNumeric && (to == tFloat8 || to == tFloat4), from == tFloat4 && to == tFloat8:
		return 1
	case (isInt(from) || isReg(from)) && (to == tOid || isReg(to) && isInt(from)), from == tOid && isReg(to):
		return 1
	case isString(from) && to == tText:
		return 2
	case (from == tText || from == tVarchar || from == tBpchar) && (to == tName || to == tVarchar || to == tBpchar):
		return 1
	case (from == tText || from == tVarchar) && to == tRegclass:
		return 1
	case from == tDate && (to == tTimestamp || to == tTimestamptz), from == tTimestamp && to == tTimestamptz:
		return 1
	case elem(from) != 0 && to == tAnyArray:
		return 1
	case from == tInt2Vector && to == tInt2Array, from == tOidVector && to == tOidArray, from == tNodeTree && to == tText:
		return 1
	case from == tNameArray && to == tTextArray, from == 1015 && to == tTextArray, from == tCharArray && to == tTextArray:
		return 1
	case elem(from) != 0 && elem(to) != 0 && from != tInt2Vector && from != tOidVector && implicit(elem(from), elem(to)) > 0:
		return 1
	}
	return 0
}

// rank orders the integer types by their size.
func rank(t uint32) int {
	switch t {
	case tInt2:
		return 1
	case tInt4:
		return 2
	}
	return 3
}

// common is the type that several expressions have together, as in UNION, CASE and COALESCE.
func (b *binder) common(xs []*expr, where string) (uint32, error) {
	t := uint32(tUnknown)
	for _, x := range xs {
		switch {
		case x.untyped() || x.typ == t:
		case t == tUnknown:
			t = x.typ
		case b.category(x.typ) != b.category(t):
			return 0, fail("42804", "%s types %s and %s cannot be matched", where, b.c.formatType(t, -1), b.c.formatType(x.typ, -1))
		case !preferred(t) && implicit(t, x.typ) > 0 && implicit(x.typ, t) == 0:
			t = x.typ
		}
	}
	return t, nil
}

func (b *binder) category(t uint32) string {
	if d := b.c.typeOf(t); d != nil {
		return d.category
	}
	return ""
}

// preferred says whether a type wins over others of its category, as typispreferred does.
func preferred(t uint32) bool {
	return t == tText || t == tOid || t == tFloat8 || t == tBool || t == tTimestamptz
}

// unify brings expressions to their common type: text where none has one.
func (b *binder) unify(xs []*expr, where string) (uint32, error) {
	t, err := b.common(xs, where)
	if err != nil {
		return 0, err
	}
	if t == tUnknown {
		t = tText
	}
	for i, x := range xs {
		if xs[i], err = b.coerce(x, t); err != nil {
			return 0, err
		}
	}
	return t, nil
}

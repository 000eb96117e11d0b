package plan

// Functions of values of every kind: coalesce, nullif, greatest and least.

func init() {
	functions["coalesce"] = function{1, 0, "coalesce(x, y)", newCoalesce}
	nodes["coalesce"] = node{nulls: true, eval: func(_ *Call, args []Value) Value {
		for _, a := range args {
			if a != nil {
				return a
			}
		}
		return nil
	}}
	functions["nullif"] = function{2, 2, "nullif(x, y)", newNullif}
	nodes["nullif"] = node{nulls: true, vanishes: true, copies: 2, eval: func(_ *Call, args []Value) Value {
		if args[0] != nil && args[1] != nil && compareValues(args[0], args[1]) == 0 {
			return nil
		}
		return args[0]
	}}
	for name, sign := range map[string]int{"greatest": 1, "least": -1} {
		functions[name] = function{1, 0, name + "(x, y)", func(args []Expr, pos int32) (Expr, error) { return newExtreme(name, sign, args, pos) }}
		nodes[name] = node{nulls: true, eval: func(_ *Call, args []Value) Value {
			var best Value
			for _, a := range args {
				if a != nil && (best == nil || compareValues(a, best)*sign > 0) {
					best = a
				}
			}
			return best
		}}
	}
}

// unify brings expressions to one type, as PostgreSQL does for the branches of CASE:
// quoted constants and NULL take the type of the others, numbers the finest lattice.
func unify(args []Expr, what string, pos int32) ([]Expr, error) {
	out := make([]Expr, len(args))
	copy(out, args)
	real, stamp := false, false
	// What has a type of its own decides; a quoted constant is text only where nothing does.
	for i := range out {
		for _, other := range args {
			if l, ok := other.(*Literal); ok && (l.Text != nil || l.IsNullLiteral()) {
				continue
			}
			out[i] = adopt(out[i], other)
		}
	}
	for i := range out {
		for _, other := range out {
			if out[i].Type().Kind == 0 {
				out[i] = adopt(out[i], other)
			}
		}
	}
	for _, e := range out {
		if _, err := checked(e, pos); err != nil {
			return nil, err
		}
		real = real || e.Type().Kind == Real
		stamp = stamp || e.Type().Kind == Timestamp
	}
	for i, e := range out {
		switch k := e.Type().Kind; {
		case k == 0:
			return nil, refuse(pos, "give at least one of them a value", "every value of this %s is NULL", what)
		case k == Number && real:
			out[i] = toReal(e)
		case k == Date && stamp:
			var err error
			if out[i], err = midnight(e, pos); err != nil {
				return nil, err
			}
		}
		if a, b := out[0].Type().Kind, out[i].Type().Kind; a != b {
			return nil, refuse(pos, comparison(a, b), "%s cannot be %s here and %s there", what, article(a), article(b))
		}
	}
	if out[0].Type().Kind != Number {
		return out, nil
	}
	// Twice around puts all of them on the finest lattice.
	for range 2 {
		for i := 1; i < len(out); i++ {
			var err error
			if out[0], out[i], err = oneLattice(out[0], out[i], pos); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// surely reports whether an expression is never NULL. What the policy says of a column is
// not a proof: the data may hold something else.
func surely(e Expr) bool {
	switch e := e.(type) {
	case *Literal:
		return !e.IsNullLiteral()
	case *Rescale:
		return surely(e.X)
	case *ToReal:
		return surely(e.X)
	}
	return false
}

func newCoalesce(args []Expr, pos int32) (Expr, error) {
	args, err := unify(args, "coalesce", pos)
	if err != nil {
		return nil, err
	}
	return newCall("coalesce", hull(args), pos, args...)
}

func newNullif(args []Expr, pos int32) (Expr, error) {
	l, r, err := comparable2(args[0], args[1], pos)
	if err != nil {
		return nil, err
	}
	return newCall("nullif", l.Type(), pos, l, r)
}

// newExtreme makes greatest (sign 1) or least (sign -1). A NULL is passed over, so
// only an argument that is never NULL bounds the result from its side.
func newExtreme(name string, sign int, args []Expr, pos int32) (Expr, error) {
	for i, a := range args {
		if l, ok := constant(a); ok && a.Type().Kind != Real {
			args[i] = l
		}
	}
	args, err := unify(args, name, pos)
	if err != nil {
		return nil, err
	}
	t := hull(args)
	for _, a := range args {
		if u := a.Type(); surely(a) {
			switch {
			case t.Kind == Real && sign > 0:
				t = realType(Range{max(t.real().Low, u.real().Low), max(t.real().High, u.real().Low)}, t.Declared)
			case t.Kind == Real:
				t = realType(Range{min(t.real().Low, u.real().High), min(t.real().High, u.real().High)}, t.Declared)
			case t.Lo == nil || u.Lo == nil:
			case sign > 0 && u.Lo.Cmp(t.Lo) >= 0:
				t.Lo, t.loDeclared = u.Lo, u.from()
			case sign < 0 && u.Hi.Cmp(t.Hi) <= 0:
				t.Hi, t.hiDeclared = u.Hi, u.to()
			}
		}
	}
	t.Declared = t.Declared || t.loDeclared && t.hiDeclared
	return newCall(name, t, pos, args...)
}

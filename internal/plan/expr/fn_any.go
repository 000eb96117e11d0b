package expr

import (
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Functions of values of every kind: coalesce, nullif, greatest and least.

func anyFunctions() []Function {
	alike := Signature{"alike", "alike"}
	extreme := func(name string, sign int) Function {
		return Function{
			names: name, Usage: name + "(x, y)", least: 1, Signature: alike,
			build: func(args []tree.Expr, pos int32) (tree.Expr, error) { return newExtreme(name, sign, args, pos) },
			nulls: true, eval: func(_ *tree.Call, args []tree.Value) tree.Value {
				var best tree.Value
				for _, a := range args {
					if a != nil && (best == nil || CompareValues(a, best)*sign > 0) {
						best = a
					}
				}
				return best
			},
		}
	}
	return []Function{
		{
			names: "coalesce", Usage: "coalesce(x, y)", least: 1, build: NewCoalesce, Signature: alike,
			nulls: true, eval: func(_ *tree.Call, args []tree.Value) tree.Value {
				for _, a := range args {
					if a != nil {
						return a
					}
				}
				return nil
			},
		},
		{
			names: "nullif", Usage: "nullif(x, y)", least: 2, most: 2, build: newNullif, Signature: alike,
			nulls: true, vanishes: true, copies: 2, eval: func(_ *tree.Call, args []tree.Value) tree.Value {
				if args[0] != nil && args[1] != nil && CompareValues(args[0], args[1]) == 0 {
					return nil
				}
				return args[0]
			},
		},
		extreme("greatest", 1), extreme("least", -1),
	}
}

// Unify brings expressions to one type, as PostgreSQL does for the branches of CASE:
// quoted constants and NULL take the type of the others, numbers the finest lattice.
func Unify(args []tree.Expr, what string, pos int32) ([]tree.Expr, error) {
	out := make([]tree.Expr, len(args))
	copy(out, args)
	real, stamp := false, false
	// What has a type of its own decides; a quoted constant is text only where nothing does.
	for i := range out {
		for _, other := range args {
			if l, ok := other.(*tree.Literal); ok && (l.Text != nil || l.IsNullLiteral()) {
				continue
			}
			out[i] = Adopt(out[i], other)
		}
	}
	for i := range out {
		for _, other := range out {
			if out[i].Type().Kind == 0 {
				out[i] = Adopt(out[i], other)
			}
		}
	}
	for _, e := range out {
		if _, err := Checked(e, pos); err != nil {
			return nil, err
		}
		real = real || e.Type().Kind == tree.Real
		stamp = stamp || e.Type().Kind == tree.Timestamp
	}
	for i, e := range out {
		switch k := e.Type().Kind; {
		case k == 0:
			return nil, syntax.Refuse(pos, "give at least one of them a value", "every value of this %s is NULL", what)
		case k == tree.Number && real:
			out[i] = Real(e)
		case k == tree.Date && stamp:
			var err error
			if out[i], err = Midnight(e, pos); err != nil {
				return nil, err
			}
		}
		if a, b := out[0].Type().Kind, out[i].Type().Kind; a != b {
			return nil, syntax.Refuse(pos, comparison(a, b), "%s cannot be %s here and %s there", what, Article(a), Article(b))
		}
	}
	if out[0].Type().Kind != tree.Number {
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
func surely(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Literal:
		return !e.IsNullLiteral()
	case *tree.Rescale:
		return surely(e.X)
	case *tree.ToReal:
		return surely(e.X)
	}
	return false
}

func NewCoalesce(args []tree.Expr, pos int32) (tree.Expr, error) {
	args, err := Unify(args, "coalesce", pos)
	if err != nil {
		return nil, err
	}
	return NewCall("coalesce", Hull(args), pos, args...)
}

func newNullif(args []tree.Expr, pos int32) (tree.Expr, error) {
	l, r, err := Unite(args[0], args[1], pos)
	if err != nil {
		return nil, err
	}
	return NewCall("nullif", l.Type(), pos, l, r)
}

// newExtreme makes greatest (sign 1) or least (sign -1). A NULL is passed over, so
// only an argument that is never NULL bounds the result from its side.
func newExtreme(name string, sign int, args []tree.Expr, pos int32) (tree.Expr, error) {
	for i, a := range args {
		if l, ok := Constant(a); ok && a.Type().Kind != tree.Real {
			args[i] = l
		}
	}
	args, err := Unify(args, name, pos)
	if err != nil {
		return nil, err
	}
	t := Hull(args)
	for _, a := range args {
		if u := a.Type(); surely(a) {
			switch {
			case t.Kind == tree.Real && sign > 0:
				t = realType(tree.Range{Low: max(t.RealRange().Low, u.RealRange().Low), High: max(t.RealRange().High, u.RealRange().Low)},
					t.Declared)
			case t.Kind == tree.Real:
				t = realType(tree.Range{Low: min(t.RealRange().Low, u.RealRange().High), High: min(t.RealRange().High, u.RealRange().High)},
					t.Declared)
			case t.Lo == nil || u.Lo == nil:
			case sign > 0 && u.Lo.Cmp(t.Lo) >= 0:
				t.Lo, t.LoDeclared = u.Lo, u.LoIsDeclared()
			case sign < 0 && u.Hi.Cmp(t.Hi) <= 0:
				t.Hi, t.HiDeclared = u.Hi, u.HiIsDeclared()
			}
		}
	}
	t.Declared = t.Declared || t.LoDeclared && t.HiDeclared
	return NewCall(name, t, pos, args...)
}

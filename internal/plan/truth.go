package plan

import "slices"

// truth rewrites a normal condition of which only counts whether it is true: that of WHERE, of FILTER and of CASE. To
// them false and NULL are the same, so more conditions are the same one:
//
//   - a comparison that the interval of a number decides: it is x IS NOT NULL, or false;
//   - x IS TRUE, coalesce(x, false) and CASE WHEN x THEN true ELSE false END are x, and x IS FALSE is NOT x;
//   - x IS NOT NULL beside something that is not true where x is NULL is left out.
func truth(e Expr) Expr {
	switch x := e.(type) {
	case *Literal:
		return newBool(x.Bool != nil && *x.Bool)
	case *Logic:
		// AND and OR are true by what is true of their parts alone.
		args := make([]Expr, len(x.Args))
		for i, a := range x.Args {
			args[i] = truth(a)
		}
		if x.Op == And {
			args = present(args)
		}
		return normalLogic(&Logic{x.Op, args})
	case *Call:
		if y, ok := otherwise(x, false); ok {
			return truth(y)
		}
	case *Not:
		if c, ok := x.X.(*Call); ok {
			if y, ok := otherwise(c, true); ok {
				return truth(negated(y))
			}
		}
	case *Case:
		if len(x.Whens) == 1 && isTrue(x.Whens[0].Then) && !isTrue(x.Else) {
			if _, constant := x.Else.(*Literal); constant {
				return truth(x.Whens[0].If)
			}
		}
	case *Compare:
		return decided(x)
	}
	return e
}

func isTrue(e Expr) bool {
	l, ok := e.(*Literal)
	return ok && l.Bool != nil && *l.Bool
}

// otherwise returns x of coalesce(x, constant).
func otherwise(c *Call, constant bool) (Expr, bool) {
	if c.Fn != "coalesce" || len(c.Args) != 2 {
		return nil, false
	}
	l, ok := c.Args[1].(*Literal)
	return c.Args[0], ok && l.Bool != nil && *l.Bool == constant
}

// decided looks whether a number's interval decides a comparison with a constant.
func decided(c *Compare) Expr {
	lit, ok := c.R.(*Literal)
	t := c.L.Type()
	if !ok || t.Kind != Number {
		return c
	}
	if lit.IsNullLiteral() && c.Op != Distinct && c.Op != NotDistinct {
		return newBool(false)
	}
	if lit.Number == nil {
		return c
	}
	var always, never bool
	low, high := lit.Number.Cmp(t.Lo), lit.Number.Cmp(t.Hi) // where the constant stands
	switch c.Op {
	case Ge:
		always, never = low <= 0, high > 0
	case Gt:
		always, never = low < 0, high >= 0
	case Le:
		always, never = high >= 0, low < 0
	case Lt:
		always, never = high > 0, low <= 0
	case Eq:
		never = low < 0 || high > 0
	case Ne:
		always = low < 0 || high > 0
	}
	switch {
	case never:
		return newBool(false)
	case always:
		return &Not{&IsNull{c.L}}
	}
	return c
}

// present leaves out that something is not NULL where another condition says so too, by not being true otherwise.
func present(args []Expr) []Expr {
	strict := map[string]bool{}
	for _, a := range args {
		if n, ok := a.(*Not); ok {
			a = n.X
		}
		switch a := a.(type) {
		case *Compare:
			if a.Op != Distinct && a.Op != NotDistinct {
				strict[Format(a.L)], strict[Format(a.R)] = true, true
			}
		case *In:
			strict[Format(a.X)] = true
		case *Like:
			strict[Format(a.X)] = true
		case *Column: // a truth, or its NOT
			strict[Format(a)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(args), func(e Expr) bool {
		n, ok := e.(*Not)
		if !ok {
			return false
		}
		null, ok := n.X.(*IsNull)
		return ok && strict[Format(null.X)]
	})
}

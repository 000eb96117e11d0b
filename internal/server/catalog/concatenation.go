package catalog

import "strings"

// concat binds || on texts, arrays, and an array and an element.
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
	return strict(tText, l, r, func(r *run, x, y any) (any, error) {
		p, _ := x.(string)
		q, _ := y.(string)
		if len(p)+len(q) > maxString {
			return nil, tooLong()
		}
		return r.text(p + q)
	}), nil
}

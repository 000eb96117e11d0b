package interpret

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// concat binds || on texts, arrays, and an array and an element.
func (b *binder) concat(l, r *expr) (*expr, error) {
	var err error
	la, ra := oid.Elem(l.typ) != 0, oid.Elem(r.typ) != 0
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
		case oid.Int2Vector:
			t = oid.Int2Array
		case oid.OidVector:
			t = oid.OidArray
		}
		for _, side := range []**expr{&l, &r} {
			to := t
			if oid.Elem((*side).typ) == 0 {
				to = oid.Elem(t)
			}
			if *side, err = b.coerce(*side, to); err != nil {
				return nil, b.noOperator("||", l, r)
			}
		}
		return &expr{typ: t, eval: func(e *env) (datum.Value, error) {
			v, err := evalAll(e, []*expr{l, r})
			if err != nil {
				return nil, err
			}
			var out datum.List
			for i, isList := range []bool{la, ra} {
				if isList {
					list, _ := v[i].(datum.List)
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
	if !(oid.IsString(l.typ) || l.untyped() || oid.IsString(r.typ) || r.untyped()) {
		return nil, b.noOperator("||", l, r)
	}
	if l, err = b.cast(l, oid.Text); err != nil {
		return nil, err
	}
	if r, err = b.cast(r, oid.Text); err != nil {
		return nil, err
	}
	return strict(oid.Text, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
		p, _ := x.(datum.Text)
		q, _ := y.(datum.Text)
		if len(p)+len(q) > maxString {
			return nil, tooLong()
		}
		return r.text(string(p + q))
	}), nil
}

package interpret

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// concat binds || on texts, arrays, and an array and an element.
func (b *binder) concat(l, r *expr) (*expr, error) {
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
	l, err := b.cast(l, oid.Text)
	if err != nil {
		return nil, err
	}
	if r, err = b.cast(r, oid.Text); err != nil {
		return nil, err
	}
	return strict(oid.Text, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
		return r.text(string(x.(datum.Text) + y.(datum.Text)))
	}), nil
}

// concatLists binds || on arrays, and on an array and an element.
func (b *binder) concatLists(l, r *expr, la, ra bool) (*expr, error) {
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
		if args[i], err = b.coerce(x, to); err != nil {
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

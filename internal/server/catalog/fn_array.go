package catalog

import (
	"math"
	"strings"
)

// These are the functions on arrays and sets.
func init() {
	define("array_length(anyarray,int4) int4", func(r *run, a []any, _ []uint32) (any, error) {
		l := a[0].([]any)
		if a[1] != int64(1) || len(l) == 0 {
			return nil, nil
		}
		return int64(len(l)), nil
	})
	define("cardinality(anyarray) int4", func(r *run, a []any, _ []uint32) (any, error) { return int64(len(a[0].([]any))), nil })
	define("array_ndims(anyarray) int4", func(r *run, a []any, _ []uint32) (any, error) {
		if len(a[0].([]any)) == 0 {
			return nil, nil
		}
		return int64(1), nil
	})
	first := func(ts []uint32) int64 {
		if ts[0] == tInt2Vector || ts[0] == tOidVector {
			return 0
		}
		return 1
	}
	define("array_lower(anyarray,int4) int4", func(r *run, a []any, ts []uint32) (any, error) {
		if a[1] != int64(1) || len(a[0].([]any)) == 0 {
			return nil, nil
		}
		return first(ts), nil
	})
	define("array_upper(anyarray,int4) int4", func(r *run, a []any, ts []uint32) (any, error) {
		if a[1] != int64(1) || len(a[0].([]any)) == 0 {
			return nil, nil
		}
		return int64(len(a[0].([]any))) - 1 + first(ts), nil
	})
	join := func(r *run, a []any, ts []uint32) (any, error) {
		if a[0] == nil || a[1] == nil {
			return nil, nil
		}
		var b strings.Builder
		begun := false
		for _, v := range a[0].([]any) {
			s, err := r.format(v, elem(ts[0]))
			if err != nil {
				return nil, err
			}
			if v == nil {
				if len(a) < 3 || a[2] == nil {
					continue
				}
				s = a[2].(string)
			}
			if begun {
				b.WriteString(a[1].(string))
			}
			begun = true
			if b.WriteString(s); b.Len() > maxString {
				return nil, tooLong()
			}
		}
		return r.text(b.String())
	}
	define("array_to_string(anyarray,text) text", join).lax = true
	define("array_to_string(anyarray,text,text) text", join).lax = true
	split := func(r *run, a []any, _ []uint32) (any, error) {
		if a[0] == nil {
			return nil, nil
		}
		s := a[0].(string)
		var parts []string
		sep, ok := a[1].(string)
		switch {
		case s == "":
		case !ok:
			if err := r.take(16 * len(s)); err != nil {
				return nil, err
			}
			parts = strings.Split(s, "")
		case sep == "":
			parts = []string{s}
		default:
			if err := r.take(16 * strings.Count(s, sep)); err != nil {
				return nil, err
			}
			parts = strings.Split(s, sep)
		}
		out := make([]any, len(parts))
		for i, p := range parts {
			out[i] = p
			if len(a) > 2 && a[2] == p {
				out[i] = nil
			}
		}
		return r.list(out)
	}
	define("string_to_array(text,text) text[]", split).lax = true
	define("string_to_array(text,text,text) text[]", split).lax = true
	position := func(r *run, a []any, _ []uint32) (any, error) {
		if a[0] == nil {
			return nil, nil
		}
		for i, v := range a[0].([]any) {
			if err := r.step(1); err != nil {
				return nil, err
			}
			if compareNull(v, a[1]) == 0 {
				return int64(i + 1), nil
			}
		}
		return nil, nil
	}
	define("array_position(anyarray,any) int4", position).lax = true
	define("array_append(anyarray,any) $1", func(r *run, a []any, _ []uint32) (any, error) {
		l, _ := a[0].([]any)
		if _, nested := a[1].([]any); nested {
			return nil, unsupported("an array of arrays")
		}
		return r.list(append(l[:len(l):len(l)], a[1]))
	}).lax = true
	define("array_prepend(any,anyarray) $2", func(r *run, a []any, _ []uint32) (any, error) {
		l, _ := a[1].([]any)
		if _, nested := a[0].([]any); nested {
			return nil, unsupported("an array of arrays")
		}
		return r.list(append([]any{a[0]}, l...))
	}).lax = true
	define("array_cat(anyarray,anyarray) $1", func(r *run, a []any, _ []uint32) (any, error) {
		l, _ := a[0].([]any)
		m, _ := a[1].([]any)
		return r.list(append(l[:len(l):len(l)], m...))
	}).lax = true
	define("array_remove(anyarray,any) $1", func(r *run, a []any, _ []uint32) (any, error) {
		if a[0] == nil {
			return nil, nil
		}
		out := []any{}
		for _, v := range a[0].([]any) {
			if compareNull(v, a[1]) != 0 {
				out = append(out, v)
			}
		}
		return r.list(out)
	}).lax = true
	defineSet("unnest(anyarray) any", nil, func(r *run, a []any, _ []uint32) ([]any, error) { return a[0].([]any), nil })
	defineSet("generate_subscripts(anyarray,int4) int4", nil, func(r *run, a []any, ts []uint32) ([]any, error) {
		var out []any
		if a[1] == int64(1) {
			for i := range a[0].([]any) {
				out = append(out, int64(i)+first(ts))
			}
		}
		return out, r.take(16 * len(out))
	})
	series := func(r *run, a []any, _ []uint32) ([]any, error) {
		from, to, by := a[0].(int64), a[1].(int64), int64(1)
		if len(a) > 2 {
			by = a[2].(int64)
		}
		if by == 0 {
			return nil, fail("22023", "step size cannot equal zero")
		}
		var out []any
		for n := from; by > 0 && n <= to || by < 0 && n >= to; n += by {
			out = append(out, n)
			if err := r.step(1); err != nil {
				return nil, err
			}
			if err := r.take(64); err != nil {
				return nil, err
			}
			if by > 0 && n > math.MaxInt64-by || by < 0 && n < math.MinInt64-by {
				break
			}
		}
		return out, nil
	}
	for _, t := range []string{"int4", "int8"} {
		defineSet("generate_series("+t+","+t+") "+t, nil, series)
		defineSet("generate_series("+t+","+t+","+t+") "+t, nil, series)
	}
}

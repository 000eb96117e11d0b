package catalog

import (
	"strconv"
	"strings"
)

// These are the functions that put texts together.
func init() {
	define("concat(...any) text", func(r *run, a []any, ts []uint32) (any, error) {
		var b strings.Builder
		for i, v := range a {
			s, err := r.format(v, ts[i])
			if err != nil {
				return nil, err
			}
			if b.WriteString(s); b.Len() > maxString {
				return nil, tooLong()
			}
		}
		return r.text(b.String())
	}).lax = true
	define("concat_ws(text,...any) text", func(r *run, a []any, ts []uint32) (any, error) {
		sep, ok := a[0].(string)
		if !ok {
			return nil, nil
		}
		var b strings.Builder
		first := true
		for i, v := range a[1:] {
			if v == nil {
				continue
			}
			s, err := r.format(v, ts[i+1])
			if err != nil {
				return nil, err
			}
			if !first {
				b.WriteString(sep)
			}
			first = false
			if b.WriteString(s); b.Len() > maxString {
				return nil, tooLong()
			}
		}
		return r.text(b.String())
	}).lax = true
	define("format(text,...any) text", formatText).lax = true
	define("to_char(timestamptz,text) text", func(r *run, a []any, ts []uint32) (any, error) { return r.format(a[0], ts[0]) })
}

// formatText is format() with %s, %I, %L and %%.
func formatText(r *run, a []any, ts []uint32) (any, error) {
	f, ok := a[0].(string)
	if !ok {
		return nil, nil
	}
	var b strings.Builder
	next := 1
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			b.WriteByte(f[i])
			continue
		}
		i++
		n := next
		if j := i; j < len(f) {
			for j < len(f) && f[j] >= '0' && f[j] <= '9' && j-i < 4 {
				j++
			}
			if j > i && j < len(f) && f[j] == '$' {
				n, _ = strconv.Atoi(f[i:j])
				i = j + 1
			}
		}
		if i >= len(f) {
			return nil, fail("22023", "unterminated format() type specifier")
		}
		if f[i] == '%' {
			b.WriteByte('%')
			continue
		}
		if n < 1 || n >= len(a) {
			return nil, fail("22023", "too few arguments for format()")
		}
		s, err := r.format(a[n], ts[n])
		if err != nil {
			return nil, err
		}
		switch f[i] {
		case 's':
		case 'I':
			if a[n] == nil {
				return nil, fail("22004", "null values cannot be formatted as an SQL identifier")
			}
			s = quoteIdent(s)
		case 'L':
			if a[n] == nil {
				s = "NULL"
			} else {
				s = quoteLiteral(s)
			}
		default:
			return nil, fail("22023", "unrecognized format() type specifier")
		}
		next = n + 1
		if b.WriteString(s); b.Len() > maxString {
			return nil, tooLong()
		}
		if err := r.take(len(s)); err != nil {
			return nil, err
		}
	}
	return r.text(b.String())
}

package catalog

import (
	"crypto/md5"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// These are the functions on texts.
func init() {
	text := func(name string, f func(string) string) {
		define(name+"(text) text", func(r *run, a []any, _ []uint32) (any, error) { return r.text(f(a[0].(string))) })
	}
	text("lower", strings.ToLower)
	text("upper", strings.ToUpper)
	text("initcap", func(s string) string {
		start := true
		return strings.Map(func(c rune) rune {
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c > 127
			if !letter {
				start = true
				return c
			}
			if start {
				start = false
				return []rune(strings.ToUpper(string(c)))[0]
			}
			return []rune(strings.ToLower(string(c)))[0]
		}, s)
	})
	text("quote_ident", quoteIdent)
	text("quote_literal", quoteLiteral)
	text("reverse", func(s string) string {
		r := []rune(s)
		for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
			r[i], r[j] = r[j], r[i]
		}
		return string(r)
	})
	text("md5", func(s string) string { h := md5.Sum([]byte(s)); return hex.EncodeToString(h[:]) })
	define("quote_nullable(text) text", func(r *run, a []any, _ []uint32) (any, error) {
		if a[0] == nil {
			return "NULL", nil
		}
		return r.text(quoteLiteral(a[0].(string)))
	}).lax = true
	for _, name := range []string{"length", "char_length", "character_length"} {
		define(name+"(text) int4", func(r *run, a []any, _ []uint32) (any, error) {
			return int64(utf8.RuneCountInString(a[0].(string))), nil
		})
	}
	define("octet_length(text) int4", func(r *run, a []any, _ []uint32) (any, error) { return int64(len(a[0].(string))), nil })
	for name, trim := range map[string]func(s, cut string) string{"btrim": strings.Trim, "ltrim": strings.TrimLeft, "rtrim": strings.TrimRight} {
		define(name+"(text) text", func(r *run, a []any, _ []uint32) (any, error) { return trim(a[0].(string), " "), nil })
		define(name+"(text,text) text", func(r *run, a []any, _ []uint32) (any, error) {
			s, cut := a[0].(string), a[1].(string)
			if len(cut) > 100 {
				return nil, fail("54000", "more than 100 characters to trim")
			}
			return trim(s, cut), r.step(1 + len(s)*len(cut)/64)
		})
	}
	define("replace(text,text,text) text", func(r *run, a []any, _ []uint32) (any, error) {
		s, old, by := a[0].(string), a[1].(string), a[2].(string)
		if old == "" {
			return s, nil
		}
		if n := strings.Count(s, old); len(s)+n*(len(by)-len(old)) > maxString {
			return nil, tooLong()
		}
		return r.text(strings.ReplaceAll(s, old, by))
	})
	define("translate(text,text,text) text", func(r *run, a []any, _ []uint32) (any, error) {
		from, to := []rune(a[1].(string)), []rune(a[2].(string))
		m := map[rune]rune{}
		for i, c := range from {
			if _, ok := m[c]; ok {
				continue
			}
			m[c] = -1
			if i < len(to) {
				m[c] = to[i]
			}
		}
		if err := r.step(len(from)); err != nil {
			return nil, err
		}
		return r.text(strings.Map(func(c rune) rune {
			if d, ok := m[c]; ok {
				return d
			}
			return c
		}, a[0].(string)))
	})
	define("repeat(text,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
		s, n := a[0].(string), max(0, a[1].(int64))
		if s == "" || n == 0 {
			return "", nil
		}
		if n > maxString/int64(len(s)) {
			return nil, tooLong()
		}
		return r.text(strings.Repeat(s, int(n)))
	})
	define("starts_with(text,text) bool", func(r *run, a []any, _ []uint32) (any, error) {
		return strings.HasPrefix(a[0].(string), a[1].(string)), nil
	})
	define("ascii(text) int4", func(r *run, a []any, _ []uint32) (any, error) {
		for _, c := range a[0].(string) {
			return int64(c), nil
		}
		return int64(0), nil
	})
	define("chr(int4) text", func(r *run, a []any, _ []uint32) (any, error) {
		n := a[0].(int64)
		if n <= 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return nil, fail("54000", "requested character not valid for encoding")
		}
		return string(rune(n)), nil
	})
	define("to_hex(int8) text", func(r *run, a []any, _ []uint32) (any, error) {
		return strconv.FormatUint(uint64(a[0].(int64)), 16), nil
	})
	define("hashtext(text) int4", func(r *run, a []any, _ []uint32) (any, error) {
		h := int32(0)
		for _, c := range []byte(a[0].(string)) {
			h = h*31 + int32(c)
		}
		return int64(h), r.step(1 + len(a[0].(string))/64)
	})
	define("parse_ident(text) text[]", func(r *run, a []any, _ []uint32) (any, error) {
		parts, ok := splitName(a[0].(string))
		if !ok {
			return nil, fail("22023", "string is not a valid identifier")
		}
		var out []any
		for _, p := range parts {
			out = append(out, p)
		}
		return out, nil
	})
}

// lower is a text in small letters, or empty where it is NULL.
func lower(v any) string {
	s, _ := v.(string)
	return strings.ToLower(s)
}

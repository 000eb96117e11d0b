package catalog

import (
	"crypto/md5"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

func tooLong() error { return fail("54000", "a text is longer than %d bytes", maxString) }

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
	sub := func(s string, from, count int64) string {
		// Characters are counted from 1, and what is before the text counts too.
		end := int64(math.MaxInt64)
		if count < math.MaxInt64-max(from, 0) {
			end = from + count
		}
		n := int64(1)
		begin, stop := -1, len(s)
		for i := range s {
			if n >= end {
				stop = i
				break
			}
			if n >= from && begin < 0 {
				begin = i
			}
			n++
		}
		if begin < 0 || begin > stop {
			return ""
		}
		return s[begin:stop]
	}
	for _, name := range []string{"substring", "substr"} {
		define(name+"(text,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
			return r.text(sub(a[0].(string), a[1].(int64), math.MaxInt64))
		})
		define(name+"(text,int4,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
			if a[2].(int64) < 0 {
				return nil, fail("22011", "negative substring length not allowed")
			}
			return r.text(sub(a[0].(string), a[1].(int64), a[2].(int64)))
		})
	}
	define("substring(text,text) text", func(r *run, a []any, _ []uint32) (any, error) {
		s := a[0].(string)
		re, err := r.pattern("~", a[1].(string))
		if err != nil {
			return nil, err
		}
		if err := r.step(re.cost(s)); err != nil {
			return nil, err
		}
		m := re.FindStringSubmatchIndex(s)
		switch {
		case m == nil:
			return nil, nil
		case len(m) > 2 && m[2] < 0:
			return nil, nil
		case len(m) > 2:
			return r.text(s[m[2]:m[3]])
		}
		return r.text(s[m[0]:m[1]])
	})
	define("left(text,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
		s, n := a[0].(string), a[1].(int64)
		if n < 0 {
			n = max(0, int64(utf8.RuneCountInString(s))+n)
		}
		return r.text(sub(s, 1, n))
	})
	define("right(text,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
		s, n := a[0].(string), a[1].(int64)
		if n < 0 {
			return r.text(sub(s, 1-n, math.MaxInt64))
		}
		return r.text(sub(s, max(1, int64(utf8.RuneCountInString(s))-n+1), math.MaxInt64))
	})
	position := func(r *run, a []any, _ []uint32) (any, error) {
		s, part := a[0].(string), a[1].(string)
		i := strings.Index(s, part)
		if i < 0 {
			return int64(0), r.step(1 + len(s)/64)
		}
		return int64(utf8.RuneCountInString(s[:i])) + 1, r.step(1 + len(s)/64)
	}
	define("strpos(text,text) int4", position)
	define("position(text,text) int4", position)
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
	pad := func(left bool) func(r *run, a []any, _ []uint32) (any, error) {
		return func(r *run, a []any, _ []uint32) (any, error) {
			s, n, fill := a[0].(string), a[1].(int64), " "
			if len(a) > 2 {
				fill = a[2].(string)
			}
			have := int64(utf8.RuneCountInString(s))
			switch {
			case n <= 0:
				return "", nil
			case have >= n:
				return r.text(sub(s, 1, n))
			case fill == "":
				return s, nil
			case n > maxString/4:
				return nil, tooLong()
			}
			runes := []rune(fill)
			var b strings.Builder
			for i := range n - have {
				b.WriteRune(runes[int(i)%len(runes)])
			}
			if left {
				return r.text(b.String() + s)
			}
			return r.text(s + b.String())
		}
	}
	define("lpad(text,int4) text", pad(true))
	define("lpad(text,int4,text) text", pad(true))
	define("rpad(text,int4) text", pad(false))
	define("rpad(text,int4,text) text", pad(false))
	define("split_part(text,text,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
		s, n := a[0].(string), a[2].(int64)
		if n == 0 {
			return nil, fail("22023", "field position must not be zero")
		}
		parts := []string{s}
		if sep := a[1].(string); sep != "" {
			if err := r.take(16 * strings.Count(s, sep)); err != nil {
				return nil, err
			}
			parts = strings.Split(s, sep)
		}
		if n < 0 {
			n = int64(len(parts)) + n + 1
		}
		if n < 1 || n > int64(len(parts)) {
			return "", nil
		}
		return r.text(parts[n-1])
	})
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
	regexpReplace := func(r *run, a []any, _ []uint32) (any, error) {
		s, by, flags := a[0].(string), a[2].(string), ""
		if len(a) > 3 {
			flags = a[3].(string)
		}
		kind := "~"
		if strings.Contains(flags, "i") {
			kind = "~*"
		}
		re, err := r.pattern(kind, a[1].(string))
		if err != nil {
			return nil, err
		}
		limit, cost := 1, re.cost(s)
		if strings.Contains(flags, "g") {
			limit, cost = -1, re.costAll(s)
		}
		if err := r.step(cost); err != nil {
			return nil, err
		}
		var b strings.Builder
		last := 0
		for _, m := range re.FindAllStringSubmatchIndex(s, limit) {
			b.WriteString(s[last:m[0]])
			for i := 0; i < len(by); i++ {
				if by[i] != '\\' || i+1 == len(by) {
					b.WriteByte(by[i])
					continue
				}
				i++
				switch c := by[i]; {
				case c == '&':
					b.WriteString(s[m[0]:m[1]])
				case c >= '1' && c <= '9':
					if g := 2 * int(c-'0'); g+1 < len(m) && m[g] >= 0 {
						b.WriteString(s[m[g]:m[g+1]])
					}
				default:
					b.WriteByte(c)
				}
			}
			if last = m[1]; b.Len() > maxString {
				return nil, tooLong()
			}
		}
		b.WriteString(s[last:])
		return r.text(b.String())
	}
	define("regexp_replace(text,text,text) text", regexpReplace)
	define("regexp_replace(text,text,text,text) text", regexpReplace)
	groups := func(r *run, a []any) ([]any, error) {
		s := a[0].(string)
		re, err := r.pattern("~", a[1].(string))
		if err != nil {
			return nil, err
		}
		if err := r.step(re.cost(s)); err != nil {
			return nil, err
		}
		m := re.FindStringSubmatchIndex(s)
		if m == nil {
			return nil, nil
		}
		if len(m) > 2 {
			m = m[2:]
		}
		var out []any
		for i := 0; i+1 < len(m); i += 2 {
			if m[i] < 0 {
				out = append(out, nil)
			} else {
				out = append(out, s[m[i]:m[i+1]])
			}
		}
		return out, nil
	}
	define("regexp_match(text,text) text[]", func(r *run, a []any, _ []uint32) (any, error) {
		out, err := groups(r, a)
		if out == nil || err != nil {
			return nil, err
		}
		return out, nil
	})
	defineSet("regexp_matches(text,text) text[]", nil, func(r *run, a []any, _ []uint32) ([]any, error) {
		out, err := groups(r, a)
		if out == nil || err != nil {
			return nil, err
		}
		return []any{out}, nil
	})
	splits := func(r *run, a []any) ([]any, error) {
		s := a[0].(string)
		re, err := r.pattern("~", a[1].(string))
		if err != nil {
			return nil, err
		}
		if err := r.step(re.costAll(s)); err != nil {
			return nil, err
		}
		if err := r.take(16 * len(s)); err != nil {
			return nil, err
		}
		var out []any
		for _, p := range re.Split(s, -1) {
			out = append(out, p)
		}
		return out, nil
	}
	define("regexp_split_to_array(text,text) text[]", func(r *run, a []any, _ []uint32) (any, error) {
		out, err := splits(r, a)
		if err != nil {
			return nil, err
		}
		return r.list(out)
	})
	defineSet("regexp_split_to_table(text,text) text", nil, func(r *run, a []any, _ []uint32) ([]any, error) { return splits(r, a) })
	define("starts_with(text,text) bool", func(r *run, a []any, _ []uint32) (any, error) {
		return strings.HasPrefix(a[0].(string), a[1].(string)), nil
	})
	define("like_escape(text,text) text", func(r *run, a []any, _ []uint32) (any, error) {
		// To a pattern whose escape is the backslash.
		pattern, esc := a[0].(string), a[1].(string)
		if len(pattern) > maxPattern || utf8.RuneCountInString(esc) > 1 {
			return nil, fail("22019", "invalid escape string")
		}
		if esc == `\` {
			return pattern, nil
		}
		pattern = strings.ReplaceAll(pattern, `\`, `\\`)
		if esc == "" {
			return pattern, nil
		}
		return strings.NewReplacer(esc+esc, esc, esc, `\`).Replace(pattern), nil
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
	define("to_char(timestamptz,text) text", func(r *run, a []any, ts []uint32) (any, error) { return r.format(a[0], ts[0]) })
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

package catalog

import (
	"strings"
	"unicode/utf8"
)

// These are the functions with regular expressions.
func init() {
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
		re, err := r.patternFor("~", a[1].(string), s)
		if err != nil {
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
}

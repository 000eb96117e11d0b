package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parse reads a literal as PostgreSQL's input functions do.
func (r *run) parse(s string, t uint32) (any, error) {
	t = base(t)
	bad := func() error {
		return fail("22P02", "invalid input syntax for type %s: %s", r.c.formatType(t, -1), strconv.Quote(clip(s)))
	}
	switch class(t) {
	case 'b':
		switch v := strings.ToLower(strings.TrimSpace(s)); {
		case v == "1" || v == "on" || v != "" && (strings.HasPrefix("true", v) || strings.HasPrefix("yes", v)):
			return true, nil
		case v == "0" || v == "off" || v == "of" || v != "" && (strings.HasPrefix("false", v) || strings.HasPrefix("no", v)):
			return false, nil
		}
		return nil, bad()
	case 'n':
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil {
			if isReg(t) {
				return r.c.lookupReg(s, t)
			}
			return nil, bad()
		}
		return inRange(n, t)
	case 'f':
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || strings.ContainsAny(s, "xXpP_") {
			return nil, bad()
		}
		return f, nil
	case 't':
		v := strings.TrimSpace(s)
		if strings.EqualFold(v, "now") {
			return time.Now().UTC(), nil
		}
		for _, layout := range []string{"2006-01-02 15:04:05.999999Z07", "2006-01-02 15:04:05.999999Z07:00", "2006-01-02T15:04:05.999999Z07:00", "2006-01-02 15:04:05.999999", "2006-01-02T15:04:05.999999", "2006-01-02 15:04", "2006-01-02"} {
			if p, err := time.Parse(layout, v); err == nil {
				p = p.UTC()
				if t == tDate {
					p = p.Truncate(24 * time.Hour)
				}
				return p, nil
			}
		}
		if len(v) >= 10 && v[4] == '-' && v[7] == '-' && strings.Trim(v[:10], "-0123456789") == "" {
			return nil, fail("22008", "date/time field value out of range: %s", strconv.Quote(clip(s)))
		}
		return nil, fail("22007", "invalid input syntax for type %s: %s", r.c.formatType(t, -1), strconv.Quote(clip(s)))
	case 'a':
		if t == tInt2Vector || t == tOidVector {
			var out []any
			for _, f := range strings.Fields(s) {
				v, err := r.parse(f, elem(t))
				if err != nil {
					return nil, err
				}
				out = append(out, v)
			}
			return r.list(out)
		}
		return r.parseArray(s, elem(t))
	case 'r':
		return nil, unsupported("a composite literal")
	}
	switch t {
	case tChar:
		switch {
		case s != "" && s[0] >= 0x80:
			s = fmt.Sprintf(`\%03o`, s[0]) // half of a character
		case len(s) > 1:
			s = s[:1]
		}
	case tName:
		s = truncate(s, 63)
	}
	return s, nil
}

// inRange is a number as one of an integer type, or of oid and its kin.
func inRange(n int64, t uint32) (any, error) {
	switch {
	case t == tInt2 && n != int64(int16(n)), t == tInt4 && n != int64(int32(n)):
		return nil, fail("22003", "%s out of range", sqlNames[t])
	case t == tInt2 || t == tInt4 || t == tInt8 || t == tXid8:
		return n, nil
	case n != int64(uint32(n)) && n != int64(int32(n)):
		return nil, fail("22003", "value %d is out of range for type oid", n)
	}
	return int64(uint32(n)), nil
}

// parseArray reads {a,"b",NULL}, with arrays inside arrays flat in their own lists.
func (r *run) parseArray(s string, el uint32) (any, error) {
	bad := fail("22P02", "malformed array literal: %s", strconv.Quote(clip(s)))
	i := 0
	skip := func() {
		for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n') {
			i++
		}
	}
	var list func(depth int) ([]any, bool, error)
	list = func(depth int) ([]any, bool, error) {
		out := []any{}
		if depth > 6 || i >= len(s) || s[i] != '{' {
			return nil, false, nil
		}
		i++
		if skip(); i < len(s) && s[i] == '}' {
			i++
			return out, true, nil
		}
		for {
			if skip(); i >= len(s) {
				return nil, false, nil
			}
			switch s[i] {
			case '{':
				inner, ok, err := list(depth + 1)
				if !ok || err != nil {
					return nil, false, err
				}
				out = append(out, inner)
			default:
				var b strings.Builder
				quoted := s[i] == '"'
				if quoted {
					for i++; i < len(s) && s[i] != '"'; i++ {
						if s[i] == '\\' && i+1 < len(s) {
							i++
						}
						b.WriteByte(s[i])
					}
					i++
				} else {
					for i < len(s) && s[i] != ',' && s[i] != '}' && s[i] != '{' && s[i] != '"' {
						if s[i] == '\\' && i+1 < len(s) {
							i++
						}
						b.WriteByte(s[i])
						i++
					}
				}
				text := b.String()
				if !quoted {
					text = strings.TrimSpace(text)
					if text == "" {
						return nil, false, nil
					}
				}
				if !quoted && strings.EqualFold(text, "null") {
					out = append(out, nil)
				} else {
					v, err := r.parse(text, el)
					if err != nil {
						return nil, false, err
					}
					out = append(out, v)
				}
			}
			if skip(); i >= len(s) {
				return nil, false, nil
			}
			switch s[i] {
			case ',':
				i++
			case '}':
				i++
				return out, true, nil
			default:
				return nil, false, nil
			}
		}
	}
	skip()
	out, ok, err := list(0)
	if err != nil {
		return nil, err
	}
	if skip(); !ok || i != len(s) {
		return nil, bad
	}
	return r.list(out)
}

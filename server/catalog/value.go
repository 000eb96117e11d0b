package catalog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// tuple is a row of a relation. nil is the row of NULLs that an outer join adds.
type tuple []any

// record is a composite value.
type record struct {
	cols []Column
	vals []any
	size int // see size
}

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

func clip(s string) string { return truncate(s, 100) }

// truncate cuts a text to at most n bytes, between characters.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

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

// format writes a value as PostgreSQL's output functions do.
func (r *run) format(v any, t uint32) (string, error) {
	t = base(t)
	switch v := v.(type) {
	case nil:
		return "", nil
	case bool:
		if v {
			return "t", nil
		}
		return "f", nil
	case int64:
		if isReg(t) {
			return r.c.showReg(uint32(v), t), nil
		}
		return strconv.FormatInt(v, 10), nil
	case float64:
		return formatFloat(v), nil
	case string:
		return v, nil
	case time.Time:
		return formatTime(v, t), nil
	case *record:
		parts := make([]string, len(v.vals))
		n := 0
		for i, x := range v.vals {
			if x == nil {
				continue
			}
			s, err := r.format(x, v.cols[i].OID)
			if err != nil {
				return "", err
			}
			if s == "" || strings.ContainsAny(s, "\"\\(), \t\n") {
				s = `"` + strings.NewReplacer(`"`, `""`, `\`, `\\`).Replace(s) + `"`
			}
			parts[i] = s
			if n += len(s); n > maxString {
				return "", fail("54000", "a text is longer than %d bytes", maxString)
			}
		}
		return "(" + strings.Join(parts, ",") + ")", r.step(len(parts))
	case []any:
		vector := t == tInt2Vector || t == tOidVector
		parts := make([]string, len(v))
		n := 0
		for i, x := range v {
			if inner, ok := x.([]any); ok {
				s, err := r.format(inner, t)
				if err != nil {
					return "", err
				}
				parts[i] = s
			} else if x == nil {
				parts[i] = "NULL"
			} else {
				s, err := r.format(x, elem(t))
				if err != nil {
					return "", err
				}
				if s == "" || strings.ContainsAny(s, "{}\"\\, \t\n") || strings.EqualFold(s, "null") {
					s = `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"`
				}
				parts[i] = s
			}
			if n += len(parts[i]); n > maxString {
				return "", fail("54000", "a text is longer than %d bytes", maxString)
			}
		}
		if err := r.step(len(parts)); err != nil {
			return "", err
		}
		if vector {
			return strings.Join(parts, " "), nil
		}
		return "{" + strings.Join(parts, ",") + "}", nil
	}
	return "", fail("XX000", "a value of an unknown kind")
}

func formatFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case math.IsNaN(f):
		return "NaN"
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "e+0", "e+", 1)
}

func formatTime(v time.Time, t uint32) string {
	switch t {
	case tDate:
		return v.UTC().Format("2006-01-02")
	case tTimestamp:
		return v.UTC().Format("2006-01-02 15:04:05.999999")
	}
	return v.UTC().Format("2006-01-02 15:04:05.999999") + "+00"
}

// compare orders two values of comparable types, neither of them NULL. Texts are in the order of their bytes, as in the collation C.
func compare(a, b any) int {
	switch a := a.(type) {
	case bool:
		b, _ := b.(bool)
		switch {
		case a == b:
			return 0
		case a:
			return 1
		}
		return -1
	case int64:
		switch b := b.(type) {
		case int64:
			switch {
			case a < b:
				return -1
			case a > b:
				return 1
			}
			return 0
		case float64:
			return compareFloat(float64(a), b)
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return compareFloat(a, float64(b))
		case float64:
			return compareFloat(a, b)
		}
	case string:
		b, _ := b.(string)
		return strings.Compare(a, b)
	case time.Time:
		b, _ := b.(time.Time)
		return a.Compare(b)
	case []any:
		b, _ := b.([]any)
		for i := range min(len(a), len(b)) {
			if c := compareNull(a[i], b[i]); c != 0 {
				return c
			}
		}
		return len(a) - len(b)
	case *record:
		b, ok := b.(*record)
		if !ok {
			return 1
		}
		for i := range min(len(a.vals), len(b.vals)) {
			if c := compareNull(a.vals[i], b.vals[i]); c != 0 {
				return c
			}
		}
		return len(a.vals) - len(b.vals)
	}
	return 0
}

// compareFloat has NaN equal to itself and above everything.
func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	}
	return -1
}

// compareNull has NULL equal to itself and above everything.
func compareNull(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return compare(a, b)
}

// size is about how many bytes a value has, with what it is made of as often as it is in it: a row of rows of rows can be far larger than what it was made from.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return 16 + len(v)
	case []any:
		n := 24
		for _, x := range v {
			n += 16 + size(x)
		}
		return n
	case *record:
		return v.size
	}
	return 16
}

// weight is how many steps it takes to compare a value.
func weight(v any) int { return 1 + size(v)/64 }

// record makes a composite value.
func (r *run) record(cols []Column, vals []any) (*record, error) {
	n := 48
	for _, v := range vals {
		n += 16 + size(v)
	}
	if n > maxValue {
		return nil, fail("54000", "a value is larger than %d bytes", maxValue)
	}
	if err := r.take(48); err != nil {
		return nil, err
	}
	return &record{cols: cols, vals: vals, size: n}, r.step(1 + len(vals)/16 + n/1024)
}

// rowKey is what tells a row from others.
func (r *run) rowKey(t tuple) (string, error) {
	n := 48
	for _, v := range t {
		n += size(v)
	}
	if err := r.take(n); err != nil {
		return "", err
	}
	var b []byte
	for _, v := range t {
		b = key(b, v)
	}
	return string(b), r.step(n / 256)
}

// key appends what tells a value from all others of its type.
func key(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 'N')
	case bool:
		if v {
			return append(b, 'T')
		}
		return append(b, 'F')
	case int64:
		// A whole float is the same key as the integer.
		b = append(b, 'i')
		b = strconv.AppendInt(b, v, 10)
		return append(b, ';')
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<62 {
			return key(b, int64(v))
		}
		b = append(b, 'f')
		b = strconv.AppendFloat(b, v, 'g', -1, 64)
		return append(b, ';')
	case string:
		b = append(b, 's')
		b = strconv.AppendInt(b, int64(len(v)), 10)
		b = append(b, ':')
		return append(b, v...)
	case time.Time:
		b = append(b, 't')
		b = strconv.AppendInt(b, v.UnixMicro(), 10)
		return append(b, ';')
	case []any:
		b = append(b, '[')
		for _, x := range v {
			b = key(b, x)
		}
		return append(b, ']')
	case *record:
		b = append(b, '(')
		for _, x := range v.vals {
			b = key(b, x)
		}
		return append(b, ')')
	}
	return append(b, '?')
}

func quoteIdent(s string) string {
	plain := s != ""
	for i, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c == '_' || i > 0 && (c >= '0' && c <= '9' || c == '$' && false)) {
			plain = false
		}
	}
	if plain && !reserved[s] {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

func quoteLiteral(s string) string {
	q := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(q, `\`, `\\`)
	}
	return q
}

// reserved are the words that are quoted as names.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(reservedWords) {
		m[w] = true
	}
	return m
}()

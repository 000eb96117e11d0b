package catalog

import (
	"math"
	"strconv"
	"strings"
)

// These are the functions that write JSON.
func init() {
	toJSON := func(r *run, a []any, ts []uint32) (any, error) { return r.json(a[0], ts[0]) }
	define("row_to_json(any) json", toJSON)
	define("to_json(any) json", toJSON)
	define("to_jsonb(any) jsonb", toJSON)
	define("array_to_json(anyarray) json", toJSON)
	object := func(r *run, a []any, ts []uint32) (any, error) {
		if len(a)%2 != 0 {
			return nil, fail("22023", "argument list must have even number of elements")
		}
		var cols []Column
		var vals []any
		for i := 0; i+1 < len(a); i += 2 {
			name, err := r.format(a[i], ts[i])
			if err != nil {
				return nil, err
			}
			cols, vals = append(cols, Column{name, ts[i+1]}), append(vals, a[i+1])
		}
		rec, err := r.record(cols, vals)
		if err != nil {
			return nil, err
		}
		return r.json(rec, tRecord)
	}
	define("json_build_object(...any) json", object).lax = true
	define("jsonb_build_object(...any) jsonb", object).lax = true
}

// json writes a value as to_json does.
func (r *run) json(v any, t uint32) (any, error) {
	var b strings.Builder
	var write func(v any, t uint32, depth int) error
	write = func(v any, t uint32, depth int) error {
		if b.Len() > maxString {
			return tooLong()
		}
		if depth > 50 {
			return fail("54001", "a value is nested too deep")
		}
		if err := r.step(1); err != nil {
			return err
		}
		switch x := v.(type) {
		case nil:
			b.WriteString("null")
		case bool:
			b.WriteString(strconv.FormatBool(x))
		case int64:
			if isReg(t) {
				writeJSONString(&b, r.c.showReg(uint32(x), t))
			} else if isInt(t) {
				b.WriteString(strconv.FormatInt(x, 10))
			} else {
				b.WriteString(`"` + strconv.FormatInt(x, 10) + `"`)
			}
		case float64:
			if math.IsNaN(x) || math.IsInf(x, 0) {
				b.WriteString(`"` + formatFloat(x) + `"`)
			} else {
				b.WriteString(formatFloat(x))
			}
		case *record:
			b.WriteByte('{')
			for i, f := range x.vals {
				if i > 0 {
					b.WriteByte(',')
				}
				writeJSONString(&b, x.cols[i].Name)
				b.WriteByte(':')
				if err := write(f, x.cols[i].OID, depth+1); err != nil {
					return err
				}
			}
			b.WriteByte('}')
		case []any:
			b.WriteByte('[')
			for i, f := range x {
				if i > 0 {
					b.WriteByte(',')
				}
				inner := elem(t)
				if _, nested := f.([]any); nested {
					inner = t
				}
				if err := write(f, inner, depth+1); err != nil {
					return err
				}
			}
			b.WriteByte(']')
		default:
			s, err := r.format(v, t)
			if err != nil {
				return err
			}
			if t == tJSON || t == tJSONB {
				b.WriteString(s)
			} else {
				writeJSONString(&b, s)
			}
		}
		return nil
	}
	if err := write(v, t, 0); err != nil {
		return nil, err
	}
	return r.text(b.String())
}

// writeJSONString writes a text in quotes.
func writeJSONString(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < 0x20:
			b.WriteString(`\u00` + hexDigits[c>>4:c>>4+1] + hexDigits[c&15:c&15+1])
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
}

const hexDigits = "0123456789abcdef"

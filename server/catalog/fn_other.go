package catalog

import (
	"math"
	"strconv"
	"strings"
	"time"
)

func init() {
	// arrays
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

	// numbers
	define("abs(int4) int4", func(r *run, a []any, _ []uint32) (any, error) {
		if n := a[0].(int64); n < 0 {
			return inRange(-n, tInt4)
		}
		return a[0], nil
	})
	define("abs(int8) int8", func(r *run, a []any, _ []uint32) (any, error) {
		switch n := a[0].(int64); {
		case n == math.MinInt64:
			return nil, fail("22003", "bigint out of range")
		case n < 0:
			return -n, nil
		}
		return a[0], nil
	})
	for name, f := range map[string]func(float64) float64{"abs": math.Abs, "floor": math.Floor, "ceil": math.Ceil, "ceiling": math.Ceil, "round": math.Round, "trunc": math.Trunc} {
		for _, t := range []string{"numeric", "float8"} {
			define(name+"("+t+") "+t, func(r *run, a []any, _ []uint32) (any, error) { return f(a[0].(float64)), nil })
		}
	}
	define("round(numeric,int4) numeric", func(r *run, a []any, _ []uint32) (any, error) {
		n := a[1].(int64)
		if n < -15 || n > 15 {
			return a[0], nil
		}
		p := math.Pow(10, float64(n))
		return math.Round(a[0].(float64)*p) / p, nil
	})
	define("mod(int4,int4) int4", func(r *run, a []any, _ []uint32) (any, error) {
		return wholeArithmetic("%", a[0].(int64), a[1].(int64), tInt4)
	})
	define("mod(int8,int8) int8", func(r *run, a []any, _ []uint32) (any, error) {
		return wholeArithmetic("%", a[0].(int64), a[1].(int64), tInt8)
	})

	// times
	part := func(r *run, a []any, _ []uint32) (any, error) {
		t := a[1].(time.Time)
		switch lower(a[0]) {
		case "epoch":
			return float64(t.UnixMicro()) / 1e6, nil
		case "year":
			return float64(t.Year()), nil
		case "month":
			return float64(t.Month()), nil
		case "day":
			return float64(t.Day()), nil
		case "hour":
			return float64(t.Hour()), nil
		case "minute":
			return float64(t.Minute()), nil
		case "second":
			return float64(t.Second()), nil
		case "timezone":
			return 0.0, nil
		}
		return nil, fail("22023", "unit %q not recognized", clip(lower(a[0])))
	}
	for _, t := range []string{"timestamptz", "timestamp", "date"} {
		define("extract(text,"+t+") numeric", part)
		define("date_part(text,"+t+") float8", part)
	}
	define("timezone(text,timestamptz) timestamp", func(r *run, a []any, _ []uint32) (any, error) { return a[1], nil })
	define("timezone(text,timestamp) timestamptz", func(r *run, a []any, _ []uint32) (any, error) { return a[1], nil })

	define("pg_typeof(any) regtype", func(r *run, a []any, ts []uint32) (any, error) { return int64(ts[0]), nil }).lax = true
	define("num_nulls(...any) int4", func(r *run, a []any, _ []uint32) (any, error) {
		n := int64(0)
		for _, v := range a {
			if v == nil {
				n++
			}
		}
		return n, nil
	}).lax = true
	define("row_to_json(any) json", func(r *run, a []any, ts []uint32) (any, error) { return r.json(a[0], ts[0]) })
	define("to_json(any) json", func(r *run, a []any, ts []uint32) (any, error) { return r.json(a[0], ts[0]) })
	define("to_jsonb(any) jsonb", func(r *run, a []any, ts []uint32) (any, error) { return r.json(a[0], ts[0]) })
	define("array_to_json(anyarray) json", func(r *run, a []any, ts []uint32) (any, error) { return r.json(a[0], ts[0]) })
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

package catalog

import (
	"math"
	"strconv"
	"strings"
	"time"
)

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
				return "", tooLong()
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
				return "", tooLong()
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

// formatFloat writes a double in as few digits as tell it from others.
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

// formatTime writes a time in UTC.
func formatTime(v time.Time, t uint32) string {
	switch t {
	case tDate:
		return v.UTC().Format("2006-01-02")
	case tTimestamp:
		return v.UTC().Format("2006-01-02 15:04:05.999999")
	}
	return v.UTC().Format("2006-01-02 15:04:05.999999") + "+00"
}

// formatInterval writes the time between two times.
func formatInterval(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	base := time.Time{}.Add(d % (24 * time.Hour)).Format("15:04:05.999999")
	if days := int64(d / (24 * time.Hour)); days > 0 {
		return sign + itoa(uint32(days)) + " days " + sign + base
	}
	return sign + base
}

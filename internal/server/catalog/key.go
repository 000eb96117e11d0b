package catalog

import (
	"math"
	"strconv"
	"time"
)

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

package datum

import (
	"math"
	"strconv"
)

// Key appends what tells a value from all others of its type.
func Key(b []byte, v Value) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 'N')
	case Bool:
		if v {
			return append(b, 'T')
		}
		return append(b, 'F')
	case Int:
		// A whole float is the same key as the integer.
		b = append(b, 'i')
		b = strconv.AppendInt(b, int64(v), 10)
		return append(b, ';')
	case Float:
		if f := float64(v); f == math.Trunc(f) && math.Abs(f) < 1<<62 {
			return Key(b, Int(v))
		}
		b = append(b, 'f')
		b = strconv.AppendFloat(b, float64(v), 'g', -1, 64)
		return append(b, ';')
	case Text:
		b = append(b, 's')
		b = strconv.AppendInt(b, int64(len(v)), 10)
		b = append(b, ':')
		return append(b, v...)
	case Time:
		b = append(b, 't')
		b = strconv.AppendInt(b, v.UnixMicro(), 10)
		return append(b, ';')
	case List:
		return append(keys(append(b, '['), v), ']')
	case *Record:
		return append(keys(append(b, '('), v.Values), ')')
	}
	return append(b, '?')
}

func keys(b []byte, values []Value) []byte {
	for _, x := range values {
		b = Key(b, x)
	}
	return b
}

package catalog

import (
	"math"
	"strings"
	"time"
)

// tuple is a row of a relation. nil is the row of NULLs that an outer join adds.
type tuple []any

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

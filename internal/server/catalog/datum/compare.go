package datum

import (
	"cmp"
	"strings"
)

// Compare orders two values of comparable types, neither of them NULL. Texts are in the order of
// their bytes, as in the collation C.
func Compare(a, b Value) int {
	switch a := a.(type) {
	case Bool:
		b, _ := b.(Bool)
		switch {
		case a == b:
			return 0
		case bool(a):
			return 1
		}
		return -1
	case Int:
		if b, ok := b.(Int); ok {
			return cmp.Compare(a, b)
		}
		return compareFloat(Float(a), b)
	case Float:
		return compareFloat(a, b)
	case Text:
		b, _ := b.(Text)
		return strings.Compare(string(a), string(b))
	case Time:
		b, _ := b.(Time)
		return a.Time.Compare(b.Time)
	case List:
		b, _ := b.(List)
		return compareLists(a, b)
	case *Record:
		b, ok := b.(*Record)
		if !ok {
			return 1
		}
		return compareLists(a.Values, b.Values)
	}
	return 0
}

// compareFloat has NaN equal to itself and above everything.
func compareFloat(a Float, b Value) int {
	switch b := b.(type) {
	case Int:
		return -cmp.Compare(-a, -Float(b))
	case Float:
		return -cmp.Compare(-a, -b)
	}
	return 0
}

func compareLists(a, b []Value) int {
	for i := range min(len(a), len(b)) {
		if c := CompareNull(a[i], b[i]); c != 0 {
			return c
		}
	}
	return len(a) - len(b)
}

// CompareNull has NULL equal to itself and above everything.
func CompareNull(a, b Value) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return Compare(a, b)
}

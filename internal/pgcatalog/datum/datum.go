package datum

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
)

// Value is a value of an SQL type: a Bool, Int, Float, Numeric, Text, Time, List or *Record. NULL
// is nil.
type Value interface{ value() }

// The kinds of values. An Int is a whole number or an OID, a Float a double, a Text
// what has no kind of its own, such as an interval, a List an array. A Numeric is a decimal number.
type (
	Bool  bool
	Int   int64
	Float float64
	Text  string
	Time  struct{ time.Time }
	List  []Value
)

const (
	True  = Bool(true)
	False = Bool(false)
)

type Record struct {
	Columns []Column
	Values  []Value
	size    int
}

func NewRecord(columns []Column, values []Value) *Record {
	r := &Record{Columns: columns, Values: values, size: 48}
	for _, v := range values {
		r.size += 16 + Size(v)
	}
	return r
}

func (Bool) value()    {}
func (Int) value()     {}
func (Float) value()   {}
func (Text) value()    {}
func (Time) value()    {}
func (List) value()    {}
func (*Record) value() {}

// Column is the name and the type of a column.
type Column struct {
	Name string
	OID  uint32 // its PostgreSQL type
}

// Tuple is a row of a relation. nil is the row of NULLs that an outer join adds.
type Tuple []Value

// OID is a value as an OID, and 0 where it is NULL.
func OID(v Value) uint32 {
	n, _ := v.(Int)
	return uint32(n)
}

// Size is about how many bytes a value has, with what it is made of as often as it is in it: a row
// of rows of rows can be far larger than what it was made from.
func Size(v Value) int {
	switch v := v.(type) {
	case Text:
		return 16 + len(v)
	case Numeric:
		return 48 + v.number().BitLen()/8
	case List:
		n := 24
		for _, x := range v {
			n += 16 + Size(x)
		}
		return n
	case *Record:
		return v.size
	}
	return 16
}

// Weight is how many steps it takes to compare a value.
func Weight(v Value) int { return 1 + Size(v)/64 }

func Texts(texts ...string) List {
	out := make(List, len(texts))
	for i, s := range texts {
		out[i] = Text(s)
	}
	return out
}

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
		switch b := b.(type) {
		case Int:
			return cmp.Compare(a, b)
		case Numeric:
			return NewNumeric(int64(a)).Compare(b)
		}
		return compareFloat(Float(a), b)
	case Numeric:
		switch b := b.(type) {
		case Int:
			return a.Compare(NewNumeric(int64(b)))
		case Numeric:
			return a.Compare(b)
		}
		return compareFloat(Float(a.Float()), b)
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
	case Numeric:
		return -cmp.Compare(-a, -Float(b.Float()))
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
	case Numeric:
		n := v.Trimmed()
		if i, ok := n.Int64(); ok && n.scale == 0 {
			return Key(b, Int(i))
		}
		b = append(append(b, 'f'), n.String()...)
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

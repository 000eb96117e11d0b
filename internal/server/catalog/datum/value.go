package datum

import "time"

// Value is a value of an SQL type: a Bool, Int, Float, Text, Time, List or *Record. NULL is nil.
type Value interface{ value() }

// The kinds of values. An Int is a whole number or an OID, a Float a double or a numeric, a Text
// what has no kind of its own, such as an interval, a List an array.
type (
	Bool  bool
	Int   int64
	Float float64
	Text  string
	Time  struct{ time.Time }
	List  []Value
)

// What is true and what is not.
const (
	True  = Bool(true)
	False = Bool(false)
)

// Record is a composite value.
type Record struct {
	Columns []Column
	Values  []Value
	size    int
}

// NewRecord makes a composite value.
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

// Texts is an array of texts.
func Texts(texts ...string) List {
	out := make(List, len(texts))
	for i, s := range texts {
		out[i] = Text(s)
	}
	return out
}

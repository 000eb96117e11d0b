package policy

// Type is the type of a column. The engines have many more; these are the ones
// whose every value has a place on a lattice or in a list.
type Type int

const (
	// NoType is the zero value: a type that Discreet does not read.
	NoType Type = iota
	// Integer is whole numbers.
	Integer
	// Decimal is numbers on a lattice of whole multiples of a granularity.
	Decimal
	// Text is Unicode text.
	Text
	// Boolean is true and false.
	Boolean
	// Date is days, without a time.
	Date
	// Timestamp is moments, to the microsecond and in UTC.
	Timestamp
)

// Types lists all types in the order of the documentation.
func Types() []Type { return []Type{Integer, Decimal, Text, Boolean, Date, Timestamp} }

func (t Type) String() string {
	switch t {
	case Integer:
		return "integer"
	case Decimal:
		return "decimal"
	case Text:
		return "text"
	case Boolean:
		return "boolean"
	case Date:
		return "date"
	case Timestamp:
		return "timestamp"
	}
	return "unsupported"
}

// otherTypeNames are spellings of other systems, for suggestions only: a
// policy has one spelling for each type.
var otherTypeNames = map[string]Type{
	"int": Integer, "int4": Integer, "int8": Integer, "int64": Integer, "bigint": Integer, "smallint": Integer, "whole": Integer,
	"float": Decimal, "double": Decimal, "real": Decimal, "numeric": Decimal, "number": Decimal, "money": Decimal,
	"string": Text, "str": Text, "varchar": Text, "char": Text, "category": Text,
	"bool": Boolean, "bit": Boolean,
	"day": Date, "datetime": Timestamp, "timestamptz": Timestamp, "time": Timestamp,
}

package outer

// Kind is the type of a column of a released result.
type Kind int

// The kinds of columns.
const (
	Integer Kind = iota
	Decimal
	Real
	Text
	Boolean
	Date
	Timestamp
)

var kindNames = [...]string{"integer", "decimal", "real", "text", "boolean", "date", "timestamp"}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Column is a column of a released result, or of what is made of them.
type Column struct {
	Name     string
	Kind     Kind
	Decimals int // digits after the point, for Decimal
	// Type is PostgreSQL's name of the type, where it is not the one that the kind mostly has.
	Type string
}

// Table is a released result, or what is made of them. A value is nil, a json.Number (Integer,
// Decimal and Real), a bool, or a string: a text, a date as 2024-01-31, a timestamp as 2024-01-31
// 13:45:00.
type Table struct {
	Name    string
	Columns []Column
	Rows    [][]any
}

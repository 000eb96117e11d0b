package plan

import "errors"

// Parameter is a value for $1, $2, ... of a question, as a client sent it. Its text is that of a literal of its kind, and is never read as SQL.
type Parameter struct {
	Kind string // integer, decimal, text, boolean, date or timestamp; text where it is empty
	Text string
	Null bool
}

// Bind writes the values of its parameters into a question.
func Bind(text string, values []Parameter) (string, error) { return text, errors.ErrUnsupported }

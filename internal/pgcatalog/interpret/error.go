package interpret

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pganalyze/pg_query_go/v6/parser"
)

// Error is a query that cannot be answered, with its SQLSTATE.
type Error struct {
	Code     string
	Message  string
	Hint     string
	Position int // in bytes, or -1
}

func (e *Error) Error() string { return e.Message }

// Fail makes an error without a place.
func Fail(code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Position: -1}
}

// locate adds a place to an error that has none.
func locate(err error, position int32) error {
	var e *Error
	if errors.As(err, &e) && e.Position < 0 && position >= 0 {
		e.Position = int(position)
	}
	return err
}

func hint(err error, text string) error {
	var e *Error
	if errors.As(err, &e) {
		e.Hint = text
	}
	return err
}

// unsupported refuses what PostgreSQL has and this package has not.
func unsupported(what string) error {
	return hint(Fail("0A000", "%s is not supported in queries about the catalogue", what),
		"ask for columns of pg_catalog or information_schema with a plain SELECT")
}

// syntaxError is what the parser says, with the place in bytes.
func syntaxError(text string, err error) error {
	var p *parser.Error
	if errors.As(err, &p) {
		position := -1
		if p.Cursorpos > 0 {
			// The parser counts characters, from 1.
			n := 0
			for i := range text {
				if n++; n == p.Cursorpos {
					position = i
					break
				}
			}
		}
		code := "42601"
		if strings.HasPrefix(p.Message, "invalid byte sequence") {
			code = "22021"
		}
		return &Error{Code: code, Message: p.Message, Position: position}
	}
	return Fail("42601", "%s", strings.TrimSpace(err.Error()))
}

// rescue is the last resort. Nothing is known that needs it.
func rescue(err *error) {
	if recover() != nil {
		*err = Fail("XX000", "internal error in the catalogue")
	}
}

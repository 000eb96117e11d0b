package syntax

import "fmt"

// Refusal is returned when a question cannot be asked. It is decided from the
// text and the policy alone, before anything is charged and before any data is
// touched, so it tells nothing about the data and costs nothing.
type Refusal struct {
	Reason   string // what is wrong
	Instead  string // what to write instead; may be empty
	Position int    // byte offset into the text, or -1
	// Code is PostgreSQL's SQLSTATE for what is wrong, where it has one: clients tell a table that does not exist from one that cannot be
	// used. It is empty where something is simply not done here.
	Code string
}

// The codes.
const (
	badGrammar = "42601"
	NoTable    = "42P01"
	NoColumn   = "42703"
	NoFunction = "42883"
)

func (r *Refusal) Error() string {
	if r.Instead == "" {
		return r.Reason
	}
	return r.Reason + "; " + r.Instead
}

// Refuse makes a Refusal at a position of the text; pos is -1 where there is none.
func Refuse(pos int32, instead, format string, args ...any) *Refusal {
	return &Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: int(pos)}
}

// WithCode gives a refusal its code.
func (r *Refusal) WithCode(code string) *Refusal {
	r.Code = code
	return r
}

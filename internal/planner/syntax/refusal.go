package syntax

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/grammar"
)

// Kind is what kind of thing is wrong with a question: the SQLSTATE that PostgreSQL has for it. It
// is what PostgreSQL would say about the same statement to somebody who may not read the tables,
// and otherwise that we do not do it. Whoever refuses names it.
type Kind string

// The kinds.
const (
	Unsupported    Kind = "0A000" // it is SQL, and not done here
	OutOfRange     Kind = "22003"
	BadTime        Kind = "22007"
	BadEncoding    Kind = "22021"
	BadValue       Kind = "22023"
	BadEscape      Kind = "22025"
	BadPattern     Kind = "2201B"
	BadText        Kind = "22P02"
	Private        Kind = "42501" // about single people, or more than the policy gives
	BadName        Kind = "42000" // a name or a type, and it is not known which of them
	Malformed      Kind = "42601"
	Duplicate      Kind = "42701"
	Ambiguous      Kind = "42702"
	NoColumn       Kind = "42703"
	NoWindow       Kind = "42704"
	DuplicateAlias Kind = "42712"
	Grouping       Kind = "42803"
	Mismatch       Kind = "42804"
	NotAggregate   Kind = "42809"
	CannotCast     Kind = "42846"
	NoFunction     Kind = "42883" // or none for values of these types; operators are functions
	Reserved       Kind = "42939"
	NoTable        Kind = "42P01"
	NoParameter    Kind = "42P02"
	BadReference   Kind = "42P10"
	BadObject      Kind = "42P17" // the policy's, which the owner has to correct
	Windowing      Kind = "42P20"
	Exhausted      Kind = "53400" // a budget of its own, which is one of the limits that an owner sets
	TooComplex     Kind = "54001" // longer, deeper or more than what we compute
)

// Refuse makes a Refusal at a position of the text; pos is -1 where there is none.
func Refuse(k Kind, pos int32, instead, format string, args ...any) *api.Refusal {
	return &api.Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: int(pos), Code: string(k)}
}

// KindOf is the kind of an error, where one is refused because of it.
func KindOf(err error) Kind {
	if r := (*api.Refusal)(nil); errors.As(err, &r) && r.Code != "" {
		return Kind(r.Code)
	}
	return Unsupported
}

// excessKind is the kind of what is too much in a text, or not text.
func excessKind(k grammar.ExcessKind) Kind {
	if k == grammar.NotUTF8 || k == grammar.ZeroByte {
		return BadEncoding
	}
	return TooComplex
}

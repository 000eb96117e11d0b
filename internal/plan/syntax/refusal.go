package syntax

import (
	"fmt"

	"github.com/discreet-dp/discreet/api"
)

// The codes.
const (
	badGrammar = "42601"
	NoTable    = "42P01"
	NoColumn   = "42703"
	NoFunction = "42883"
)

// Refuse makes a Refusal at a position of the text; pos is -1 where there is none.
func Refuse(pos int32, instead, format string, args ...any) *api.Refusal {
	return &api.Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: int(pos)}
}

package plan

import (
	"fmt"

	"github.com/discreet-dp/discreet/api"
)

// Refusal is what a question gets that cannot be asked.
type Refusal = api.Refusal

// The codes.
const (
	badGrammar = "42601"
	noTable    = "42P01"
	noColumn   = "42703"
	noFunction = "42883"
)

// refuse makes a Refusal at a position of the text; pos is -1 where there is none.
func refuse(pos int32, instead, format string, args ...any) *Refusal {
	return &Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: int(pos)}
}

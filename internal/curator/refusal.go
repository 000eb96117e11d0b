package curator

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
)

// refusal says no to a question as a whole.
func refusal(instead, format string, args ...any) *syntax.Refusal {
	return &syntax.Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: -1}
}

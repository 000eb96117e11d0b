package curator

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/plan"
)

// refusal says no to a question as a whole.
func refusal(instead, format string, args ...any) *plan.Refusal {
	return &plan.Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: -1}
}

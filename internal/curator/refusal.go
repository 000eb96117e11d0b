package curator

import (
	"fmt"

	"github.com/discreet-dp/discreet/api"
)

// refusal says no to a question as a whole.
func refusal(instead, format string, args ...any) *api.Refusal {
	return &api.Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: -1}
}

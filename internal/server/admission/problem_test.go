package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/problem"
	"github.com/discreet-dp/discreet/internal/test/errortable"
)

// TestProblemOf: every error has one kind, and what is known about the charge, however it is
// wrapped; none but a damaged ledger and what nobody thought of is without words.
func TestProblemOf(t *testing.T) {
	errortable.Hold(t, "testdata/problems.txt", func(err error) string {
		p := problem.Of(err)
		text := fmt.Sprintf("%s, spent %s", p.Kind, [...]string{"perhaps", "nothing", "something"}[p.Spent])
		for name, value := range map[string]bool{"a price": p.Price != nil, "a position": p.Position != nil} {
			if value {
				text += ", has " + name
			}
		}
		if p.Retry > 0 {
			text += fmt.Sprintf(", again in %v", p.Retry)
		}
		return text + strings.TrimRight(fmt.Sprintf(" | %s | %s | %s | %s", p.Detail, p.Instead, p.Code, p.Differs), " |")
	})
}

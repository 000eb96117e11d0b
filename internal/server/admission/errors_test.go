package admission_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/test/errortable"
)

// TestErrorTable: every error is counted as something, and is told as it is or as that of a
// question which was stopped.
func TestErrorTable(t *testing.T) {
	errortable.Hold(t, "testdata/errors.txt", func(err error) string {
		text := fmt.Sprintf("%s, ends a session %t", admission.OutcomeOf(err), admission.EndsSession(err))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if admission.TranslateStopped(ctx, "explain", err) == err {
			text += ", stays when stopped"
		}
		return text
	})
}

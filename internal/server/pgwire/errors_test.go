package pgwire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/errortable"
)

// TestErrorTable: every error has its code and words, also where the statement was stopped by then,
// where most have those of one that was stopped.
func TestErrorTable(t *testing.T) {
	tell := func(e *wireError) string {
		r := e.response("0123456789", 0)
		return fmt.Sprintf("%s %s at %d | %s | %s", r.Severity, r.Code, r.Position, strings.ReplaceAll(r.Message, "\n", " // "), r.Hint)
	}
	stopped := func(err error) (text string) {
		for _, cause := range []error{errCanceled, errTimeout, errServerEnds} {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(cause)
			text += "\n  " + cause.Error() + ": " + tell(toWireError(ctx, err))
		}
		return text
	}
	unknown := stopped(errors.New("anything else"))
	if !strings.Contains(unknown, "canceled by statement_timeout. "+chargeStays) ||
		!strings.Contains(unknown, "FATAL 57P01 at 0 | the server is shutting down. "+chargeStays) {
		t.Error(unknown)
	}
	errortable.Hold(t, "testdata/errors.txt", func(err error) string {
		text := tell(toWireError(t.Context(), err))
		if more := stopped(err); more != unknown {
			text += more
		}
		return text
	})
}

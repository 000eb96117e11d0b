package learn

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
)

// TestHidesFailures: what went wrong in a training can depend on its rows, so that nothing is told
// of it but that it failed, that its minimum was not reached, or who stopped it.
func TestHidesFailures(t *testing.T) {
	stopped, stop := context.WithCancelCause(t.Context())
	stop(errors.New("no more time"))
	for _, c := range []struct {
		ctx   context.Context
		cause error
		want  string
	}{
		{t.Context(), errors.New("row 7 has 3"), ErrFit.Error()},
		{t.Context(), errors.Join(errors.New("row 7"), solve.ErrNotReached), ErrFit.Error() + ": " + solve.ErrNotReached.Error()},
		{stopped, errors.New("row 7 has 3"), ErrFit.Error() + ": no more time"},
	} {
		if got := hideFailure(c.ctx, c.cause); got.Error() != c.want || !errors.Is(got, ErrFit) {
			t.Errorf("%v is told as %q, and should be as %q", c.cause, got, c.want)
		}
	}
}

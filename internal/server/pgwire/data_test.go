package pgwire

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
)

// TestDataCannotBeRead: an analyst is told that it is the data, and whom to ask, and nothing of
// what is wrong with it.
func TestDataCannotBeRead(t *testing.T) {
	data := &api.DataError{Err: errors.New("pid 37 has HIV")}
	e := explain(t.Context(), fmt.Errorf("question: %w", data))
	if e.code != notInState || e.message != api.ErrData.Error() || !strings.Contains(e.message, "ask the owner to run 'discreet check'") ||
		strings.Contains(e.message+e.hint+e.detail, "HIV") {
		t.Errorf("%+v", e)
	}
}

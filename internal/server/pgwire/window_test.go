package pgwire

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// A question whose window has ended says what to do with dp.request, and that nothing was spent
// where nothing was.
func TestLapsedQuestion(t *testing.T) {
	for _, charged := range []bool{false, true} {
		err := &ledger.LapsedError{Request: "ana:x", Dataset: "hospital", Window: 1, Now: 2, Charged: charged}
		e := explain(t.Context(), fmt.Errorf("pid 37 has HIV: %w", err))
		if e.code != notInState || e.message != err.Error() || e.hint != "SET dp.request to another name" {
			t.Errorf("%+v", e)
		}
	}
}

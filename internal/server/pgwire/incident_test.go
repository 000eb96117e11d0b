package pgwire

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// Behind a closed door there is one text, whether something was charged or not, without what else
// an error says.
func TestClosedDoor(t *testing.T) {
	for _, charged := range []bool{false, true} {
		door := &ledger.DoorError{Dataset: "hospital", Charged: charged}
		e := explain(context.Background(), fmt.Errorf("%w. The request identifier is 7", door))
		if e.code != "55D00" || e.message != door.Error() || strings.Contains(e.hint, "owner") ||
			!strings.Contains(e.hint, "whether it is open again") || strings.Contains(door.Error(), "Nothing was charged") == charged {
			t.Errorf("%+v", e)
		}
	}
}

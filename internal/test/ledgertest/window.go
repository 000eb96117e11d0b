package ledgertest

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// Promise15AChargePaysInItsWindow: whatever was charged and not answered when a window ends is
// not answered afterwards, also by a process that was started since.
func Promise15AChargePaysInItsWindow(t *testing.T, w World) {
	l := w.Open(t)
	answered, open, other := Ask("answered", Hospital(9)), Ask("open", Hospital(9)),
		Ask("other", ledger.Account{Name: "school", Filter: Admits(9)})
	other.Dataset = "school"
	first := MustCharge(t, l, answered)
	if first.Window != 1 {
		t.Errorf("%+v", first)
	}
	MustKeep(t, l, first.Sequence, "key", "42")
	unanswered := MustCharge(t, l, open)
	elsewhere := MustCharge(t, l, other)
	session := ledger.ChargeNotes(unanswered.Sequence)
	NoError(t, l.Note(ctx, session, []byte("below")))
	MustRenew(t, l, "hospital", 1)
	for _, again := range []string{"in the same process", "after a restart"} {
		answered.Window, open.Window = 2, 2
		var lapsed *ledger.LapsedError
		if _, err := l.Charge(ctx, open); !errors.As(err, &lapsed) ||
			*lapsed != (ledger.LapsedError{Request: "open", Dataset: "hospital", Window: 1, Now: 2}) {
			t.Errorf("%s: charged again: %v", again, err)
		}
		if err := l.Keep(ctx, unanswered.Sequence, "key", []byte("43")); !errors.As(err, &lapsed) || !lapsed.Charged {
			t.Errorf("%s: kept: %v", again, err)
		}
		if err := l.Note(ctx, session, []byte("above")); !errors.As(err, &lapsed) {
			t.Errorf("%s: noted: %v", again, err)
		}
		// What has its answer has it for good, and another dataset's windows are its own.
		if r, err := l.Charge(ctx, answered); err != nil || !r.Again || r.Window != 1 {
			t.Errorf("%s: the one with an answer: %+v, %v", again, r, err)
		}
		MustKeep(t, l, first.Sequence, "key", "42")
		if r, err := l.Charge(ctx, other); err != nil || !r.Again {
			t.Errorf("%s: the other dataset: %+v, %v", again, r, err)
		}
		if got := Spent(t, l, "hospital"); got != 2 {
			t.Errorf("%s: %d were spent", again, got)
		}
		MustClose(t, l)
		l = w.Open(t)
	}
	MustKeep(t, l, elsewhere.Sequence, "school", "7")
	if err := l.Note(ctx, ledger.ChargeNotes(unanswered.Sequence+77), []byte("x")); !errors.Is(err, ledger.ErrUnpaid) {
		t.Errorf("a session without a charge: %v", err)
	}
}

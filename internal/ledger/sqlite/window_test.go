package sqlite

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

func mustRenew(t testing.TB, l ledger.Ledger, dataset string, from uint64) {
	t.Helper()
	if _, err := l.Enter(ctx, ledger.Renewal{Dataset: dataset, From: from, Reason: "a new month"}); err != nil {
		t.Fatal(err)
	}
}

// TestPromise15AChargePaysInItsWindow: whatever was charged and not answered when a window ends is
// not answered afterwards, also by a process that was started since.
func TestPromise15AChargePaysInItsWindow(t *testing.T) {
	l, path := fresh(t)
	answered, open, other := ask("answered", hospital(9)), ask("open", hospital(9)),
		ask("other", ledger.Account{Name: "school", Filter: admits(9)})
	other.Dataset = "school"
	first := mustCharge(t, l, answered)
	if first.Window != 1 {
		t.Errorf("%+v", first)
	}
	mustKeep(t, l, first.Sequence, "key", "42")
	unanswered := mustCharge(t, l, open)
	elsewhere := mustCharge(t, l, other)
	session := ledger.ChargeNotes(unanswered.Sequence)
	if err := l.Note(ctx, session, []byte("below")); err != nil {
		t.Fatal(err)
	}
	mustRenew(t, l, "hospital", 1)
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
		mustKeep(t, l, first.Sequence, "key", "42")
		if r, err := l.Charge(ctx, other); err != nil || !r.Again {
			t.Errorf("%s: the other dataset: %+v, %v", again, r, err)
		}
		if got := spent(t, l, "hospital"); got != 2 {
			t.Errorf("%s: %d were spent", again, got)
		}
		mustClose(t, l)
		l = reopen(t, path)
	}
	mustKeep(t, l, elsewhere.Sequence, "school", "7")
	if err := l.Note(ctx, ledger.ChargeNotes(unanswered.Sequence+77), []byte("x")); !errors.Is(err, ledger.ErrUnpaid) {
		t.Errorf("a session without a charge: %v", err)
	}
}

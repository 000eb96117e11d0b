package main

import (
	"testing"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/ownercmd"
	"github.com/discreet-dp/discreet/ledger"
)

func TestReleasable(t *testing.T) {
	t.Parallel()
	open := []ledger.Case{{Sequence: 5, Analyst: "ana"}, {Sequence: 7, Analyst: "ben"}, {Sequence: 9}}
	for analyst, want := range map[string]string{
		"": "", "ana": "", "nope": `"nope" has nothing to release; open incidents are ana's (record 5) and ben's ` +
			`(record 7); a crash that names nobody is released without --analyst`,
	} {
		if err := ownercmd.RefuseEmptyRelease(open, analyst); (err != nil) != (want != "") || err != nil && err.Error() != want {
			t.Errorf("%q: %v", analyst, err)
		}
	}
}

// A crash is nobody's, and may have been that of a charge before it.
func TestCrashAfter(t *testing.T) {
	t.Parallel()
	all := []ledger.Case{{Sequence: 3, Dataset: "d", Failure: ledger.FailedCrash}, {Sequence: 7, Dataset: "e",
		Failure: ledger.FailedCrash}, {Sequence: 8, Dataset: "d", Failure: ledger.FailedTime},
		{Sequence: 9, Dataset: "d", Failure: ledger.FailedCrash}}
	for charge, want := range map[uint64]uint64{2: 3, 5: 9, 10: 0} {
		if got := ownercmd.CrashAfter(ledger.Unanswered{Sequence: charge, Dataset: "d"}, all); got != want {
			t.Errorf("charge %d: crash %d", charge, got)
		}
	}
}

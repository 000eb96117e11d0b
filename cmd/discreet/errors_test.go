package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/client"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/lab/workload"
	"github.com/discreet-dp/discreet/internal/ownerkey"
	"github.com/discreet-dp/discreet/internal/test/errortable"
	"github.com/discreet-dp/discreet/ledger"
)

// TestErrorTable: every error ends a command with a code and a kind.
func TestErrorTable(t *testing.T) {
	t.Parallel()
	tell := func(err error) string { return fmt.Sprintf("%d %s", console.ExitCode(err), console.ErrorKind(err)) }
	errortable.Hold(t, "testdata/errors.txt", tell)

	unasked := func(kinds ...string) error {
		e := &client.Unasked{}
		for _, kind := range kinds {
			e.Failures = append(e.Failures, client.Failure{Kind: kind})
		}
		return e
	}
	lapsed, budget := &ledger.LapsedError{Charged: true}, &ledger.BudgetError{}
	for i, c := range []struct {
		err  error
		want string
	}{
		{console.Misuse(errors.New("no")), "2 refused"},
		{console.Misuse(budget), "2 refused"},
		{console.AlreadyShown(budget), "3 budget"},
		{console.NotInOrder(budget), "3 budget"},
		{console.Locate(budget, "text"), "3 budget"},
		{errors.Join(console.Misuse(errors.New("no")), &ledger.WriteError{}), "2 refused"},
		{errors.Join(console.Misuse(errors.New("no")), ledger.ErrClosed), "2 refused"},
		{&workload.Error{}, "2 refused"},
		{&ownerkey.Error{}, "2 refused"},
		{errors.Join(lapsed, console.NotInOrder(errors.New("cut"))), "1 failed"},
		{unasked("refused"), "2 refused"},
		{unasked("refused", "invalid", "closed"), "2 refused"},
		{unasked("budget", "budget"), "3 budget"},
		{unasked("refused", "budget"), "1 failed"},
		{unasked("away"), "1 failed"},
		{&client.Partial{}, "1 failed"},
		{&client.ServerError{Kind: "budget"}, "1 failed"},
	} {
		if got := tell(c.err); got != c.want {
			t.Errorf("case %d, %v: %s, and not %s", i, c.err, got, c.want)
		}
	}
}

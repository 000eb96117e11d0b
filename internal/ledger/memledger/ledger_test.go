package memledger

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

var ctx = context.Background()

// It decides as every ledger does: within the budget of all accounts or not at all, once for a
// request, with one answer that is found under each of its keys.
func TestDecides(t *testing.T) {
	l := New()
	big, small := ledgertest.Hospital(10), ledger.Account{Name: "hospital/ana", Filter: ledgertest.Admits(2)}
	first := ledgertest.MustCharge(t, l, ledgertest.Ask("a", big, small))
	ledgertest.MustCharge(t, l, ledgertest.Ask("b", big, small))
	var budget *ledger.BudgetError
	if _, err := l.Charge(ctx, ledgertest.Ask("c", big, small)); !errors.As(err, &budget) || budget.Account != small.Name {
		t.Errorf("got %v; want a BudgetError of %s", err, small.Name)
	}
	if _, err := l.Charge(ctx, ledger.Charge{}); !errors.As(err, new(*ledger.InvalidError)) {
		t.Errorf("got %v; want an InvalidError", err)
	}
	again := ledgertest.MustCharge(t, l, ledgertest.Ask("a", big, small))
	if n := ledgertest.Spent(t, l, "hospital"); n != 2 || !again.Again || again.Sequence != first.Sequence || first.Again {
		t.Errorf("%d were spent; %+v and then %+v", n, first, again)
	}
	ledgertest.MustKeep(t, l, first.Sequence, ledger.JoinKeys("x", "y"), "42")
	for key, want := range map[string]bool{"x": true, "y": true, ledger.JoinKeys("x", "y"): true, "z": false} {
		answer, charge, found, err := l.Recall(ctx, key)
		if err != nil || found != want || want && (string(answer) != "42" || charge != 1) {
			t.Errorf("%s: %q of charge %d, %v, %v", key, answer, charge, found, err)
		}
	}
	if answer, found, err := l.Answer(ctx, "a"); string(answer) != "42" || !found || err != nil {
		t.Errorf("%q, %v, %v", answer, found, err)
	}
	if _, found, _ := l.Answer(ctx, "b"); found {
		t.Error("a charge without an answer has one")
	}
	if err := l.Keep(ctx, first.Sequence, "x", []byte("43")); !errors.Is(err, ledger.ErrKept) {
		t.Errorf("got %v; want ErrKept", err)
	}
	if err := l.Keep(ctx, 9, "x", []byte("43")); !errors.Is(err, ledger.ErrUnpaid) {
		t.Errorf("got %v; want ErrUnpaid", err)
	}
}

// Notes are in their order, after as many as somebody has read, and who is behind is told so.
func TestNotes(t *testing.T) {
	l := New()
	for i := range 3 {
		ledgertest.NoError(t, l.NoteIf(ctx, "s", []byte(fmt.Sprint(i)), ledger.After(i)))
	}
	if err := l.NoteIf(ctx, "s", []byte("x"), ledger.After(2)); !errors.Is(err, ledger.ErrBehind) {
		t.Errorf("got %v; want ErrBehind", err)
	}
	if err := l.Note(ctx, "s", nil); !errors.As(err, new(*ledger.InvalidError)) {
		t.Errorf("got %v; want an InvalidError", err)
	}
	for after, want := range map[int]string{0: "[0 1 2]", 2: "[2]", 3: "[]", 7: "[]"} {
		if all, err := l.NotesAfter(ctx, "s", after); err != nil || fmt.Sprintf("%s", all) != want {
			t.Errorf("after %d: %s, %v", after, all, err)
		}
	}
	if all, err := l.Notes(ctx, "another"); len(all) != 0 || err != nil {
		t.Errorf("%s, %v", all, err)
	}
}

// A clone goes on by itself.
func TestClone(t *testing.T) {
	l := New()
	ledgertest.MustCharge(t, l, ledgertest.Ask("a", ledgertest.Hospital(10)))
	ledgertest.MustNote(t, l, "s", "1")
	c := l.Clone()
	r := ledgertest.MustCharge(t, c, ledgertest.Ask("b", ledgertest.Hospital(10)))
	ledgertest.MustKeep(t, c, r.Sequence, "key", "42")
	ledgertest.MustNote(t, c, "s", "2")
	notes, _ := l.Notes(ctx, "s")
	_, _, found, _ := l.Recall(ctx, "key")
	if n, m := ledgertest.Spent(t, l, "hospital"), ledgertest.Spent(t, c, "hospital"); n != 1 || m != 2 || len(notes) != 1 || found {
		t.Errorf("%d and %d were spent; %s; found %v", n, m, notes, found)
	}
}

// Data that is made up has no owner, is closed to nobody, and everybody is told what fails.
func TestNobodysData(t *testing.T) {
	l := New()
	if _, err := l.Enter(ctx, ledger.Renewal{Dataset: "hospital", From: 1, Reason: "a month"}); err == nil {
		t.Error("somebody decided")
	}
	failed := ledger.Incident{Analyst: "ana", Dataset: "hospital", Failure: ledger.FailedError, ByAnalyst: 1, ByDataset: 1}
	for range 5 {
		tell, err := l.Fail(ctx, failed)
		if lockout, _ := l.Lockout(ctx, "hospital", "ana"); !tell || err != nil || lockout.Closed {
			t.Errorf("%v, %v, %+v", tell, err, lockout)
		}
	}
	for range l.Records(ctx, 0) {
		t.Error("there is a record")
	}
	ledgertest.MustClose(t, l)
}

var _ ledger.Ledger = (*Ledger)(nil)

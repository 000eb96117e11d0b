package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// failure is an incident of ana's, of which one is borne, and two of the dataset.
func failure(charge uint64) ledger.Incident {
	return ledger.Incident{Analyst: "ana", Dataset: "hospital", Charge: charge, Failure: ledger.FailedError, ByAnalyst: 1, ByDataset: 2}
}

func shut(t *testing.T, err error, charged bool) {
	t.Helper()
	var locked *ledger.LockoutError
	if !errors.As(err, &locked) || locked.Charged != charged || locked.Dataset != "hospital" {
		t.Errorf("got %v", err)
	}
}

// Promise16Lockouts: The dataset is closed by the failure, to whom it is of, for new charges and
// for what was charged before, also after a restart, and opened by a release.
func Promise16Lockouts(t *testing.T, w World) {
	l := w.Open(t)
	account := Hospital(100)
	first, second := MustCharge(t, l, Ask("a", account)), MustCharge(t, l, Ask("b", account))
	answered := MustCharge(t, l, Ask("c", account))
	MustKeep(t, l, answered.Sequence, "key", "42")
	if tell, err := l.Fail(ctx, failure(first.Sequence)); err != nil || !tell {
		t.Fatal(tell, err)
	}
	ben := Ask("d", account)
	ben.Analyst = "ben"
	for range 2 {
		_, err := l.Charge(ctx, Ask("new", account))
		shut(t, err, false)
		_, err = l.Charge(ctx, Ask("a", account)) // the same request
		shut(t, err, false)
		shut(t, l.Keep(ctx, second.Sequence, "other", []byte("43")), true)
		MustKeep(t, l, answered.Sequence, "key", "42") // which does nothing
		MustCharge(t, l, ben)
		if answer, _, found, err := l.Recall(ctx, "key"); err != nil || !found || string(answer) != "42" {
			t.Errorf("a remembered answer is gone: %q %v", answer, err)
		}
		MustClose(t, l)
		w.Verify(t)
		l = w.Open(t)
	}
	// What failed in a lockout was told to nobody, does not count for the dataset, and is no
	// record, as what was not kept is none.
	before, _, err := l.Head(ctx)
	NoError(t, err)
	if tell, err := l.Fail(ctx, failure(second.Sequence)); err != nil || tell {
		t.Fatal(tell, err)
	}
	if after, _, err := l.Head(ctx); err != nil || after != before {
		t.Errorf("%d records of a failure that nobody was told of, %v", after-before, err)
	}
	of := failure(0)
	of.Analyst = "ben"
	if lockout, err := l.Lockout(ctx, "hospital", "ben"); err != nil || lockout.Closed || lockout.Incidents != 1 || lockout.ShutOut != 1 {
		t.Fatalf("%+v %v", lockout, err)
	}
	if tell, err := l.Fail(ctx, of); err != nil || !tell {
		t.Fatal(tell, err)
	}
	cy := Ask("e", account)
	cy.Analyst = "cy"
	_, err = l.Charge(ctx, cy)
	shut(t, err, false) // it was the second of the dataset
	NoError(t, ErrOf(l.Enter(ctx, ledger.Release{Dataset: "hospital", Analyst: "ben", Reason: "looked at it"})))
	MustCharge(t, l, cy)
	_, err = l.Charge(ctx, Ask("new", account))
	shut(t, err, false)
	NoError(t, ErrOf(l.Enter(ctx, ledger.Release{Dataset: "hospital", Reason: "looked at it"})))
	MustCharge(t, l, Ask("new", account))
	MustKeep(t, l, second.Sequence, "other", "43")
}

// Promise16AtOnce: However many questions fail at once, one failure is told, and nothing is kept
// after it.
func Promise16AtOnce(t *testing.T, w World) {
	l := w.Open(t)
	account := Hospital(1000)
	var all []ledger.Receipt
	for i := range 40 {
		all = append(all, MustCharge(t, l, Ask(fmt.Sprint(i), account)))
	}
	var told, kept, withheld atomic.Int64
	var wg sync.WaitGroup
	for i, r := range all {
		wg.Go(func() {
			if i%2 == 0 {
				if tell, err := l.Fail(ctx, failure(r.Sequence)); err != nil {
					t.Error(err)
				} else if tell {
					told.Add(1)
				}
				return
			}
			if err := l.Keep(ctx, r.Sequence, fmt.Sprint("key ", i), []byte("42")); err == nil {
				kept.Add(1)
			} else {
				shut(t, err, true)
				withheld.Add(1)
			}
		})
	}
	wg.Wait()
	if told.Load() != 1 || kept.Load()+withheld.Load() != 20 {
		t.Errorf("%d failures were told, %d answers kept and %d withheld", told.Load(), kept.Load(), withheld.Load())
	}
	MustClose(t, l)
	w.Verify(t) // which finds an answer that was kept in a lockout
}

// Promise16Notes: A session that one charge pays for notes nothing while the dataset is closed to
// who made the charge, and goes on after the release.
func Promise16Notes(t *testing.T, w World) {
	l := w.Open(t)
	r := MustCharge(t, l, Ask("a", Hospital(10)))
	other := Ask("b", Hospital(10))
	other.Analyst = "ben"
	b := MustCharge(t, l, other)
	mustNote := func(sequence uint64) {
		t.Helper()
		NoError(t, l.Note(ctx, ledger.ChargeNotes(sequence), []byte("above")))
	}
	mustNote(r.Sequence)
	if tell, err := l.Fail(ctx, failure(r.Sequence)); err != nil || !tell {
		t.Fatal(tell, err)
	}
	shut(t, l.Note(ctx, ledger.ChargeNotes(r.Sequence), []byte("above")), true)
	mustNote(b.Sequence)
	// So does one that says whom the dataset has to be open to.
	shut(t, l.NoteIf(ctx, "stream", []byte("x"), ledger.Provided{Dataset: "hospital", Analyst: "ana"}), true)
	if err := l.NoteIf(ctx, "stream", []byte("x"), ledger.Provided{Dataset: "hospital", Analyst: "ben"}); err != nil {
		t.Error(err)
	}
	NoError(t, ErrOf(l.Enter(ctx, ledger.Release{Dataset: "hospital", Reason: "looked at it"})))
	mustNote(r.Sequence)
	if notes, err := l.Notes(ctx, ledger.ChargeNotes(r.Sequence)); err != nil || len(notes) != 2 {
		t.Errorf("%d notes, %v", len(notes), err)
	}
}

// Promise16KeptFailure: A training that failed is kept as its answer; its incident is recorded
// once.
func Promise16KeptFailure(t *testing.T, w World) {
	l := w.Open(t)
	r := MustCharge(t, l, Ask("a", Hospital(10)))
	MustKeep(t, l, r.Sequence, "key", "failed")
	for range 3 {
		NoError(t, ErrOf(l.Fail(ctx, failure(r.Sequence))))
	}
	if n, _, _ := l.Head(ctx); n != 3 {
		t.Errorf("%d records", n)
	}
}

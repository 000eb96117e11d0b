package sqlite

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
	var door *ledger.DoorError
	if !errors.As(err, &door) || door.Charged != charged || door.Dataset != "hospital" {
		t.Errorf("got %v", err)
	}
}

// The door is closed by the failure, to whom it is of, for new charges and for what was charged
// before, also after a restart, and opened by a release.
func TestPromise16Doors(t *testing.T) {
	l, path := fresh(t)
	account := hospital(100)
	first, second := mustCharge(t, l, ask("a", account)), mustCharge(t, l, ask("b", account))
	answered := mustCharge(t, l, ask("c", account))
	mustKeep(t, l, answered.Sequence, "key", "42")
	if tell, err := l.Fail(ctx, failure(first.Sequence)); err != nil || !tell {
		t.Fatal(tell, err)
	}
	ben := ask("d", account)
	ben.Analyst = "ben"
	for range 2 {
		_, err := l.Charge(ctx, ask("new", account))
		shut(t, err, false)
		_, err = l.Charge(ctx, ask("a", account)) // the same request
		shut(t, err, false)
		shut(t, l.Keep(ctx, second.Sequence, "other", []byte("43")), true)
		mustKeep(t, l, answered.Sequence, "key", "42") // which does nothing
		mustCharge(t, l, ben)
		if answer, _, found, err := l.Recall(ctx, "key"); err != nil || !found || string(answer) != "42" {
			t.Errorf("a remembered answer is gone: %q %v", answer, err)
		}
		mustClose(t, l)
		mustVerify(t, path)
		l = reopen(t, path)
	}
	// What failed behind the door was told to nobody, and does not count for the dataset.
	if tell, err := l.Fail(ctx, failure(second.Sequence)); err != nil || tell {
		t.Fatal(tell, err)
	}
	of := failure(0)
	of.Analyst = "ben"
	if door, err := l.Door(ctx, "hospital", "ben"); err != nil || door.Closed || door.Incidents != 1 || door.ShutOut != 1 {
		t.Fatalf("%+v %v", door, err)
	}
	if tell, err := l.Fail(ctx, of); err != nil || !tell {
		t.Fatal(tell, err)
	}
	cy := ask("e", account)
	cy.Analyst = "cy"
	_, err := l.Charge(ctx, cy)
	shut(t, err, false) // it was the second of the dataset
	if _, err := l.Enter(ctx, ledger.Release{Dataset: "hospital", Analyst: "ben", Reason: "looked at it"}); err != nil {
		t.Fatal(err)
	}
	mustCharge(t, l, cy)
	_, err = l.Charge(ctx, ask("new", account))
	shut(t, err, false)
	if _, err := l.Enter(ctx, ledger.Release{Dataset: "hospital", Reason: "looked at it"}); err != nil {
		t.Fatal(err)
	}
	mustCharge(t, l, ask("new", account))
	mustKeep(t, l, second.Sequence, "other", "43")
}

// However many questions fail at once, one failure is told, and nothing is kept after it.
func TestPromise16AtOnce(t *testing.T) {
	l, path := fresh(t)
	account := hospital(1000)
	var all []ledger.Receipt
	for i := range 40 {
		all = append(all, mustCharge(t, l, ask(fmt.Sprint(i), account)))
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
	mustClose(t, l)
	mustVerify(t, path) // which finds an answer that was kept behind a closed door
}

// A session that one charge pays for notes nothing while the door is closed to who made the charge,
// and goes on after the release.
func TestPromise16Notes(t *testing.T) {
	l, _ := fresh(t)
	r := mustCharge(t, l, ask("a", hospital(10)))
	other := ask("b", hospital(10))
	other.Analyst = "ben"
	b := mustCharge(t, l, other)
	mustNote := func(sequence uint64) {
		t.Helper()
		if err := l.Note(ctx, ledger.ChargeNotes(sequence), []byte("above")); err != nil {
			t.Fatal(err)
		}
	}
	mustNote(r.Sequence)
	if tell, err := l.Fail(ctx, failure(r.Sequence)); err != nil || !tell {
		t.Fatal(tell, err)
	}
	shut(t, l.Note(ctx, ledger.ChargeNotes(r.Sequence), []byte("above")), true)
	mustNote(b.Sequence)
	if _, err := l.Enter(ctx, ledger.Release{Dataset: "hospital", Reason: "looked at it"}); err != nil {
		t.Fatal(err)
	}
	mustNote(r.Sequence)
	if notes, err := l.Notes(ctx, ledger.ChargeNotes(r.Sequence)); err != nil || len(notes) != 2 {
		t.Errorf("%d notes, %v", len(notes), err)
	}
}

// A training that failed is kept as its answer; its incident is recorded once.
func TestPromise16KeptFailure(t *testing.T) {
	l, _ := fresh(t)
	r := mustCharge(t, l, ask("a", hospital(10)))
	mustKeep(t, l, r.Sequence, "key", "failed")
	for range 3 {
		if _, err := l.Fail(ctx, failure(r.Sequence)); err != nil {
			t.Fatal(err)
		}
	}
	if n, _, _ := l.Head(ctx); n != 3 {
		t.Errorf("%d records", n)
	}
}

package postgres

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

// crash is the incident of a server that died.
var crash = ledger.Incident{Dataset: "hospital", Failure: ledger.FailedCrash, ByAnalyst: 1, ByDataset: 3}

// asleep stops what a server does by itself, as a process does that is stopped.
func asleep(l *Ledger) {
	l.ending.Do(func() { close(l.stop) })
	l.helpers.Wait()
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("%s never came", what)
		}
	}
}

// A server that sleeps for longer than its lease is given up, and does nothing more when it wakes.
// What it was answering is counted once, whoever and however many count it; those that go on, and
// those that closed in order, are not given up.
func TestPromise8AServerThatSleeps(t *testing.T) {
	t.Parallel()
	at := address(t)
	short := Options{Lease: time.Second}
	sleeper, other, third := open(t, at, short), open(t, at, short), open(t, at, short)
	closed := open(t, at, short)
	mustCharge(t, closed, ask("closed in order", hospital(10)))
	mustClose(t, closed)
	told := make(chan struct{}, 100)
	other.WhenDied(func() { told <- struct{}{} })
	open, answered := mustCharge(t, sleeper, ask("open", hospital(10))), mustCharge(t, sleeper, ask("answered", hospital(10)))
	mustKeep(t, sleeper, answered.Sequence, "key", "42")
	mustCharge(t, other, ask("of one that goes on", hospital(10)))
	asleep(sleeper)
	until(t, "the death", func() bool { return len(other.Died()) > 0 })
	<-told
	if got := third.Died(); !slices.Equal(got, []string{"hospital"}) {
		t.Errorf("died while it was answering about %q", got)
	}
	// It wakes.
	var write *ledger.WriteError
	if err := sleeper.Keep(ctx, open.Sequence, "late", []byte("43")); !errors.As(err, &write) || !write.Broken {
		t.Errorf("a server that was given up kept an answer: %v", err)
	}
	for range 2 {
		if _, err := sleeper.Charge(ctx, ask("late", hospital(10))); !errors.Is(err, errFenced) {
			t.Errorf("a server that was given up charged: %v", err)
		}
	}
	var wg sync.WaitGroup
	for _, l := range []*Ledger{other, third, other, third} {
		wg.Go(func() {
			if _, err := l.Fail(ctx, crash); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if lockout, err := third.Lockout(ctx, "hospital", ""); err != nil || lockout.Incidents != 1 {
		t.Errorf("%d incidents, %v", lockout.Incidents, err)
	}
	if got := other.Died(); len(got) != 0 {
		t.Errorf("not counted: %q", got)
	}
	// The same request is answered by another server, from its charge.
	if r := mustCharge(t, other, ask("open", hospital(10))); !r.Again {
		t.Error("charged twice")
	}
	mustKeep(t, other, open.Sequence, "key 2", "44")
	if n := spent(t, other, "hospital"); n != 4 {
		t.Errorf("%d were spent", n)
	}
	verify(t, at)
}

// A server whose connection was lost, or ended by a database that restarted, closes in order all
// the same: it is not taken for one that died.
func TestPromise8ClosedAfterTheConnectionWasLost(t *testing.T) {
	t.Parallel()
	at := address(t)
	short := Options{Lease: time.Second}
	ended, dropped, other := open(t, at, short), open(t, at, short), open(t, at, short)
	for _, l := range []*Ledger{ended, dropped} {
		mustCharge(t, l, ask("open on "+time.Now().String(), hospital(10)))
	}
	noError(t, ledgertest.ErrOf(other.conn.Exec(ctx, "SELECT pg_terminate_backend($1)", ended.conn.PgConn().PID())))
	writer{dropped}.drop()
	mustClose(t, ended)
	mustClose(t, dropped)
	time.Sleep(1200 * time.Millisecond)
	if got := open(t, at, short).Died(); len(got) != 0 {
		t.Errorf("died while they were answering about %q", got)
	}
}

// A server that was given up while its transaction waited for the head finds that out in it.
func TestPromise8GivenUpWhileWaiting(t *testing.T) {
	t.Parallel()
	at := address(t)
	short := Options{Lease: time.Second}
	sleeper := open(t, at, short)
	asleep(sleeper)
	time.Sleep(1200 * time.Millisecond)
	open(t, at, short) // gives up who is not there
	if _, err := sleeper.Charge(ctx, ask("late", hospital(10))); !errors.Is(err, errFenced) {
		t.Errorf("got %v", err)
	}
	if report := verify(t, at); report.Charges != 0 {
		t.Errorf("%+v", report)
	}
}

// A server that dies while a session's question may be at the engine is counted also where another
// one died since that was noted.
func TestPromise16SessionsOfServersThatDied(t *testing.T) {
	t.Parallel()
	at := address(t)
	short := Options{Lease: time.Second}
	first, second := open(t, at, short), open(t, at, short)
	for _, l := range []*Ledger{first, second} { // both let questions of sessions reach the engine
		c := ask("session "+time.Now().String(), hospital(10))
		mustCharge(t, l, c)
		noError(t, l.Note(ctx, ledger.Began("hospital", ""), []byte("began")))
	}
	for i, l := range []*Ledger{first, second} {
		asleep(l)
		time.Sleep(1200 * time.Millisecond)
		witness := open(t, at, short)
		if got := witness.Died(); !slices.Equal(got, []string{"hospital"}) {
			t.Fatalf("death %d: %q", i, got)
		}
		noError(t, ledgertest.ErrOf(witness.Fail(ctx, crash)))
		mustClose(t, witness)
	}
	l := open(t, at, Options{})
	if lockout, err := l.Lockout(ctx, "hospital", ""); err != nil || lockout.Incidents != 2 {
		t.Errorf("%d incidents, %v", lockout.Incidents, err)
	}
}

// A server that dies while it computes anew what another one was paid for is counted, although the
// charge is not its own.
func TestPromise16ARerunThatKills(t *testing.T) {
	t.Parallel()
	at := address(t)
	short := Options{Lease: time.Second}
	first, second := open(t, at, short), open(t, at, short)
	charged := mustCharge(t, first, ask("hung up", hospital(10)))
	done := mustCharge(t, first, ask("computed anew, and kept", hospital(10)))
	for _, charge := range []uint64{charged.Sequence, done.Sequence} {
		noError(t, second.NoteIf(ctx, ledger.Reruns(charge), []byte("again"), ledger.After(0)))
	}
	mustKeep(t, second, done.Sequence, "key", "42")
	asleep(second)
	until(t, "the death", func() bool { return slices.Equal(first.Died(), []string{"hospital"}) })
}

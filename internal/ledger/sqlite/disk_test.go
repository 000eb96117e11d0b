package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

// fill charges and keeps until something fails. It returns the number of charges that
// were confirmed, and the error.
func fill(l ledger.Ledger, name string) (int, error) {
	for i := range 100_000 {
		request := fmt.Sprint(name, i)
		r, err := l.Charge(ctx, ask(request, hospital(1_000_000)))
		if err != nil {
			return i, err
		}
		if err := l.Keep(ctx, r.Sequence, request, []byte(strings.Repeat(request, 300))); err != nil {
			return i + 1, err
		}
	}
	return 0, errors.New("the disk never filled")
}

// checkFilled checks that every confirmed charge is there, and at most one more,
// whose fate was not known.
func checkFilled(t *testing.T, path, name string, confirmed int) {
	t.Helper()
	l := reopen(t, path)
	n := spent(t, l, "hospital")
	if n != confirmed && n != confirmed+1 {
		t.Errorf("%d charges were confirmed, and %d are there", confirmed, n)
	}
	for i := range confirmed {
		if r := mustCharge(t, l, ask(fmt.Sprint(name, i), hospital(1_000_000))); !r.Again {
			t.Fatalf("charge %d was forgotten", i)
		}
	}
	mustClose(t, l)
	mustVerify(t, path)
}

// SQLite's own limit on pages makes the disk full as far as it can see, on every
// system. Nothing is spent, and with room again the ledger goes on.
func TestPromise9FullDatabase(t *testing.T) {
	l, path := fresh(t)
	mustCharge(t, l, ask("before", hospital(1_000_000)))
	limit := func(pages int) {
		noError(t, ledgertest.ErrOf(l.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))))
	}
	limit(20)
	n, err := fill(l, "full")
	var write *ledger.WriteError
	if !errors.As(err, &write) || write.Broken {
		t.Fatalf("got %v; want a WriteError after which the ledger goes on", err)
	}
	sequence, hash, _ := l.Head(ctx)
	if got := spent(t, l, "hospital"); got != n+1 {
		t.Errorf("%d charges were confirmed, and %d are spent", n+1, got)
	}
	if _, err := fill(l, "still full"); !errors.As(err, &write) {
		t.Fatalf("got %v; want a WriteError", err)
	}
	limit(1 << 20)
	mustCharge(t, l, ask("after", hospital(1_000_000)))
	record, _, _, err := l.Read(sequence + 1)
	if err != nil || record.Previous != hash {
		t.Errorf("the chain does not continue where it was: %v", err)
	}
	mustClose(t, l)
	mustVerify(t, path)
}

// An error that says nothing about what is on the disk stops the ledger, whatever the
// error. That fsync can be its cause is tested in fsync_linux_test.go.
func TestPromise9UnknownFateStopsTheLedger(t *testing.T) {
	l, path := fresh(t)
	mustCharge(t, l, ask("before", hospital(10)))
	// The next COMMIT fails: the statement is replaced by one that cannot run.
	l.commit.Close()
	_, err := l.Charge(ctx, ask("during", hospital(10)))
	var write *ledger.WriteError
	if !errors.As(err, &write) || !write.Broken {
		t.Fatalf("got %v; want a WriteError that stops the ledger", err)
	}
	_, _, answer := l.Answer(ctx, "before")
	_, _, _, recall := l.Recall(ctx, "key")
	_, _, head := l.Head(ctx)
	for what, err := range map[string]error{
		"Charge": ledgertest.ErrOf(l.Charge(ctx, ask("after", hospital(10)))), "Keep": l.Keep(ctx, 1, "key", []byte("answer")),
		"Answer": answer, "Recall": recall, "Note": l.Note(ctx, "session", []byte("note")),
		"Notes": ledgertest.ErrOf(l.Notes(ctx, "session")), "Balances": ledgertest.ErrOf(l.Balances(ctx, nil)), "Head": head,
	} {
		if !errors.As(err, &write) || !write.Broken {
			t.Errorf("%s: got %v; want the same WriteError", what, err)
		}
	}
	mustClose(t, l)
	l = reopen(t, path)
	if n := spent(t, l, "hospital"); n != 1 {
		t.Errorf("spent %d; want 1", n)
	}
}

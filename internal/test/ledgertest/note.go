package ledgertest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// JoinedNotes returns the notes of a session in one text.
func JoinedNotes(t testing.TB, l ledger.Ledger, session string) string {
	t.Helper()
	all, err := l.Notes(ctx, session)
	NoError(t, err)
	return string(bytes.Join(all, []byte(" ")))
}

func Promise14NotesInOrder(t *testing.T, w World) {
	l := w.Open(t)
	var want [3]string
	many := 1500
	if w.Slow {
		many = 150
	}
	for i := range many {
		s := i % 3
		if i > many*3/5 {
			s = 2 // a long run without the others between
		}
		if i%(many/15) == 7 {
			r := MustCharge(t, l, Ask(fmt.Sprint(i), Hospital(1000)))
			MustKeep(t, l, r.Sequence, fmt.Sprint("key", i), strings.Repeat("answer", i))
		}
		entry := fmt.Sprint("entry-", i)
		MustNote(t, l, fmt.Sprint("session ", s), entry)
		want[s] = strings.TrimSpace(want[s] + " " + entry)
	}
	for range 2 {
		for s := range want {
			if got := JoinedNotes(t, l, fmt.Sprint("session ", s)); got != want[s] {
				t.Fatalf("session %d: got %.200s; want %.200s", s, got, want[s])
			}
		}
		if got, err := l.Notes(ctx, "session"); err != nil || len(got) != 0 {
			t.Errorf("a session without notes has %q, %v", got, err)
		}
		if n := Spent(t, l, "hospital"); n != 15 {
			t.Errorf("%d units are spent", n)
		}
		MustClose(t, l)
		if report := w.Verify(t); report.Records != uint64(many)+30 || report.Charges != 15 || report.Answers != 15 {
			t.Errorf("%+v", report)
		}
		l = w.Open(t)
	}
	// What was returned is the caller's.
	all, _ := l.Notes(ctx, "session 0")
	clear(all[0])
	if got := JoinedNotes(t, l, "session 0"); got != want[0] {
		t.Error("a caller changed a note")
	}
}

func Promise14Limits(t *testing.T, w World) {
	l := w.Open(t)
	_, before, _ := l.Head(ctx)
	for name, c := range map[string]struct {
		session string
		entry   []byte
	}{
		"no session":   {"", []byte("x")},
		"long session": {strings.Repeat("s", ledger.MaxName+1), []byte("x")},
		"control":      {"a\nb", []byte("x")},
		"no text":      {"a\xff", []byte("x")},
		"no note":      {"s", nil},
		"long note":    {"s", make([]byte, ledger.MaxNote+1)},
	} {
		var invalid *ledger.InvalidError
		if err := l.Note(ctx, c.session, c.entry); !errors.As(err, &invalid) {
			t.Errorf("%s: got %v; want an InvalidError", name, err)
		}
	}
	if _, after, _ := l.Head(ctx); after != before {
		t.Error("what was refused was written")
	}
	long := bytes.Repeat([]byte("x"), ledger.MaxNote)
	NoError(t, l.Note(ctx, strings.Repeat("s", ledger.MaxName), long))
	if all, err := l.Notes(ctx, strings.Repeat("s", ledger.MaxName)); err != nil || len(all) != 1 || !bytes.Equal(all[0], long) {
		t.Errorf("%d notes, %v", len(all), err)
	}
}

// Promise14OnCondition holds a ledger to notes that are written where something holds: of many who
// have read the same notes one writes the next, and the others write nothing.
func Promise14OnCondition(t *testing.T, w World) {
	l := w.Open(t)
	for n := range 3 {
		var wrote atomic.Int64
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				switch err := l.NoteIf(ctx, "session", []byte(fmt.Sprint(n, " by ", i)), ledger.After(n)); {
				case err == nil:
					wrote.Add(1)
				case !errors.Is(err, ledger.ErrBehind):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if wrote.Load() != 1 {
			t.Errorf("note %d was written by %d", n, wrote.Load())
		}
	}
	for _, after := range []int{-1, 0, 2, 4} {
		if err := l.NoteIf(ctx, "session", []byte("x"), ledger.After(after)); !errors.Is(err, ledger.ErrBehind) {
			t.Errorf("after %d of 3: %v", after, err)
		}
	}
	MustRenew(t, l, "hospital", 1)
	p := ledger.After(3)
	p.Dataset, p.Window = "hospital", 1
	var lapsed *ledger.LapsedError
	if err := l.NoteIf(ctx, "session", []byte("x"), p); !errors.As(err, &lapsed) || lapsed.Now != 2 {
		t.Errorf("in a window that has ended: %v", err)
	}
	p.Window = 2
	if err := l.NoteIf(ctx, "session", []byte("last"), p); err != nil {
		t.Error(err)
	}
	for after, want := range map[int]int{0: 4, 3: 1, 4: 0, 9: 0} {
		if all, err := l.NotesAfter(ctx, "session", after); err != nil || len(all) != want {
			t.Errorf("%d notes after %d, %v", len(all), after, err)
		}
	}
}

// Promise14WithACharge holds a ledger to notes that are written with a charge: of many who charge
// for one session one does, the others spend nothing, and no such note is there without its charge.
func Promise14WithACharge(t *testing.T, w World) {
	l := w.Open(t)
	with := func(request string, sessions ...string) ledger.Charge {
		c := Ask(request, Hospital(10))
		for _, s := range sessions {
			c.Firsts = append(c.Firsts, ledger.First{Session: s, Entry: func(n uint64) []byte { return []byte(fmt.Sprint("by ", n)) }})
		}
		return c
	}
	var receipts [20]ledger.Receipt
	var wg sync.WaitGroup
	for i := range receipts {
		wg.Go(func() {
			var err error
			if receipts[i], err = l.Charge(ctx, with(fmt.Sprint(i), "one", "two")); err != nil && !errors.Is(err, ledger.ErrBehind) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := Spent(t, l, "hospital"); n != 1 {
		t.Errorf("%d were spent", n)
	}
	for i, r := range receipts {
		if r.Sequence == 0 {
			continue
		}
		for _, s := range []string{"one", "two"} {
			if got := JoinedNotes(t, l, s); got != fmt.Sprint("by ", r.Sequence) {
				t.Errorf("%s has %q", s, got)
			}
		}
		if again := MustCharge(t, l, with(fmt.Sprint(i), "one", "two")); !again.Again || again.Sequence != r.Sequence {
			t.Errorf("sent again: %+v", again)
		}
	}
	if _, err := l.Charge(ctx, with("later", "three", "two")); !errors.Is(err, ledger.ErrBehind) || JoinedNotes(t, l, "three") != "" {
		t.Errorf("of two sessions one has a note: %v", err)
	}
	for _, c := range []ledger.Charge{with("twice", "four", "four"), with("empty", ""), with("of a charge", ledger.ChargeNotes(1))} {
		if _, err := l.Charge(ctx, c); !errors.As(err, new(*ledger.InvalidError)) {
			t.Errorf("%s: %v", c.Request, err)
		}
	}
	if n := Spent(t, l, "hospital"); n != 1 {
		t.Errorf("%d were spent", n)
	}
	MustClose(t, l)
	if r := w.Verify(t); r.Charges != 1 {
		t.Errorf("%+v", r)
	}
}

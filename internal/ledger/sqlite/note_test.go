package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

var notes = ledgertest.JoinedNotes

// The same note is never stored under the same hash, and no record has anything of it.
func TestPromise14Secret(t *testing.T) {
	l, path := fresh(t)
	const secret = "THRESHOLD-NOISE-17"
	for range 50 {
		mustNote(t, l, "hospital/stream", secret)
	}
	seen := map[string]bool{}
	for r, err := range l.Records(ctx, 0) {
		noError(t, err)
		if text := fmt.Sprintf("%+v %s", r, r.Encode()); strings.Contains(text, "THRESHOLD") {
			t.Fatalf("a record tells the note: %s", text)
		}
		if r.Kind != ledger.KindNote {
			continue
		}
		if r.Session != "hospital/stream" || seen[r.AnswerHash] || r.AnswerHash == ledger.Hash(secret) {
			t.Errorf("record %d: session %q, hash %s", r.Sequence, r.Session, r.AnswerHash)
		}
		seen[r.AnswerHash] = true
	}
	if len(seen) != 50 {
		t.Errorf("%d notes", len(seen))
	}
	mustClose(t, l)
	reader, err := Read(path)
	noError(t, err)
	defer reader.Close()
	for line, err := range reader.Records() {
		noError(t, err)
		if strings.Contains(fmt.Sprintf("%+v", line.Record)+line.Body+line.Hash, "THRESHOLD") {
			t.Fatal("a line tells the note")
		}
	}
	summary, err := reader.Verify(nil)
	if err != nil || summary.Kinds[ledger.KindNote] != 50 || strings.Contains(fmt.Sprintf("%+v", summary), "THRESHOLD") {
		t.Errorf("%+v, %v", summary, err)
	}
}

// A note that was changed, swapped with another, or lost is noticed when the ledger is opened, and
// by Verify.
func TestPromise14Damage(t *testing.T) {
	for name, statement := range map[string]string{
		"changed":        `UPDATE records SET answer = CAST('0123456789abcdefforged' AS BLOB) WHERE sequence = 2`,
		"salt changed":   `UPDATE records SET answer = CAST('0123456789abcdef' || CAST(substr(answer, 17) AS TEXT) AS BLOB) WHERE sequence = 2`,
		"swapped":        `UPDATE records SET answer = (SELECT answer FROM records WHERE sequence = 3) WHERE sequence = 2`,
		"removed":        `UPDATE records SET answer = NULL WHERE sequence = 2`,
		"another's":      `UPDATE records SET body = replace(body, '5:ses-a', '5:ses-b') WHERE sequence = 2`,
		"record removed": `DELETE FROM records WHERE sequence = 2`,
	} {
		l, path := fresh(t)
		for i := range 4 {
			mustNote(t, l, "ses-a", fmt.Sprint("note ", i))
		}
		mustClose(t, l)
		alter(t, path, statement)
		var corrupt *ledger.CorruptError
		if _, err := Verify(path); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "record 2") {
			t.Errorf("%s: Verify: got %v; want a CorruptError at record 2", name, err)
		}
		if l, err := Open(path); !errors.As(err, &corrupt) {
			l.Close()
			t.Errorf("%s: Open: got %v; want a CorruptError", name, err)
		}
		if strings.Contains(fmt.Sprint(corrupt), "note 1") || strings.Contains(fmt.Sprint(corrupt), "forged") {
			t.Errorf("%s: the error tells the note: %v", name, corrupt)
		}
	}
}

// And when it is changed under an open ledger.
func TestPromise14DamageWhileOpen(t *testing.T) {
	l, _ := fresh(t)
	for i := range 4 {
		mustNote(t, l, "s", fmt.Sprint("note ", i))
	}
	for _, statement := range []string{`DROP TRIGGER records_not_updated`,
		`UPDATE records SET answer = CAST('0123456789abcdefforged' AS BLOB) WHERE sequence = 2`} {
		noError(t, ledgertest.ErrOf(l.conn.ExecContext(ctx, statement)))
	}
	var corrupt *ledger.CorruptError
	if all, err := l.Notes(ctx, "s"); !errors.As(err, &corrupt) || all != nil || strings.Contains(err.Error(), "forged") {
		t.Errorf("got %q, %v; want a CorruptError", all, err)
	}
}

// The files on disk have a note when Note returns.
func TestPromise14Durable(t *testing.T) {
	l, path := fresh(t)
	want := ""
	for i := range 10 {
		mustNote(t, l, "s", fmt.Sprint(i))
		want = strings.TrimSpace(want + " " + fmt.Sprint(i))
		copied := inMemory(t) + "/copy.db"
		copyFile(t, copied, path)
		copyFile(t, copied+"-wal", path+"-wal")
		c := reopen(t, copied)
		if got := notes(t, c, "s"); got != want {
			t.Fatalf("the copy has %q; want %q", got, want)
		}
		mustClose(t, c)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// Notes are anchored like charges: a copy that lacks one is refused. After a recovery, sessions
// from before it are over, and a charge from before it gets no answer: both may have been told
// already.
func TestPromise14Recovered(t *testing.T) {
	path := filepath.Join(inMemory(t), "ledger.db")
	o := Options{Anchorage: &ledgertest.MemoryAnchor{}}
	l := anchoredLedger(t, path, o)
	round := mustCharge(t, l, ask("round 1", hospital(100)))
	mustNote(t, l, "s", "threshold")
	putBack := aside(t, path)
	mustNote(t, l, "s", "fired, with an answer")
	mustKeep(t, l, round.Sequence, "key", "42")
	l.Keeper = nil // killed
	mustClose(t, l)
	putBack()
	mustRefuse(t, path, o, "it is older")
	mustRecover(t, path, o)
	l = anchoredLedger(t, path, o)
	if era, err := l.Era(ctx); err != nil || era == "" {
		t.Errorf("the era is %q, %v", era, err)
	}
	if all, err := l.Notes(ctx, "s"); !errors.Is(err, ledger.ErrEra) {
		t.Errorf("a session goes on with %q, %v", all, err)
	}
	if err := l.Note(ctx, "s", []byte("x")); !errors.Is(err, ledger.ErrEra) {
		t.Errorf("a session goes on: %v", err)
	}
	if r := mustCharge(t, l, ask("round 1", hospital(100))); !r.Again {
		t.Error("the charge is lost")
	}
	if err := l.Keep(ctx, round.Sequence, "key", []byte("43")); !errors.Is(err, ledger.ErrRecovered) {
		t.Errorf("a second answer is kept: %v", err)
	}
	mustNote(t, l, "s in a new era", "x")
	later := mustCharge(t, l, ask("later", hospital(100)))
	mustKeep(t, l, later.Sequence, "key", "44")
	mustClose(t, l)
	l = anchoredLedger(t, path, o)
	if got := notes(t, l, "s in a new era"); got != "x" {
		t.Errorf("got %q", got)
	}
	if _, err := l.Notes(ctx, "s"); !errors.Is(err, ledger.ErrEra) {
		t.Errorf("a session goes on: %v", err)
	}
}

// Where the anchor cannot be stored a note is not confirmed, is not told of, and no other is
// written.
func TestPromise14AnchorFails(t *testing.T) {
	path := filepath.Join(inMemory(t), "ledger.db")
	place := &ledgertest.MemoryAnchor{}
	l := anchoredLedger(t, path, Options{Anchorage: place})
	mustNote(t, l, "s", "a")
	down := errors.New("the anchor is away")
	place.Fail = down
	for range 3 {
		if err := l.Note(ctx, "s", []byte("b")); !errors.Is(err, down) {
			t.Errorf("got %v", err)
		}
		if all, err := l.Notes(ctx, "s"); !errors.Is(err, down) {
			t.Errorf("got %q, %v", all, err)
		}
	}
	place.Fail = nil
	if got := notes(t, l, "s"); got != "a b" {
		t.Errorf("got %q; want the one that was written before it was known that there is no anchor", got)
	}
	mustNote(t, l, "s", "c")
	if head, _, _ := l.Head(ctx); place.Anchor.Sequence != head {
		t.Errorf("the anchor is at %d of %d", place.Anchor.Sequence, head)
	}
}

// Notes count like other records: an anchor is stored before the every-th of them is confirmed.
func TestPromise14Anchored(t *testing.T) {
	place := &ledgertest.MemoryAnchor{}
	l := anchoredLedger(t, filepath.Join(inMemory(t), "ledger.db"), Options{Anchorage: place, Every: 3})
	began := place.Anchor.Sequence
	for i := range uint64(10) {
		mustNote(t, l, "s", fmt.Sprint(i))
		// With the first, which says that there is an anchor.
		if want := began + (i+2)/3*3; place.Anchor.Sequence != want {
			t.Errorf("after note %d the anchor is at %d; want %d", i, place.Anchor.Sequence, want)
		}
	}
}

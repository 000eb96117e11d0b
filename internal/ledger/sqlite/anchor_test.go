package sqlite

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ledger/anchor"
	"github.com/discreet-dp/discreet/internal/ledger/groupcommit"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

func anchoredLedger(t testing.TB, path string, o Options) *Ledger {
	t.Helper()
	l, err := OpenWith(path, o)
	noError(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// aside returns what puts the ledger file back as it is now.
func aside(t testing.TB, path string) (putBack func()) {
	t.Helper()
	files := map[string][]byte{}
	for _, suffix := range []string{"", "-journal", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		if err == nil {
			files[path+suffix] = text
		} else if !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return func() {
		t.Helper()
		remove(t, path)
		for name, text := range files {
			noError(t, os.WriteFile(name, text, 0o600))
		}
	}
}

func remove(t testing.TB, path string) {
	t.Helper()
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

// mustRefuse checks that the ledger is not opened, and that this changes nothing.
func mustRefuse(t testing.TB, path string, o Options, want string) {
	t.Helper()
	before, _ := os.ReadFile(path)
	for range 2 {
		l, err := OpenWith(path, o)
		var refused *ledger.AnchorError
		if !errors.As(err, &refused) || !strings.Contains(refused.Problem, want) {
			if err == nil {
				l.Close()
			}
			t.Fatalf("got %v; want an AnchorError with %q", err, want)
		}
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("a ledger that was refused was changed")
	}
}

func mustRecover(t testing.TB, path string, o Options) Recovered {
	t.Helper()
	r, err := Recover(path, o, "test")
	noError(t, err)
	return r
}

func charges(t testing.TB, l ledger.Ledger, name string, n int) {
	t.Helper()
	for i := range n {
		r := mustCharge(t, l, ask(fmt.Sprint(name, i), hospital(1000)))
		if i%2 == 0 {
			mustKeep(t, l, r.Sequence, fmt.Sprint(name, i), "42")
		}
	}
}

// An older copy is put back, after the process closed the ledger and after it died.
func TestAnchorRollback(t *testing.T) {
	for _, c := range []struct {
		name    string
		every   uint64
		more    int
		close   bool
		refused bool
		spent   int // after the recovery, where it is known
	}{
		{name: "one charge, every 1", every: 1, more: 1, refused: true, spent: 11},
		{name: "zero stands for one", every: 0, more: 1, refused: true, spent: 11},
		{name: "many, every 1", every: 1, more: 100, refused: true}, // the trail is not dense any more where the copy ends
		{name: "one charge, every 5, closed", every: 5, more: 1, close: true, refused: true, spent: 11},
		{name: "five charges, every 5", every: 5, more: 5, refused: true},
		{name: "twelve charges, every 5", every: 5, more: 12, refused: true},
		{name: "nothing, every 1", every: 1, more: 0},
		{name: "nothing, every 5, closed", every: 5, more: 0, close: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(inMemory(t), "ledger.db")
			o := Options{Anchorage: &ledgertest.MemoryAnchor{}, Every: c.every}
			l := anchoredLedger(t, path, o)
			charges(t, l, "before", 10)
			mustClose(t, l)
			putBack := aside(t, path)
			l = anchoredLedger(t, path, o)
			charges(t, l, "after", c.more)
			if c.close {
				mustClose(t, l)
			} else {
				l.Keeper = nil // it dies, as far as the anchor can see
				mustClose(t, l)
			}
			putBack()
			if !c.refused {
				if r := mustRecover(t, path, o); r.Problem != "" || !strings.Contains(r.String(), "nothing was changed") {
					t.Errorf("recovered what is fine: %v", r)
				}
				l = anchoredLedger(t, path, o)
				if n := spent(t, l, "hospital"); n != 10 {
					t.Errorf("spent %d", n)
				}
				return
			}
			mustRefuse(t, path, o, "it is older: it ends at record 16 of")
			r := mustRecover(t, path, o)
			if !strings.Contains(r.String(), "counts as spent") || len(r.Spent) != 1 {
				t.Error(r)
			}
			if again := mustRecover(t, path, o); again.Problem != "" || again.Hash != r.Hash {
				t.Errorf("recovered twice: %v", again)
			}
			l = anchoredLedger(t, path, o)
			got, released := spent(t, l, "hospital"), 10+c.more
			if got < released || c.spent > 0 && got != c.spent || got > released+2*int(c.every)+c.more/8 {
				t.Errorf("%d counts as spent, and %d were released", got, released)
			}
			mustCharge(t, l, ask("goes on", hospital(1000)))
			mustClose(t, l)
			mustVerify(t, path)
		})
	}
}

// The copy that was put back is used without an anchor for a while: what both released counts.
func TestAnchorFork(t *testing.T) {
	path := filepath.Join(inMemory(t), "ledger.db")
	place := &ledgertest.MemoryAnchor{}
	o := Options{Anchorage: place, Every: 1}
	l := anchoredLedger(t, path, o)
	charges(t, l, "common", 4)
	mustClose(t, l)
	putBack, restored := aside(t, path), *place
	l = anchoredLedger(t, path, o)
	charges(t, l, "anchored", 20)
	mustClose(t, l)
	// The copy went on by itself, with a copy of the anchor of then.
	putBack()
	l = anchoredLedger(t, path, Options{Anchorage: &restored, Every: 1})
	charges(t, l, "other", 30)
	mustClose(t, l)
	mustRefuse(t, path, o, "another history")
	mustRecover(t, path, o)
	l = anchoredLedger(t, path, o)
	if n := spent(t, l, "hospital"); n != 4+20+30 {
		t.Errorf("%d counts as spent; want 54", n)
	}
	mustClose(t, l)
	// Now the copy is old in its turn.
	putBack()
	mustRefuse(t, path, o, "it is older")
	mustRecover(t, path, o)
	l = anchoredLedger(t, path, o)
	if n := spent(t, l, "hospital"); n != 54 {
		t.Errorf("%d counts as spent; want 54", n)
	}
}

// A ledger that was deleted is not begun anew.
func TestAnchorDeleted(t *testing.T) {
	path := filepath.Join(inMemory(t), "ledger.db")
	o := Options{Anchorage: &ledgertest.MemoryAnchor{}, Every: 5}
	l := anchoredLedger(t, path, o)
	charges(t, l, "r", 7)
	mustClose(t, l)
	remove(t, path)
	mustRefuse(t, path, o, "the ledger is missing, and had 12 records")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("a ledger that was refused was created")
	}
	// Somebody begins another without looking at the anchor, and without looking at what the lock
	// file says.
	noError(t, os.Remove(path+".lock"))
	l = reopen(t, path)
	charges(t, l, "r", 2)
	mustClose(t, l)
	mustRefuse(t, path, o, "it is another ledger")
	remove(t, path)
	r := mustRecover(t, path, o)
	if !strings.Contains(r.Problem, "was missing, and had 12 records") {
		t.Error(r)
	}
	l = anchoredLedger(t, path, o)
	if n := spent(t, l, "hospital"); n != 7 {
		t.Errorf("%d counts as spent; want 7", n)
	}
	if _, err := l.Charge(ctx, ask("too much", hospital(7))); err == nil {
		t.Error("the budget came back")
	}
}

// A recovery that dies before it stored the anchor is not counted twice.
func TestRecoverDies(t *testing.T) {
	path := filepath.Join(inMemory(t), "ledger.db")
	place := &ledgertest.MemoryAnchor{}
	o := Options{Anchorage: place, Every: 1}
	l := anchoredLedger(t, path, o)
	putBack := aside(t, path)
	charges(t, l, "r", 3)
	mustClose(t, l)
	putBack()
	place.Before = func(ledger.Anchor) { place.Fail = errors.New("the anchor is away") }
	if _, err := Recover(path, o, "test"); err == nil {
		t.Fatal("recovered without an anchor")
	}
	place.Before, place.Fail = nil, nil
	mustRefuse(t, path, o, "it is older")
	if r := mustRecover(t, path, o); !r.Counted || !strings.Contains(r.String(), "had already been counted") {
		t.Error(r)
	}
	if n := spent(t, anchoredLedger(t, path, o), "hospital"); n != 3 {
		t.Errorf("%d counts as spent; want 3", n)
	}
}

// Where the anchor cannot be stored, nothing is confirmed, and nothing more is spent until it can.
func TestAnchorFails(t *testing.T) {
	path := filepath.Join(inMemory(t), "ledger.db")
	place := &ledgertest.MemoryAnchor{}
	o := Options{Anchorage: place, Every: 1}
	l := anchoredLedger(t, path, o)
	charges(t, l, "r", 1)
	down := errors.New("the anchor is away")
	place.Fail = down
	charged := func(request string, want bool) {
		t.Helper()
		_, err := l.Charge(ctx, ask(request, hospital(1000)))
		var failed *ledger.WriteError
		if !errors.As(err, &failed) || !errors.Is(err, down) || failed.Charged != want || failed.Broken {
			t.Errorf("%s: got %v", request, err)
		}
	}
	charged("down", true)
	charged("down", true)
	for i := range 5 {
		charged(fmt.Sprint("more", i), false)
	}
	if n := spent(t, l, "hospital"); n != 2 {
		t.Errorf("%d were spent; want 2: one before, and the one whose anchor failed", n)
	}
	place.Fail = nil
	if r := mustCharge(t, l, ask("down", hospital(1000))); !r.Again || place.Anchor.Sequence < r.Sequence {
		t.Errorf("got %+v, and the anchor is at %d", r, place.Anchor.Sequence)
	}
	mustCharge(t, l, ask("more0", hospital(1000)))

	// It dies instead: opened again, the charge is anchored before anybody can ask for its receipt.
	place.Fail = down
	charged("dies", true)
	l.Keeper = nil
	mustClose(t, l)
	if _, err := OpenWith(path, o); !errors.Is(err, down) {
		t.Errorf("opened without an anchor: %v", err)
	}
	place.Fail = nil
	o.Every = 5
	l = anchoredLedger(t, path, o)
	if head, _, _ := l.Head(ctx); place.Anchor.Sequence != head {
		t.Errorf("the anchor is at %d of %d", place.Anchor.Sequence, head)
	}
	// A failing anchor is told when the ledger is closed, and the ledger is closed.
	mustKeep(t, l, mustCharge(t, l, ask("dies", hospital(1000))).Sequence, "key", "42")
	place.Fail = down
	if err := l.Close(); !errors.Is(err, down) {
		t.Errorf("closed: %v", err)
	}
	place.Fail = nil
	mustClose(t, anchoredLedger(t, path, o))
}

// An anchor is stored when its charge is on the disk, and before its receipt is given.
func TestAnchorOrder(t *testing.T) {
	path := filepath.Join(inMemory(t), "ledger.db")
	place := &ledgertest.MemoryAnchor{}
	l := anchoredLedger(t, path, Options{Anchorage: place, Every: 3})
	receipts, unanchored := 0, 0
	place.Before = func(a ledger.Anchor) {
		hash, err := l.HashAt(a.Sequence)
		if err != nil || hash != a.Hash {
			t.Errorf("an anchor at %d, which is not in the ledger: %v", a.Sequence, err)
		}
	}
	for i := range 30 {
		before := place.Stores
		r := mustCharge(t, l, ask(fmt.Sprint(i), hospital(1000)))
		receipts++
		if unanchored++; place.Stores > before {
			unanchored = 0
		}
		if unanchored >= 3 {
			t.Errorf("%d receipts without an anchor", unanchored)
		}
		if got := r.Balances[0].Spent; !got.Within(place.Anchor.Most[0].Spent) {
			t.Errorf("spent %v, above the ceiling %v", got, place.Anchor.Most[0].Spent)
		}
	}
	if n := place.Stores; n < 10 || n > 13 {
		t.Errorf("%d anchors for %d charges", n, receipts)
	}
	// What the owner enters needs none, and Close takes it in.
	noError(t, ledgertest.ErrOf(l.Enter(ctx, ledger.Owner{Public: make(ed25519.PublicKey, ed25519.PublicKeySize), Reason: "test"})))
	head, hash, _ := l.Head(ctx)
	mustClose(t, l)
	if a := place.Anchor; a.Sequence != head || a.Hash != hash || a.Most[0].Spent.Rho != 30*unit.Rho {
		t.Errorf("Close left %+v", a)
	}
	place.Before = nil
	stores := place.Stores
	mustClose(t, anchoredLedger(t, path, Options{Anchorage: place, Every: 3}))
	if place.Stores != stores {
		t.Errorf("%d anchors where nothing happened", place.Stores-stores)
	}
}

// Recover refuses what it cannot do, and changes nothing.
func TestRecoverRefuses(t *testing.T) {
	t.Parallel() // it waits
	path := filepath.Join(inMemory(t), "ledger.db")
	place := &ledgertest.MemoryAnchor{}
	for name, err := range map[string]error{
		"no place":  ledgertest.ErrOf(Recover(path, Options{}, "test")),
		"no reason": ledgertest.ErrOf(Recover(path, Options{Anchorage: place}, "")),
		"no anchor": ledgertest.ErrOf(Recover(path, Options{Anchorage: place}, "test")),
		"no answer": ledgertest.ErrOf(Recover(path, Options{Anchorage: &ledgertest.MemoryAnchor{Fail: errors.New("down")}}, "test")),
	} {
		if err == nil {
			t.Errorf("%s: recovered", name)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	l := anchoredLedger(t, path, Options{Anchorage: place})
	if _, err := Recover(path, Options{Anchorage: place}, "test"); !errors.Is(err, ledger.ErrBusy) {
		t.Errorf("an open ledger: %v", err)
	}
	mustClose(t, l)
}

// A copy that has a charge and lacks its answer would draw another answer, free. So answers are
// anchored like charges.
func TestPromise13OneAnswer(t *testing.T) {
	path := filepath.Join(inMemory(t), "ledger.db")
	o := Options{Anchorage: &ledgertest.MemoryAnchor{}}
	l := anchoredLedger(t, path, o)
	mustCharge(t, l, ask("before", hospital(100)))
	r := mustCharge(t, l, ask("asked", hospital(100)))
	putBack := aside(t, path) // after the charge, and before its answer
	mustKeep(t, l, r.Sequence, "key", "an answer")
	l.Keeper = nil // killed: nothing is anchored when it is closed
	mustClose(t, l)
	putBack()
	mustRefuse(t, path, o, "it is older")
}

// Two that run from copies of one ledger cannot both release an answer.
func TestPromise13TwoCopies(t *testing.T) {
	path, other := filepath.Join(inMemory(t), "ledger.db"), filepath.Join(inMemory(t), "ledger.db")
	place := filepath.Join(t.TempDir(), "anchor")
	first := anchoredLedger(t, path, Options{Anchorage: anchor.File(place)})
	r := mustCharge(t, first, ask("asked", hospital(100)))
	for _, suffix := range []string{"", "-wal"} {
		copyFile(t, other+suffix, path+suffix)
	}
	second := anchoredLedger(t, other, Options{Anchorage: anchor.File(place)})
	mustCharge(t, second, ask("asked", hospital(100)))
	mustKeep(t, first, r.Sequence, "key", "an answer")
	var failed *ledger.WriteError
	if err := second.Keep(ctx, r.Sequence, "key", []byte("another answer")); !errors.As(err, &failed) {
		t.Errorf("the same charge has two answers: %v", err)
	}
	if answer, found, err := second.Answer(ctx, "asked"); err == nil {
		t.Errorf("what was not confirmed is told of: %q, %v", answer, found)
	}
	if answer, _, found, err := second.Recall(ctx, "key"); err == nil {
		t.Errorf("what was not confirmed is recalled: %q, %v", answer, found)
	}
}

// TestPromise13MountPoint: where the volume of the anchor is not mounted there is a folder without
// an anchor, and a ledger that had one is not opened, be it an older copy or not.
func TestPromise13MountPoint(t *testing.T) {
	path, place := filepath.Join(inMemory(t), "ledger.db"), &ledgertest.MemoryAnchor{}
	o := Options{Anchorage: place}
	l := anchoredLedger(t, path, o)
	charges(t, l, "r", 3)
	mustClose(t, l)
	mounted := *place
	place.Anchor = nil
	var refused *ledger.UnanchoredError
	before, err := os.ReadFile(path)
	noError(t, err)
	if _, err := OpenWith(path, o); !errors.As(err, &refused) || !strings.Contains(err.Error(), "Mount the volume") {
		t.Fatalf("opened without its anchor: %v", err)
	}
	if _, err := Recover(path, o, "why"); err == nil {
		t.Error("there is nothing to recover from")
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) || place.Anchor != nil {
		t.Errorf("something was changed: %v", err)
	}
	*place = mounted
	l = anchoredLedger(t, path, o)
	session := "a session of before"
	mustNote(t, l, session, "its secret")
	mustClose(t, l)
	if _, err := BeginAnchor(path, o, "why"); err == nil || !strings.Contains(err.Error(), "there is an anchor") {
		t.Errorf("another anchor over the one that is there: %v", err)
	}
	// Lost for good: the owner says so, and sessions begin anew.
	place.Anchor = nil
	if _, err := BeginAnchor(path, o, ""); err == nil {
		t.Error("an anchor was begun without a reason")
	}
	if r, err := BeginAnchor(path, o, "the disk of the anchor was lost"); err != nil || place.Anchor.Sequence != r.Sequence ||
		r.Sequence == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	l = anchoredLedger(t, path, o)
	if _, err := l.Notes(ctx, session); !errors.Is(err, ledger.ErrEra) {
		t.Errorf("a session of before goes on: %v", err)
	}
	if spent(t, l, "hospital") != 3 {
		t.Error("what was spent is another")
	}
}

// TestPromise13NoPlace: a ledger that has an anchor is not opened where none is named, be it an
// older copy or not, and is not changed. Only its owner takes that back, of the ledger that the
// anchor knows.
func TestPromise13NoPlace(t *testing.T) {
	path, place := filepath.Join(inMemory(t), "ledger.db"), &ledgertest.MemoryAnchor{}
	o := Options{Anchorage: place}
	refuse := func(when string) {
		t.Helper()
		before, _ := os.ReadFile(path)
		var refused *ledger.UnanchoredError
		if l, err := Open(path); !errors.As(err, &refused) || refused.Anchorage != "" || !strings.Contains(err.Error(), "--give-up") {
			t.Fatalf("%s it was opened without its anchor: %v, %v", when, l, err)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s a ledger that was refused was changed", when)
		}
	}
	l := anchoredLedger(t, path, o)
	charges(t, l, "r", 3)
	mustClose(t, l)
	refuse("at first")
	putBack := aside(t, path)
	l = anchoredLedger(t, path, o)
	charges(t, l, "more", 3)
	mustClose(t, l)
	newer := aside(t, path)
	putBack()
	refuse("as an older copy")
	if err := GiveUpAnchor(path, o, "why"); !errors.As(err, new(*ledger.AnchorError)) {
		t.Errorf("an older copy gave its anchor up: %v", err)
	}
	newer()
	for _, bad := range []struct {
		o      Options
		reason string
	}{{Options{}, "why"}, {o, ""}, {o, strings.Repeat("x", 201)}} {
		if err := GiveUpAnchor(path, bad.o, bad.reason); !errors.As(err, new(*ledger.InvalidError)) {
			t.Errorf("given up: %v", err)
		}
	}
	// What is given up and taken again is as it was, also after a recovery, for the same reason.
	for _, when := range []string{"at first", "after a recovery"} {
		noError(t, GiveUpAnchor(path, o, "why"))
		l = reopen(t, path)
		charges(t, l, when, 1)
		mustClose(t, l)
		if report := mustVerify(t, path); report.Charges == 0 {
			t.Error("nothing was charged")
		}
		mustClose(t, anchoredLedger(t, path, o))
		refuse(when)
		place.Anchor = nil
		noError(t, ledgertest.ErrOf(BeginAnchor(path, o, "the anchor was lost")))
		refuse("after a recovery")
	}
}

// A checkpoint knows that there is an anchor, and that it was given up.
func TestPromise13NoPlaceByCheckpoint(t *testing.T) {
	path, place := varied(t), &ledgertest.MemoryAnchor{}
	o := Options{Anchorage: place}
	for _, want := range []bool{true, false} {
		l := anchoredLedger(t, path, o)
		if !want {
			noError(t, (groupcommit.Recovery{Committer: l.Committer, Reason: "why"}).GiveUpAnchor(ctx))
		}
		for i := range 120 {
			mustCharge(t, l, askIn(fmt.Sprint("q", want, i), 2))
		}
		l.helpers.Wait()
		mustClose(t, l)
		state, by, err := check(path, nil, Options{mending: true})
		if err != nil || by == noneChosen || state.Unread() < place.Anchor.Sequence-120 || state.Notes.Anchored() != want {
			t.Errorf("opened by a checkpoint at %d of %d, it says %v: %v", state.Unread(), place.Anchor.Sequence,
				state.Notes.Anchored(), err)
		}
	}
}

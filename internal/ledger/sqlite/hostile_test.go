package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

// forge is done by somebody who can write the ledger's folder and nothing else: a checkpoint that
// knows nothing of an account, and a note behind the last record that vouches for it.
func forge(t *testing.T, path string) {
	t.Helper()
	l, err := openAnchored(path, time.Now, nil, Options{mending: true}) // a program that asks no anchor
	noError(t, err)
	less := strings.Replace(image(t, l.State), "hospital/ana", "hospital/bob", 1)
	last, _ := l.State.Head()
	l.helpers.Wait()
	for _, name := range checkpoints(path) {
		noError(t, os.WriteFile(name, []byte(less), 0o600))
	}
	sum := chain.NewCheckpointHash()
	sum.Write([]byte(less))
	mustNote(t, l, ledger.CheckpointNotes(""), chain.CheckpointNote(last, sum.Hex()))
	mustClose(t, l)
}

// The anchor knows nothing of what stands behind its record, but it names the checkpoint that is
// believed, and a forged one is not.
func TestPromise13ForgedCheckpoint(t *testing.T) {
	path := varied(t)
	o := Options{Anchorage: &ledgertest.MemoryAnchor{}}
	open := func() *Ledger {
		t.Helper()
		l, err := OpenWith(path, o)
		noError(t, err)
		return l
	}
	l := open()
	want := spent(t, l, "hospital/ana")
	mustClose(t, l) // and makes a checkpoint, which the anchor names
	l = open()
	if l.State.Unread() == 0 {
		t.Fatal("the checkpoint that the anchor names is not used")
	}
	mustClose(t, l)
	often(t, 1<<40) // no other checkpoint comes to be
	forge(t, path)
	for _, when := range []string{"at first", "when the anchor is behind the forged note"} {
		l := open()
		if got := spent(t, l, "hospital/ana"); got != want || l.State.Unread() != 0 {
			t.Errorf("%s: spent %d of %d, opened by a checkpoint at %d", when, got, want, l.State.Unread())
		}
		mustClose(t, l)
	}
}

// Where there is no anchor to ask, a forged checkpoint is found out in the background.
func TestPromise7ForgedCheckpointIsScrubbed(t *testing.T) {
	path := varied(t)
	often(t, 1<<40)
	forge(t, path)
	l := reopen(t, path)
	defer l.Close()
	if l.State.Unread() == 0 {
		t.Fatal("no checkpoint")
	}
	l.helpers.Wait()
	if _, err := l.Charge(ctx, askIn("more", 2)); err == nil || !strings.Contains(err.Error(), "does not follow") {
		t.Errorf("a charge with a forged checkpoint: %v", err)
	}
	mustClose(t, l)
	full, err := OpenWith(path, Options{Full: true})
	noError(t, err)
	if full.State.Unread() != 0 || spent(t, full, "hospital/ana") != 156 {
		t.Error("a full check believes a checkpoint")
	}
	mustClose(t, full)
}

// Whatever byte of the ledger is damaged, it is not opened, or it knows what was spent and stops.
func TestPromise7DamageBeforeCheckpoint(t *testing.T) {
	path := varied(t)
	good, err := os.ReadFile(path)
	noError(t, err)
	opened, stopped := 0, 0
	for at := pageSize + 100; at < len(good); at += len(good) / some(60) {
		noError(t, os.WriteFile(path, changed(good, at), 0o600))
		l, err := open(path, time.Now)
		if err != nil {
			continue
		}
		if l.State.Unread() > 0 {
			opened++
			l.helpers.Wait() // after which it may have stopped, and still knows
			if got := l.State.Accounts.Spent("hospital/ana").Rho / unit.Rho; got != 156 {
				t.Errorf("byte %d: spent %d", at, got)
			}
			if l.StopCause() != nil {
				stopped++
			} else if _, err := l.Charge(ctx, askIn(fmt.Sprint("damaged", at), 2)); err != nil {
				t.Errorf("byte %d: the ledger is whole, and does not charge: %v", at, err)
			}
		}
		l.Close()
		os.Remove(path + "-wal")
	}
	if opened == 0 || stopped == 0 {
		t.Errorf("%d opened by a checkpoint, of which %d stopped", opened, stopped)
	}
}

// The checkpoint of another time or of another ledger is as good as none, or as good as it is old.
func TestPromise7StrangeCheckpoints(t *testing.T) {
	path, other := varied(t), varied(t)
	young := t.TempDir()
	for i, name := range checkpoints(path) {
		copyFile(t, filepath.Join(young, fmt.Sprint(i)), name)
	}
	copyFile(t, filepath.Join(young, "ledger"), path)
	l := reopen(t, path)
	for i := range 150 {
		mustCharge(t, l, askIn(fmt.Sprint("since", i), 2))
	}
	l.helpers.Wait()
	mustClose(t, l)
	_, want := unread(t, path)
	same := func(what string) {
		t.Helper()
		if _, got := unread(t, path); image(t, got) != image(t, want) {
			t.Errorf("%s: another state", what)
		}
	}
	for i, name := range checkpoints(path) {
		copyFile(t, name+".new", name)
		copyFile(t, name, filepath.Join(young, fmt.Sprint(i)))
	}
	same("older checkpoints")
	for i, name := range checkpoints(path) {
		copyFile(t, name, checkpoints(other)[i])
	}
	if last, _ := unread(t, path); last != 0 {
		t.Error("the checkpoint of another ledger is used")
	}
	same("another ledger's")
	for _, name := range checkpoints(path) {
		copyFile(t, name, name+".new")
	}
	copyFile(t, path, filepath.Join(young, "ledger"))
	if _, got := unread(t, path); got.Charges.Count() != want.Charges.Count()-150 {
		t.Errorf("newer checkpoints beside an older ledger: %d charges", got.Charges.Count())
	}
	mustVerify(t, path)
}

// Processes that end before they have read everything make no checkpoint, and one of them reads
// everything when the last is far behind.
func TestCheckpointFarBehind(t *testing.T) {
	path := varied(t)
	before := candidates(path)[0].last
	for _, want := range []uint64{before, 0} {
		checkpointLeast = 1 << 40 // as if there had been no time
		l := reopen(t, path)
		l.helpers.Wait()
		l.Lock()
		l.checkpoints.whole = false
		l.Unlock()
		checkpointLeast = 100
		for i := range 120 {
			mustCharge(t, l, askIn(fmt.Sprint("behind", want, i), 2))
		}
		mustClose(t, l)
		if last := candidates(path)[0].last; last != before {
			t.Fatalf("a checkpoint at %d was made of one that was not checked", last)
		}
		if last, _ := unread(t, path); last != want {
			t.Errorf("opened by %d, not by %d", last, want)
		}
	}
}

// An anchor of before checkpoints names none, and neither does a recovery's.
func TestAnchorNamesCheckpoint(t *testing.T) {
	path := varied(t)
	place := &ledgertest.MemoryAnchor{}
	o := Options{Anchorage: place}
	for _, want := range []bool{true, false} {
		l, err := OpenWith(path, o)
		noError(t, err)
		if (l.State.Unread() == 0) != want {
			t.Errorf("opened by a checkpoint at %d", l.State.Unread())
		}
		mustClose(t, l)
	}
	a, found, err := place.Load(ctx)
	if err != nil || !found || len(a.Checkpoint) != 64 {
		t.Fatalf("the anchor names %q, %v", a.Checkpoint, err)
	}
	a.Checkpoint = strings.Repeat("0", 64)
	noError(t, place.Store(ctx, a))
	l, err := OpenWith(path, o)
	noError(t, err)
	if l.State.Unread() != 0 {
		t.Error("a checkpoint that the anchor does not name is used")
	}
	mustClose(t, l)
	place.Fail = errors.New("not mounted")
	if _, err := OpenWith(path, o); err == nil || !strings.Contains(err.Error(), "not mounted") {
		t.Errorf("without its anchor: %v", err)
	}
}

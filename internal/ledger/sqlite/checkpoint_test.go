package sqlite

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

// often makes checkpoints after so many records in a test.
func often(t *testing.T, records uint64) {
	least := checkpointLeast
	checkpointLeast = records
	t.Cleanup(func() { checkpointLeast = least })
}

// varied writes records of every kind, and returns a ledger that was closed, with a checkpoint and
// some records after it.
func varied(t *testing.T) string {
	t.Helper()
	often(t, 100)
	l, path := fresh(t)
	variety(t, l)
	for i := range 150 {
		r := mustCharge(t, l, askIn(fmt.Sprint("q", i), 2))
		mustKeep(t, l, r.Sequence, ledger.Hash(fmt.Sprint("key", i)), fmt.Sprint("answer ", i))
	}
	l.helpers.Wait()
	for i := range 5 {
		r := mustCharge(t, l, askIn(fmt.Sprint("late", i), 2))
		mustKeep(t, l, r.Sequence, ledger.Hash(fmt.Sprint("late key", i)), "late")
	}
	mustClose(t, l)
	return path
}

func askIn(request string, window uint64) ledger.Charge {
	c := ask(request, hospital(1000), ledger.Account{Name: "hospital/ana", Filter: admits(1000)})
	c.Window = window
	return c
}

// variety writes a renewal, an owner, a top-up, notes, an incident with its release, and a session.
func variety(t *testing.T, l *Ledger) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	enter := func(e ledger.Entry) {
		t.Helper()
		noError(t, ledgertest.ErrOf(l.Enter(ctx, e)))
	}
	mustCharge(t, l, askIn("first", 1))
	enter(ledger.Renewal{Dataset: "hospital", From: 1, Reason: "a month"})
	enter(ledger.Owner{Public: key.Public().(ed25519.PublicKey), Reason: "begin"})
	enter(ledger.TopUp{Accounts: []string{"hospital"}, Amount: dp.Cost{Rho: dp.One}, Reason: "more", Signer: key})
	for i := range 20 {
		mustNote(t, l, fmt.Sprint("session", i%3), fmt.Sprint("note ", i))
	}
	for _, analyst := range []string{"ben", "eve"} {
		if _, err := l.Fail(ctx, ledger.Incident{Analyst: analyst, Dataset: "hospital", Failure: ledger.FailedError,
			ByAnalyst: 1, ByDataset: 5}); err != nil {
			t.Fatal(err)
		}
	}
	enter(ledger.Release{Dataset: "hospital", Analyst: "eve", Reason: "looked at", Signer: key})
}

// unread opens a ledger and returns which record it did not read.
func unread(t *testing.T, path string) (uint64, *chain.State) {
	t.Helper()
	v, err := openView(path)
	noError(t, err)
	defer v.Close()
	c, state, err := v.replay(chain.AnyCheckpoint, nil)
	noError(t, err)
	c.Close()
	return state.Unread(), state
}

func image(t *testing.T, s *chain.State) string {
	t.Helper()
	var b bytes.Buffer
	noError(t, s.EncodeCheckpoint(&b))
	return b.String()
}

func removeCheckpoints(t *testing.T, path string) {
	t.Helper()
	for _, name := range checkpoints(path) {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

func TestCheckpointIsTheSameState(t *testing.T) {
	path := varied(t)
	last, by := unread(t, path)
	if last < 100 {
		t.Fatalf("opened by a checkpoint at %d", last)
	}
	removeCheckpoints(t, path)
	last, full := unread(t, path)
	if last != 0 {
		t.Fatalf("opened by a checkpoint at %d that is not there", last)
	}
	if image(t, by) != image(t, full) {
		t.Error("the state by a checkpoint is another one")
	}
	mustVerify(t, path)
}

// An open ledger behaves the same, whether it read a record or not.
func TestCheckpointedLedgerWorks(t *testing.T) {
	path := varied(t)
	l := reopen(t, path)
	if l.State.Unread() == 0 {
		t.Fatal("no checkpoint")
	}
	if r := mustCharge(t, l, askIn("q3", 2)); !r.Again {
		t.Error("a request of before the checkpoint is charged again")
	}
	if _, err := l.Charge(ctx, askIn("first", 1)); !errors.As(err, new(*ledger.LapsedError)) {
		t.Errorf("a charge of an earlier window: %v", err)
	}
	if a, _, ok, err := l.Recall(ctx, ledger.Hash("key3")); err != nil || !ok || string(a) != "answer 3" {
		t.Errorf("recalled %q, %v, %v", a, ok, err)
	}
	if n, err := l.Notes(ctx, "session1"); err != nil || len(n) != 7 || string(n[6]) != "note 19" {
		t.Errorf("%d notes, %v", len(n), err)
	}
	if !l.State.Incidents.Closed("hospital", "ben") || l.State.Incidents.Closed("hospital", "eve") {
		t.Error("the lockouts are others")
	}
	if got := spent(t, l, "hospital"); got != 156 {
		t.Errorf("spent %d", got)
	}
	if n := 0; true {
		for _, err := range l.Records(ctx, 0) {
			noError(t, err)
			n++
		}
		if head, _ := l.State.Head(); uint64(n) != head+1 {
			t.Errorf("%d records", n)
		}
	}
	mustClose(t, l)
	mustVerify(t, path)
}

// Whatever is changed in the files of a checkpoint, the ledger is what follows from its records.
func TestPromise7ChangedCheckpoint(t *testing.T) {
	path := varied(t)
	_, want := unread(t, path)
	names := checkpoints(path)
	for _, name := range names {
		good, err := os.ReadFile(name)
		noError(t, err)
		for at := 0; at < len(good); at += 1 + len(good)/some(40) {
			for _, bad := range [][]byte{changed(good, at), good[:at], append(changed(good, at), good...)} {
				noError(t, os.WriteFile(name, bad, 0o600))
				if _, got := unread(t, path); image(t, got) != image(t, want) {
					t.Fatalf("byte %d of %s: another state", at, filepath.Base(name))
				}
			}
		}
		noError(t, os.WriteFile(name, good, 0o600))
	}
	if last, _ := unread(t, path); last == 0 {
		t.Error("the good checkpoint is not used")
	}
}

func changed(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 0x41
	return b
}

// A checkpoint that somebody made, with less spent, is not the noted one.
func TestPromise7ForgedCheckpoint(t *testing.T) {
	path := varied(t)
	for _, k := range candidates(path) {
		state, _, err := readCheckpoint(k.name)
		noError(t, err)
		forged := strings.Replace(image(t, state), "hospital/ana", "hospital/bob", 1)
		noError(t, os.WriteFile(k.name, []byte(forged), 0o600))
	}
	l := reopen(t, path)
	if l.State.Unread() != 0 || spent(t, l, "hospital/ana") != 156 {
		t.Errorf("opened by a forged checkpoint at %d", l.State.Unread())
	}
}

// Where the note is forged too, all after it has to be, and an anchor knows another chain. Without
// one, a full check tells that the checkpoint does not follow.
func TestPromise7ForgedNote(t *testing.T) {
	often(t, 1<<40)
	l, path := fresh(t)
	for i := range 40 {
		mustCharge(t, l, askIn(fmt.Sprint(i), 1))
	}
	// Who can write the file makes a checkpoint of another state, and vouches for it.
	less := []byte(image(t, l.State))
	account := []byte("hospital/ana")
	at := bytes.Index(less, account)
	less = append(less[:at], append([]byte("hospital/bob"), less[at+len(account):]...)...)
	name := checkpoints(path)[0]
	noError(t, os.WriteFile(name, less, 0o600))
	sum := chain.NewCheckpointHash()
	sum.Write(less)
	last, _ := l.State.Head()
	mustNote(t, l, ledger.CheckpointNotes(""), chain.CheckpointNote(last, sum.Hex()))
	mustClose(t, l)
	var corrupt *ledger.CorruptError
	if _, err := Verify(path); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "does not follow") {
		t.Errorf("a forged checkpoint verifies: %v", err)
	}
}

// What a top-up granted is verified from the signed records, whoever vouches for a checkpoint.
func TestPromise12ForgedGrant(t *testing.T) {
	path := varied(t)
	_, state := unread(t, path)
	v, err := openView(path)
	noError(t, err)
	defer v.Close()
	c, err := v.reader()
	noError(t, err)
	defer c.Close()
	read := func(n uint64) (*ledger.Record, error) {
		r, _, err := readProven(c, path, state, n)
		return r, err
	}
	noError(t, state.CheckSigned(read))
	for name, forge := range map[string]func(*ledger.Record){
		"amount":    func(r *ledger.Record) { r.Cost.Rho *= 2 },
		"account":   func(r *ledger.Record) { r.Accounts = append(r.Accounts, "hospital/ana") },
		"signature": func(r *ledger.Record) { r.Signature = strings.Repeat("0", 128) },
	} {
		err := state.CheckSigned(func(n uint64) (*ledger.Record, error) {
			r, err := read(n)
			if err == nil && r.Kind == ledger.KindTopUp {
				forge(r)
			}
			return r, err
		})
		if err == nil {
			t.Errorf("%s: a forged top-up is believed", name)
		}
	}
}

// A process that died between the file and its note leaves the checkpoint before, and the ledger
// opens by that.
func TestPromise6CheckpointWithoutNote(t *testing.T) {
	path := varied(t)
	before, want := unread(t, path)
	used := candidates(path)[0].slot
	clone := want.Clone()
	noError(t, ledgertest.ErrOf(writeCheckpoint(checkpoints(path)[1-used], clone)))
	after, got := unread(t, path)
	if after != before || image(t, got) != image(t, want) {
		t.Errorf("opened by the checkpoint at %d, and not by that at %d", after, before)
	}
	// The same with a file that was not finished.
	noError(t, os.Truncate(checkpoints(path)[1-used], 1000))
	if after, _ := unread(t, path); after != before {
		t.Errorf("opened by the checkpoint at %d", after)
	}
	mustClose(t, reopen(t, path))
}

// A record before a checkpoint that was changed, with its hash, is not used, and the ledger stops.
func TestPromise7ChangedBeforeCheckpoint(t *testing.T) {
	path := varied(t)
	c, err := dial(path)
	noError(t, err)
	var body, answer string
	const at = 60
	row := c.QueryRowContext(ctx, "SELECT body, coalesce(answer, '') FROM records WHERE sequence = ?", at)
	noError(t, row.Scan(&body, &answer))
	forged := strings.Replace(body, "2026", "2025", 1)
	if forged == body {
		t.Fatal("nothing was changed")
	}
	for _, s := range []string{"PRAGMA writable_schema = 1", "DROP TRIGGER records_not_updated"} {
		noError(t, ledgertest.ErrOf(c.ExecContext(ctx, s)))
	}
	const update = "UPDATE records SET body = ?, hash = ? WHERE sequence = ?"
	noError(t, ledgertest.ErrOf(c.ExecContext(ctx, update, forged, ledger.Hash(forged), at)))
	for _, s := range schema {
		if s.name == "records_not_updated" {
			noError(t, ledgertest.ErrOf(c.ExecContext(ctx, s.sql)))
		}
	}
	noError(t, errors.Join(c.empty(), c.Close()))
	l, err := openWith(path, Options{}, time.Now)
	noError(t, err)
	defer l.Close()
	if l.State.Unread() == 0 {
		t.Fatal("no checkpoint")
	}
	if _, err := l.HashAt(at); err == nil && l.StopCause() == nil {
		t.Error("a changed record is read")
	}
	l.helpers.Wait()
	if err := l.StopCause(); err == nil || !strings.Contains(err.Error(), "record") {
		t.Errorf("the ledger goes on: %v", err)
	}
	if _, err := l.Charge(ctx, askIn("more", 2)); err == nil {
		t.Error("a charge was made")
	}
	mustClose(t, l)
	if _, err := Verify(path); err == nil {
		t.Error("it verifies")
	}
}

// An old ledger has no checkpoint, and gets one where its folder can be written to.
func TestCheckpointOfOldLedger(t *testing.T) {
	path := varied(t)
	removeCheckpoints(t, path)
	l := reopen(t, path)
	if l.State.Unread() != 0 {
		t.Fatal("there is a checkpoint")
	}
	mustClose(t, l)
	if last, _ := unread(t, path); last == 0 {
		t.Error("opening it made no checkpoint")
	}
	// Where none can be written the ledger works all the same.
	removeCheckpoints(t, path)
	for _, name := range checkpoints(path) {
		noError(t, os.MkdirAll(filepath.Join(name, "in the way"), 0o700))
	}
	l = reopen(t, path)
	mustCharge(t, l, askIn("more", 2))
	mustClose(t, l)
	if r := mustVerify(t, path); r.Charges != 157 {
		t.Errorf("%d charges", r.Charges)
	}
}

// A recovery ends the eras of checkpoints too.
func TestCheckpointAfterRecovery(t *testing.T) {
	path := varied(t)
	l := reopen(t, path)
	noError(t, ledgertest.ErrOf(l.Enter(ctx, ledger.Recovery{Reason: "the disk"})))
	mustClose(t, l)
	l = reopen(t, path)
	if l.State.Unread() != 0 {
		t.Error("a checkpoint of before the recovery is used")
	}
	mustClose(t, l)
	if last, _ := unread(t, path); last == 0 {
		t.Error("there is no checkpoint after the recovery")
	}
	mustVerify(t, path)
}

// An older copy with its own checkpoint is as old as it is, and the anchor knows.
func TestPromise13OlderCheckpoint(t *testing.T) {
	path := varied(t)
	place := &ledgertest.MemoryAnchor{}
	o := Options{Anchorage: place}
	open := func() *Ledger {
		l, err := OpenWith(path, o)
		noError(t, err)
		return l
	}
	mustClose(t, open())
	files := append([]string{path}, checkpoints(path)[0], checkpoints(path)[1])
	for _, name := range files {
		copyFile(t, name+".old", name)
	}
	l := open()
	if l.State.Unread() == 0 {
		t.Fatal("no checkpoint")
	}
	mustCharge(t, l, askIn("more", 2))
	mustClose(t, l)
	for _, name := range files {
		copyFile(t, name, name+".old")
	}
	if _, err := OpenWith(path, o); !errors.As(err, new(*ledger.AnchorError)) {
		t.Errorf("an older copy is opened: %v", err)
	}
}

// A file and its checkpoint that may only be read are read.
func TestCheckpointReadOnly(t *testing.T) {
	path := varied(t)
	for _, name := range append([]string{path}, checkpoints(path)[0], checkpoints(path)[1]) {
		if err := os.Chmod(name, 0o400); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	mustVerify(t, path)
	if last, _ := unread(t, path); last == 0 {
		t.Error("the checkpoint is not used")
	}
}

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// That fsync is really asked for is tested in fsync_linux_test.go. Here: the files as they are on
// disk when Charge returns, while the ledger is open, have the charge, and the file alone says that
// it needs its log.
func TestPromise1ChargedBeforeRelease(t *testing.T) {
	l, path := fresh(t)
	for i := range 20 {
		r := mustCharge(t, l, ask(fmt.Sprint(i), hospital(100)))
		if i%2 == 0 {
			mustKeep(t, l, r.Sequence, fmt.Sprint("key", i), strings.Repeat("answer", 1000*i+1))
		}
		copied := filepath.Join(inMemory(t), "copy.db")
		copyFile(t, copied, path)
		var corrupt *ledger.CorruptError
		if _, err := Verify(copied); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "without its log") {
			t.Fatalf("the file without its log: got %v; want a CorruptError", err)
		}
		if l, err := Open(copied); !errors.As(err, &corrupt) {
			l.Close()
			t.Fatalf("the file without its log: got %v; want a CorruptError", err)
		}
		copyFile(t, copied+"-wal", path+"-wal")
		report := mustVerify(t, copied)
		if n, hash, _ := l.Head(ctx); report.Records != n || report.Head != hash {
			t.Fatalf("after charge %d the file has %d records, the ledger %d", i, report.Records, n)
		}
	}
	for _, p := range append(readPragmas, writePragmas...) {
		var got string
		if err := l.conn.QueryRowContext(ctx, "PRAGMA "+p[0]).Scan(&got); err != nil || got != p[1] {
			t.Errorf("PRAGMA %s is %q, %v; want %s", p[0], got, err, p[1])
		}
	}
}

func TestPromise5OneOrderAppendOnly(t *testing.T) {
	l, _ := fresh(t)
	_, previous, _ := l.Head(ctx)
	for i := range 50 {
		r := mustCharge(t, l, ask(fmt.Sprint(i), hospital(100)))
		mustKeep(t, l, r.Sequence, fmt.Sprint(i), "answer")
		if r.Sequence != uint64(2*i+1) {
			t.Fatalf("charge %d is record %d", i, r.Sequence)
		}
		record, hash, _, err := l.Read(r.Sequence)
		if err != nil || hash != r.Hash || record.Previous != previous {
			t.Fatalf("record %d does not continue the one before: %v", r.Sequence, err)
		}
		_, previous, _ = l.Head(ctx)
	}
	for _, statement := range []string{
		`UPDATE records SET body = 'x' WHERE sequence = 1`,
		`UPDATE OR REPLACE records SET sequence = 99 WHERE sequence = 3`,
		`DELETE FROM records WHERE sequence = 100`,
		`DELETE FROM records`,
		`REPLACE INTO records (sequence, body, hash) VALUES (1, 'x', 'y')`,
		`DELETE FROM head`,
	} {
		if _, err := l.conn.ExecContext(ctx, statement); err == nil {
			t.Errorf("%s: no error", statement)
		}
	}
}

func TestPathsWithOddCharacters(t *testing.T) {
	for _, name := range []string{"with space", "a?mode=memory", "b#c", "100%", "%41", "ü", "a&b=c;d", "'", "\"", ":memory:", "-",
		"file:x", "back\\slash"} {
		path := filepath.Join(inMemory(t), name)
		l := reopen(t, path)
		mustCharge(t, l, ask("r", hospital(1)))
		mustClose(t, l)
		if info, err := os.Stat(path); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", name, info, err)
		}
		if r := mustVerify(t, path); r.Records != 1 {
			t.Errorf("%q has %d records", name, r.Records)
		}
	}
	if _, err := Open(""); err == nil {
		t.Error("no path, no error")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing", "ledger.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	if _, err := Verify(filepath.Join(inMemory(t), "ledger.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing ledger: %v", err)
	}
}

// A ledger that is reached by a link has the lock and the journal of the file.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "ledger.db"), filepath.Join(dir, "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	var missing *ledger.MissingError
	if _, err := Open(link); !errors.As(err, &missing) {
		t.Errorf("a link to nothing: got %v; want a MissingError", err)
	}
	mustCharge(t, reopen(t, path), ask("r", hospital(1)))
	if _, err := Open(link); !errors.Is(err, ledger.ErrBusy) {
		t.Errorf("a second name: got %v; want ErrBusy", err)
	}
}

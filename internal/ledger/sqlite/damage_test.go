package sqlite

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// sample is a closed ledger with charges, answers, and an answer that fills several
// pages, and what Verify says about it.
var sample = sync.OnceValues(func() ([]byte, Report) {
	dir, err := os.MkdirTemp("", "ledger-sample-*")
	orPanic(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ledger.db")
	// A fixed clock, so that what the fuzzer finds has the same offsets tomorrow.
	l, err := open(path, func() time.Time { return time.Unix(1_800_000_000, 0) })
	orPanic(err)
	for i := range 20 {
		r, err := l.Charge(ctx, ask(fmt.Sprint("request ", i), hospital(100), ledger.Account{Name: "hospital/ana", Filter: admits(50)}))
		if err == nil && i%3 == 0 {
			err = l.Keep(ctx, r.Sequence, fmt.Sprint("key ", i), []byte(strings.Repeat("4.25 ", 1+i*i*10)))
		}
		orPanic(err)
	}
	for i := range 6 {
		orPanic(l.Note(ctx, fmt.Sprint("session ", i%2), []byte(strings.Repeat("note ", 1+i*i*50))))
	}
	orPanic(l.Close())
	report, err := Verify(path)
	orPanic(err)
	b, err := os.ReadFile(path)
	orPanic(err)
	return b, report
})

// judge writes bytes as a ledger and opens or verifies it. Accepted must mean that
// nothing of the history differs; otherwise the error must be a CorruptError.
// In both cases the file must be as it was. It reports whether damage was noticed.
func judge(t testing.TB, data []byte, useOpen bool) (noticed bool) {
	t.Helper()
	_, want := sample()
	path := filepath.Join(inMemory(t), "ledger.db")
	noError(t, os.WriteFile(path, data, 0o600))
	var got Report
	var err error
	if useOpen {
		var l *Ledger
		if l, err = Open(path); err == nil {
			n, hash := l.State.Head()
			got = Report{Records: n, Charges: l.State.Charges.Count(), Head: hash, Answers: l.State.Charges.Answered(),
				Balances: l.State.Accounts.All()}
			noError(t, l.Close())
		}
	} else {
		got, err = Verify(path)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data) {
		t.Fatalf("the file was changed: %v", err)
	}
	var corrupt *ledger.CorruptError
	switch {
	case err != nil && !errors.As(err, &corrupt):
		t.Fatalf("got %v; want a CorruptError", err)
	case err == nil && !reflect.DeepEqual(got, want):
		t.Fatalf("a changed history was accepted: got %+v; want %+v", got, want)
	}
	return err != nil
}

func TestPromise7DamagedFileIsNoticed(t *testing.T) {
	t.Parallel()
	good, _ := sample()
	if judge(t, good, true) || judge(t, good, false) {
		t.Fatal("a good ledger was not accepted")
	}
	page := func(n int) []byte { return append([]byte{}, good[:n]...) }
	cases := map[string][]byte{
		"empty":            {},
		"one byte":         page(1),
		"half a header":    page(50),
		"only a header":    page(100),
		"one page":         page(4096),
		"last byte lost":   page(len(good) - 1),
		"last page lost":   page(len(good) - 4096),
		"text":             []byte("this is not a ledger, however long it is\n"),
		"zeros":            make([]byte, len(good)),
		"shifted by one":   append([]byte{0}, good...),
		"twice the header": append(page(100), good...),
	}
	for i := 4096; i < len(good); i += 4096 {
		cases[fmt.Sprintf("page %d zeroed", i/4096)] = append(append(page(i), make([]byte, 4096)...), good[i+4096:]...)
		cases[fmt.Sprintf("page %d doubled", i/4096)] = append(append(page(i), good[i-4096:i]...), good[i+4096:]...)
	}
	for name, data := range cases {
		for _, useOpen := range []bool{true, false} {
			if !judge(t, data, useOpen) {
				t.Errorf("%s: not noticed (open %v)", name, useOpen)
			}
		}
	}
}

// Every byte of a record and of an answer counts, so most flips must be noticed; what is
// left are bytes that SQLite does not use.
func TestPromise7FlippedBytesAreNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("one process after the other, which the race detector has nothing to say about")
	}
	t.Parallel()
	good, _ := sample()
	noticed, tried := 0, 0
	first, by := oneIn(t, 3, 127)
	for i, step := 0, 1; i < len(good); i += step {
		if i > 100 {
			step = by
		}
		if i == 100 {
			step = 1 + first
		}
		bad := append([]byte{}, good...)
		bad[i] ^= byte(1 << (i % 8))
		tried++
		if judge(t, bad, tried%4 == 0) {
			noticed++
		}
	}
	if 2*noticed < tried {
		t.Errorf("only %d of %d flips were noticed", noticed, tried)
	}
	// And every byte of a record, also where SQLite left an old copy of its page.
	at := bytes.Index(good, []byte("6:charge,1:7,"))
	if at < 0 {
		t.Fatal("record 7 not found")
	}
	record := good[at : at+400]
	for i := 0; i < len(record); i += 5 {
		changed := append([]byte{}, record...)
		changed[i] ^= 1
		if !judge(t, bytes.ReplaceAll(good, record, changed), false) {
			t.Fatalf("flipping byte %d of a record was not noticed", i)
		}
	}
}

// tamper changes a good ledger with SQL, with the triggers out of the way, and
// puts them back, as somebody would who knows the schema.
func tamper(t *testing.T, path string, statements ...string) {
	t.Helper()
	data, _ := sample()
	noError(t, os.WriteFile(path, data, 0o600))
	alter(t, path, statements...)
}

// alter does that to any ledger that is closed.
func alter(t *testing.T, path string, statements ...string) {
	t.Helper()
	c, err := dial(path)
	noError(t, err)
	all := []string{"PRAGMA locking_mode = exclusive"}
	for _, s := range schema {
		if strings.HasPrefix(s.sql, "CREATE TRIGGER") {
			all = append(all, "DROP TRIGGER "+s.name)
		}
	}
	all = append(all, statements...)
	for _, s := range schema {
		if strings.HasPrefix(s.sql, "CREATE TRIGGER") {
			all = append(all, s.sql)
		}
	}
	for _, s := range all {
		if _, err := c.ExecContext(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	// A rollback journal has no log to be emptied.
	_ = c.empty()
	noError(t, c.Close())
	if err := os.Remove(path + "-wal"); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

func TestPromise7EditedRowsAreNoticed(t *testing.T) {
	t.Parallel()
	_, want := sample()
	last := want.Records
	path := filepath.Join(inMemory(t), "ledger.db")
	check := func(name string, noticed bool, statements ...string) {
		t.Helper()
		tamper(t, path, statements...)
		var corrupt *ledger.CorruptError
		if _, err := Verify(path); errors.As(err, &corrupt) != noticed {
			t.Errorf("%s: Verify says %v", name, err)
		}
		l, err := Open(path)
		if errors.As(err, &corrupt) != noticed {
			t.Errorf("%s: Open says %v", name, err)
		}
		if err == nil {
			mustClose(t, l)
		}
	}
	// The cases above prove nothing unless tampering as such goes unnoticed.
	check("nothing", false)
	check("body", true, `UPDATE records SET body = replace(body, 'ana', 'ben') WHERE sequence = 5`)
	check("a record rehashed alone", true, rehash(t, 5))
	check("hash", true, `UPDATE records SET hash = upper(hash) WHERE sequence = 5`)
	check("answer", true, `UPDATE records SET answer = x'35' WHERE answer IS NOT NULL AND sequence < 10`)
	check("answer removed", true, `UPDATE records SET answer = NULL WHERE sequence = 2`)
	check("answer added", true, `UPDATE records SET answer = x'00' WHERE sequence = 1`)
	check("answers swapped", true, `UPDATE records SET answer = (SELECT r.answer FROM records r WHERE r.sequence = 6) WHERE sequence = 2`)
	check("first removed", true, `DELETE FROM records WHERE sequence = 0`)
	check("middle removed", true, `DELETE FROM records WHERE sequence = 5`)
	check("middle removed and renumbered", true, `DELETE FROM records WHERE sequence = 5`,
		`UPDATE records SET sequence = -sequence WHERE sequence > 5`, `UPDATE records SET sequence = -sequence - 1 WHERE sequence < 0`)
	check("two swapped", true, `UPDATE records SET sequence = -1 WHERE sequence = 4`,
		`UPDATE records SET sequence = 4 WHERE sequence = 5`, `UPDATE records SET sequence = 5 WHERE sequence = -1`)
	check("last removed", true, fmt.Sprintf(`DELETE FROM records WHERE sequence = %d`, last))
	check("all removed", true, `DELETE FROM records`)
	check("head removed", true, `DELETE FROM head`)
	check("head lowered", true, `UPDATE head SET sequence = sequence - 1`)
	check("head rewritten", true, `UPDATE head SET hash = hex(zeroblob(32))`)
	check("row before the first", true, `INSERT INTO records VALUES (-1, 'x', 'y', NULL)`)
	check("row after the last", true, `INSERT INTO records VALUES (1000, 'x', 'y', NULL)`)
	check("table added", true, `CREATE TABLE other (x)`)
	check("trigger added", true, `CREATE TRIGGER other AFTER INSERT ON records BEGIN UPDATE head SET sequence = 0; END`)
	check("other schema version", true, `PRAGMA user_version = 1`)
	check("other application", true, `PRAGMA application_id = 1`)
	check("rollback journal", true, `PRAGMA journal_mode = DELETE`)
	// What the package comment says is not noticed until a head is kept elsewhere.
	check("last removed, head rewritten", false, fmt.Sprintf(`DELETE FROM records WHERE sequence = %d`, last),
		fmt.Sprintf(`UPDATE head SET sequence = %d, hash = (SELECT hash FROM records WHERE sequence = %d)`, last-1, last-1))
}

// rehash returns a statement that changes a record and gives it the right hash, so
// that only the record after it can tell.
func rehash(t *testing.T, sequence uint64) string {
	t.Helper()
	data, _ := sample()
	path := filepath.Join(inMemory(t), "ledger.db")
	noError(t, os.WriteFile(path, data, 0o600))
	l := reopen(t, path)
	r, _, _, err := l.Read(sequence)
	noError(t, err)
	r.Mechanisms += "!"
	body := r.Encode()
	return fmt.Sprintf(`UPDATE records SET body = CAST(x'%s' AS TEXT), hash = '%s' WHERE sequence = %d`,
		hex.EncodeToString([]byte(body)), chain.AnswerHash([]byte(body)), sequence)
}

// A ledger that is not there any more is not a new one while something says that it was there: the
// lock file, and the log of one that was not closed.
func TestPromise7MissingFileIsNoticed(t *testing.T) {
	for name, leave := range map[string][]string{"lock": {".lock"}, "log": {"-wal"}} {
		l, path := fresh(t)
		mustCharge(t, l, ask("r", hospital(1)))
		dir := filepath.Join(inMemory(t), name)
		noError(t, os.Mkdir(dir, 0o700))
		for _, suffix := range leave {
			copyFile(t, filepath.Join(dir, "ledger.db"+suffix), path+suffix)
		}
		var missing *ledger.MissingError
		if _, err := Open(filepath.Join(dir, "ledger.db")); !errors.As(err, &missing) {
			t.Errorf("%s: got %v; want a MissingError", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ledger.db")); !os.IsNotExist(err) {
			t.Errorf("%s: a new ledger was created", name)
		}
	}
}

// Whatever bytes are changed, nothing panics and no changed history is accepted.
// Each three bytes of the input are an offset and a value.
func FuzzDamage(f *testing.F) {
	for _, seed := range [][]byte{{}, {0, 0, 0}, {0, 18, 2, 0, 19, 2}, {0x10, 0, 13}, {0x20, 5, 0xff, 0x20, 6, 0xff}, {0, 26, 0x30},
		{0, 28, 0xff}, {0, 103, 0xff}} {
		f.Add(seed, uint16(0xffff))
	}
	f.Add([]byte{}, uint16(4096))
	f.Fuzz(func(t *testing.T, edits []byte, size uint16) {
		good, _ := sample()
		useOpen := len(edits)%2 == 0
		bad := append([]byte{}, good...)
		for ; len(edits) >= 3; edits = edits[3:] {
			offset := (int(edits[0])<<8 | int(edits[1])) % len(bad)
			bad[offset] = edits[2]
		}
		if int(size) < len(bad) {
			bad = bad[:size]
		}
		judge(t, bad, useOpen)
	})
}

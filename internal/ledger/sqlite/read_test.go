package sqlite

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

// A reader has every record, twice if need be, and what follows from them is what Verify says.
func TestRead(t *testing.T) {
	t.Parallel() // it waits
	l, path := fresh(t)
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", 32)))
	for i := range 300 {
		r := mustCharge(t, l, ask(fmt.Sprint(i), hospital(400)))
		mustKeep(t, l, r.Sequence, "key", fmt.Sprint(i))
	}
	for _, e := range []ledger.Entry{
		ledger.Owner{Public: key.Public().(ed25519.PublicKey), Reason: "begin"},
		ledger.TopUp{Accounts: []string{"hospital"}, Amount: dp.Cost{Rho: 1}, Reason: "more", Signer: key},
		ledger.Renewal{Dataset: "hospital", From: 1, Reason: "spring"},
	} {
		noError(t, ledgertest.ErrOf(l.Enter(ctx, e)))
	}
	if _, err := Read(path); !errors.Is(err, ledger.ErrBusy) {
		t.Errorf("an open ledger is read: %v", err)
	}
	mustClose(t, l)
	before, err := os.ReadFile(path)
	noError(t, err)
	r, err := Read(path)
	noError(t, err)
	for range 2 {
		n := uint64(0)
		for line, err := range r.Records() {
			noError(t, err)
			if line.Record.Sequence != n || ledger.Hash(line.Body) != line.Hash {
				t.Fatalf("record %d is %+v", n, line)
			}
			n++
		}
		if n != 604 {
			t.Errorf("%d records were read", n)
		}
	}
	for range r.Records() { // who stops early can go on with something else
		break
	}
	told := 0
	sum, err := r.Verify(func(uint64, uint64) { told++ })
	noError(t, err)
	if told == 0 || sum.Kinds[ledger.KindCharge] != 300 || sum.Kinds[ledger.KindTopUp] != 1 || sum.Windows["hospital"] != 2 ||
		len(sum.Owner) != 64 || sum.Identity == "" {
		t.Errorf("told %d times; %+v", told, sum)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	report := mustVerify(t, path)
	if report.Head != sum.Head || report.Records != sum.Records || report.Charges != sum.Charges || report.Answers != sum.Answers ||
		fmt.Sprint(report.Balances) != fmt.Sprint(sum.Balances) {
		t.Errorf("%+v and %+v", report, sum.Report)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("reading changed the ledger")
	}
	reopen(t, path) // and lets writers in
}

// What does not check is not read, or not to its end.
func TestReadDamaged(t *testing.T) {
	l, path := fresh(t)
	for i := range 3 {
		mustCharge(t, l, ask(fmt.Sprint("request-", i), hospital(10)))
	}
	mustClose(t, l)
	good, err := os.ReadFile(path)
	noError(t, err)
	read := func() error {
		r, err := Read(path)
		if err != nil {
			return err
		}
		defer r.Close()
		for _, err := range r.Records() {
			if err != nil {
				return err
			}
		}
		return nil
	}
	noError(t, read())
	for name, damage := range map[string]func(b string) string{
		"empty":      func(string) string { return "" },
		"half":       func(b string) string { return b[:len(b)/2] },
		"a letter":   func(b string) string { return strings.Replace(b, "request-1", "request-7", 1) },
		"a hash":     func(b string) string { return strings.Replace(b, ledger.Hash("query request-2"), ledger.Hash(""), 1) },
		"not at all": func(string) string { return strings.Repeat("nothing", 5000) },
	} {
		bad := damage(string(good))
		noError(t, os.WriteFile(path, []byte(bad), 0o600))
		var corrupt *ledger.CorruptError
		if err := read(); !errors.As(err, &corrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if now, _ := os.ReadFile(path); string(now) != bad {
			t.Errorf("%s: reading changed it", name)
		}
	}
	if _, err := Read(path + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no ledger: %v", err)
	}
	if _, err := os.Stat(path + ".none"); err == nil {
		t.Error("reading made a ledger")
	}
}

// What a process that died left in its log is read, what it had not finished is not, and both stay
// for the next writer.
func TestReadAfterCrash(t *testing.T) {
	l, path := fresh(t)
	mustCharge(t, l, ask("first", hospital(10)))
	mustCharge(t, l, ask("second", hospital(10)))
	crashed := path + ".crashed"
	copyFile(t, crashed, path)
	copyFile(t, crashed+"-wal", path+"-wal")
	log, err := os.ReadFile(crashed + "-wal")
	noError(t, err)
	// Half a frame more, as after a write that was cut short.
	log = append(log, log[logHeader:logHeader+frameSize/2]...)
	noError(t, os.WriteFile(crashed+"-wal", log, 0o600))
	file, _ := os.ReadFile(crashed)
	r, err := Read(crashed)
	noError(t, err)
	n := 0
	for _, err := range r.Records() {
		noError(t, err)
		n++
	}
	if err := r.Close(); err != nil || n != 3 {
		t.Errorf("%d records: %v", n, err)
	}
	if after, _ := os.ReadFile(crashed + "-wal"); string(after) != string(log) {
		t.Error("reading changed the log")
	}
	if after, _ := os.ReadFile(crashed); string(after) != string(file) {
		t.Error("reading changed the file")
	}
	mustVerify(t, crashed)
}

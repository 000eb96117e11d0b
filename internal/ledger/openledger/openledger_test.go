package openledger

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/postgres"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/ledger"
)

var (
	ctx     = context.Background()
	schemas atomic.Int64
	noError = ledgertest.NoError
)

// database is the address of a ledger that is not there yet.
func database(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(testpg.Shared(t).URL())
	noError(t, err)
	q := u.Query()
	q.Set("schema", fmt.Sprint("copy_", schemas.Add(1)))
	u.RawQuery = q.Encode()
	return u.String()
}

func open(t testing.TB, where string) ledger.Ledger {
	t.Helper()
	var l ledger.Ledger
	var err error
	if postgres.Is(where) {
		l, err = postgres.Open(where)
	} else {
		l, err = sqlite.Open(where)
	}
	noError(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func fill(t testing.TB, l ledger.Ledger) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	noError(t, err)
	for i := range 20 {
		r := ledgertest.MustCharge(t, l, ledgertest.Ask(fmt.Sprint("request ", i), ledgertest.Hospital(100)))
		if i%2 == 0 {
			ledgertest.MustKeep(t, l, r.Sequence, fmt.Sprint("key ", i), strings.Repeat("answer", 1000*i+1))
		}
		ledgertest.MustNote(t, l, "session", fmt.Sprint("note ", i))
	}
	failed := ledger.Incident{Analyst: "ana", Dataset: "hospital", Failure: ledger.FailedTime, ByAnalyst: 9, ByDataset: 9}
	noError(t, ledgertest.ErrOf(l.Fail(ctx, failed)))
	for _, e := range []ledger.Entry{
		ledger.Owner{Public: public, Reason: "first"},
		ledger.TopUp{Accounts: []string{"hospital"}, Amount: dp.Cost{Rho: dp.One}, Reason: "more", Signer: private},
		ledger.Renewal{Dataset: "hospital", From: 1, Reason: "February"},
	} {
		noError(t, ledgertest.ErrOf(l.Enter(ctx, e)))
	}
}

// describe is what a ledger says of what fill wrote.
func describe(t testing.TB, l ledger.Ledger) string {
	t.Helper()
	n, hash, err := l.Head(ctx)
	noError(t, err)
	notes, err := l.Notes(ctx, "session")
	noError(t, err)
	text := fmt.Sprintf("%d %s %q", n, hash, notes)
	for i := range 20 {
		answer, found, err := l.Answer(ctx, fmt.Sprint("request ", i))
		noError(t, err)
		text += fmt.Sprint(found, ledger.Hash(answer))
	}
	again := ledgertest.Ask("request 4", ledgertest.Hospital(100))
	again.Window = 2
	r, err := l.Charge(ctx, again)
	if err != nil || !r.Again {
		t.Errorf("a request that was charged: %+v, %v", r, err)
	}
	return text + r.Hash + fmt.Sprint(ledgertest.Spent(t, l, "hospital"))
}

// A ledger goes from a file to a database, to another one and back, and is the same each time, also
// to who goes on with it.
func TestCopy(t *testing.T) {
	first := filepath.Join(t.TempDir(), "first.ledger")
	l := open(t, first)
	fill(t, l)
	want := describe(t, l)
	ledgertest.MustClose(t, l)
	from := first
	file := func() string { return filepath.Join(t.TempDir(), "copy.ledger") }
	for _, to := range []string{database(t), database(t), file(), file()} {
		sum, err := Copy(from, to, nil)
		if err != nil {
			t.Fatalf("%s to %s: %v", from, to, err)
		}
		if sum.Records != 54 || sum.Charges != 20 || sum.Answers != 10 {
			t.Errorf("%+v", sum.Report)
		}
		l := open(t, to)
		if got := describe(t, l); got != want {
			t.Errorf("%s: got %s; want %s", to, got, want)
		}
		ledgertest.MustClose(t, l)
		if _, err := Copy(from, to, nil); err == nil {
			t.Errorf("%s was replaced", to)
		}
		from = to
	}
	more := open(t, from)
	c := ledgertest.Ask("new", ledgertest.Hospital(1000))
	c.Window = 2
	if r := ledgertest.MustCharge(t, more, c); r.Sequence != 55 {
		t.Errorf("goes on at %d", r.Sequence)
	}
}

// What is damaged is not copied, and leaves nothing behind.
func TestCopyOfDamage(t *testing.T) {
	from := filepath.Join(t.TempDir(), "first.ledger")
	l := open(t, from)
	fill(t, l)
	ledgertest.MustClose(t, l)
	b, err := os.ReadFile(from)
	noError(t, err)
	b = bytes.ReplaceAll(b, []byte("answeranswer"), []byte("answeransweR")) // wherever pages of it are
	noError(t, os.WriteFile(from, b, 0o600))
	for _, to := range []string{database(t), filepath.Join(t.TempDir(), "copy.ledger")} {
		if _, err := Copy(from, to, nil); !errors.As(err, new(*ledger.CorruptError)) {
			t.Errorf("copied: %v", err)
		}
		if r, err := Read(to); err == nil {
			r.Close()
			t.Error("there is a copy of what is damaged")
		}
	}
}

// A copy is made while servers go on, of one moment.
func TestCopyBesideServers(t *testing.T) {
	from := database(t)
	l := open(t, from)
	fill(t, l)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				c := ledgertest.Ask(fmt.Sprint("beside ", i), ledgertest.Hospital(1<<20))
				c.Window = 2
				if _, err := l.Charge(ctx, c); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	for range 3 {
		if _, err := Copy(from, filepath.Join(t.TempDir(), "backup.ledger"), nil); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-done
}

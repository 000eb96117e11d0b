// Package ledgertest holds ledgers to their promises, wherever they are stored: the tests that need
// nothing but a ledger, for the packages that keep one. Each test there has the name of the
// promise.
package ledgertest

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/ledger"
)

var ctx = context.Background()

// World is one ledger, which can be closed and opened again.
type World struct {
	// OpenAt opens the ledger, which is new at first, with a clock, and closes it with the test.
	OpenAt func(t testing.TB, now func() time.Time) ledger.Ledger
	// Verify checks all of it, decides it once more (package replay), and returns how many records,
	// charges and answers it has.
	Verify func(t testing.TB) Report
	// Slow says that each commit takes its time.
	Slow bool
}

type Report struct {
	Records, Charges, Answers uint64
	Balances                  []ledger.Balance
}

func (w World) Open(t testing.TB) ledger.Ledger {
	t.Helper()
	return w.OpenAt(t, time.Now)
}

// DecideAgain has the second opinion decide every record.
func DecideAgain(t testing.TB, records iter.Seq2[*ledger.Record, error]) {
	t.Helper()
	p := replay.New()
	for r, err := range records {
		NoError(t, err)
		for _, problem := range p.Next(r, ledger.Hash(r.Encode())).Differs {
			t.Errorf("record %d, again: %s", r.Sequence, problem)
		}
	}
}

// Unit is what one charge of the tests costs: what Gaussian noise claims.
var Unit = dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 100, Delta: 1000}

// Admits returns a filter for so many charges of one unit.
func Admits(n int) account.Filter {
	return account.ZCDPFilter(Unit.Rho*dp.Amount(n), Unit.Delta*dp.Amount(n))
}

// Ask returns a charge of one unit in the accounts.
func Ask(request string, accounts ...ledger.Account) ledger.Charge {
	return ledger.Charge{
		Request: request, Analyst: "ana", Dataset: "hospital", DataVersion: "",
		Query: ledger.Hash("query " + request), Mechanisms: "discrete-gaussian x2",
		Window: 1, Cost: Unit, Accounts: accounts,
	}
}

// Hospital is an account that admits n charges.
func Hospital(n int) ledger.Account { return ledger.Account{Name: "hospital", Filter: Admits(n)} }

func MustCharge(t testing.TB, l ledger.Ledger, c ledger.Charge) ledger.Receipt {
	t.Helper()
	r, err := l.Charge(ctx, c)
	NoError(t, err)
	return r
}

func MustKeep(t testing.TB, l ledger.Ledger, sequence uint64, key, answer string) {
	t.Helper()
	NoError(t, l.Keep(ctx, sequence, key, []byte(answer)))
}

func MustNote(t testing.TB, l ledger.Ledger, session, entry string) {
	t.Helper()
	NoError(t, l.Note(ctx, session, []byte(entry)))
}

func MustRenew(t testing.TB, l ledger.Ledger, dataset string, from uint64) {
	t.Helper()
	NoError(t, ErrOf(l.Enter(ctx, ledger.Renewal{Dataset: dataset, From: from, Reason: "a new month"})))
}

func MustClose(t testing.TB, l ledger.Ledger) {
	t.Helper()
	NoError(t, l.Close())
}

// Spent returns how many units were spent in an account.
func Spent(t testing.TB, l ledger.Ledger, name string) int {
	t.Helper()
	b, err := l.Balances(ctx, []ledger.Account{{Name: name, Filter: Admits(0)}})
	NoError(t, err)
	return int(b[0].Spent.Rho / Unit.Rho)
}

// NoError ends a test that got an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ErrOf returns the error of a call alone.
func ErrOf[T any](_ T, err error) error { return err }

package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

var ctx = context.Background()

// unit is what one charge of the tests costs: what Gaussian noise claims.
var unit = dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 100, Delta: 1000}

// admits returns a filter for so many charges of one unit.
func admits(n int) account.Filter {
	return account.ZCDPFilter(unit.Rho*dp.Amount(n), unit.Delta*dp.Amount(n))
}

// ask returns a charge of one unit in the accounts.
func ask(request string, accounts ...ledger.Account) ledger.Charge {
	return ledger.Charge{
		Request: request, Analyst: "ana", Dataset: "hospital", DataVersion: "",
		Query: ledger.Hash("query " + request), Mechanisms: "discrete-gaussian x2",
		Window: 1, Cost: unit, Accounts: accounts,
	}
}

// hospital is an account that admits n charges.
func hospital(n int) ledger.Account { return ledger.Account{Name: "hospital", Filter: admits(n)} }

// fresh opens a new ledger and closes it with the test.
func fresh(t testing.TB) (*Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	return reopen(t, path), path
}

func reopen(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func mustCharge(t testing.TB, l ledger.Ledger, c ledger.Charge) ledger.Receipt {
	t.Helper()
	r, err := l.Charge(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustKeep(t testing.TB, l ledger.Ledger, sequence uint64, key, answer string) {
	t.Helper()
	if err := l.Keep(ctx, sequence, key, []byte(answer)); err != nil {
		t.Fatal(err)
	}
}

func mustClose(t testing.TB, l ledger.Ledger) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustVerify(t testing.TB, path string) Report {
	t.Helper()
	report, err := Verify(path)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// spent returns how many units were spent in an account.
func spent(t testing.TB, l ledger.Ledger, name string) int {
	t.Helper()
	b, err := l.Balances(ctx, []ledger.Account{{Name: name, Filter: admits(0)}})
	if err != nil {
		t.Fatal(err)
	}
	return int(b[0].Spent.Rho / unit.Rho)
}

// copyFile copies a file; one that is not there it leaves out.
func copyFile(t testing.TB, to, from string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		return
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// children are what this test binary does when a test runs it again, as a process
// that can be killed or limited.
var children = map[string]func(path string) error{}

// TestMain is the way into a child.
func TestMain(m *testing.M) {
	if child := os.Getenv("LEDGER_TEST_CHILD"); child != "" {
		if err := children[child](os.Getenv("LEDGER_TEST_PATH")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	debug.SetGCPercent(400) // thousands of small ledgers are opened and dropped
	os.Exit(m.Run())
}

// some is fewer in short mode.
func some(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// memory is a folder in memory where the system has one: to wait for a real disk proves nothing
// here.
func memory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return ""
}

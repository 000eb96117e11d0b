package sqlite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

var ctx = context.Background()

// What the tests of all ledgers share.
var (
	unit, admits, ask, hospital     = ledgertest.Unit, ledgertest.Admits, ledgertest.Ask, ledgertest.Hospital
	mustCharge, mustKeep, mustClose = ledgertest.MustCharge, ledgertest.MustKeep, ledgertest.MustClose
	mustNote, spent, noError        = ledgertest.MustNote, ledgertest.Spent, ledgertest.NoError
)

// world is a new ledger, for those tests.
func world(t *testing.T) ledgertest.World {
	path := filepath.Join(inMemory(t), "ledger.db")
	return ledgertest.World{
		OpenAt: func(t testing.TB, now func() time.Time) ledger.Ledger {
			t.Helper()
			l, err := open(path, now)
			noError(t, err)
			t.Cleanup(func() { l.Close() })
			return l
		},
		Verify: func(t testing.TB) ledgertest.Report {
			r := mustVerify(t, path)
			l := reopen(t, path)
			defer l.Close()
			ledgertest.DecideAgain(t, l.Records(ctx, 0))
			return ledgertest.Report{Records: r.Records, Charges: r.Charges, Answers: r.Answers, Balances: r.Balances}
		},
	}
}

// fresh opens a new ledger and closes it with the test.
func fresh(t testing.TB) (*Ledger, string) {
	t.Helper()
	path := filepath.Join(inMemory(t), "ledger.db")
	return reopen(t, path), path
}

func reopen(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := Open(path)
	noError(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func mustVerify(t testing.TB, path string) Report {
	t.Helper()
	report, err := Verify(path)
	noError(t, err)
	return report
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
	noError(t, err)
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
	daily.Checks("30")
	debug.SetGCPercent(400) // thousands of small ledgers are opened and dropped
	os.Exit(m.Run())
}

// orPanic is for what tests share, which has no test to end.
func orPanic(err error) {
	if err != nil {
		panic(err)
	}
}

// some is fewer in short mode.
func some(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// rounds is fewer unless everything is to be run.
func rounds(n int) int {
	if *soak {
		return n
	}
	return some(daily.Rounds(n/6, n))
}

// oneIn returns where to begin, and how many to go on by, to meet one of so many places: others
// every day. Where everything is to be run it is each step.
func oneIn(t *testing.T, n, step int) (first, by int) {
	if *soak || daily.Full() {
		return 0, step
	}
	return daily.Choices(t).Below(n) * step, n * step
}

// inMemory is a new folder there, until the test ends.
func inMemory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "ledger-test-*")
	noError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
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

// command returns a child that has not been started.
func command(name, path string) *exec.Cmd {
	if children[name] == nil {
		panic("no such child: " + name)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "LEDGER_TEST_CHILD="+name, "LEDGER_TEST_PATH="+path)
	c.Stderr = os.Stderr
	return c
}

// output runs a child to its end and returns what it wrote.
func output(t testing.TB, name, path string) string {
	t.Helper()
	b, err := command(name, path).Output()
	if err != nil {
		t.Fatalf("child %s: %v, after %q", name, err, b)
	}
	return string(b)
}

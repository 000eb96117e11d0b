package sqlite

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
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
		copied := filepath.Join(t.TempDir(), "copy.db")
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
	for _, p := range append(reading, writing...) {
		var got string
		if err := l.conn.QueryRowContext(ctx, "PRAGMA "+p[0]).Scan(&got); err != nil || got != p[1] {
			t.Errorf("PRAGMA %s is %q, %v; want %s", p[0], got, err, p[1])
		}
	}
}

func TestPromise2NeverOverBudgetAllOrNothing(t *testing.T) {
	l, path := fresh(t)
	big, small := hospital(10), ledger.Account{Name: "hospital/ana", Filter: admits(3)}
	for i := range 3 {
		mustCharge(t, l, ask(fmt.Sprint(i), big, small))
	}
	var budget *ledger.BudgetError
	for _, accounts := range [][]ledger.Account{{big, small}, {small, big}} {
		_, err := l.Charge(ctx, ask("one too many", accounts...))
		if !errors.As(err, &budget) || budget.Account != "hospital/ana" || budget.Want != unit || budget.Left.Rho != 0 {
			t.Fatalf("got %v; want a BudgetError of hospital/ana", err)
		}
		if a, b := spent(t, l, "hospital"), spent(t, l, "hospital/ana"); a != 3 || b != 3 {
			t.Fatalf("the refused charge spent something: %d, %d", a, b)
		}
	}
	// A refusal is no end: a smaller charge is admitted, to the last unit.
	small.Filter = account.ZCDPFilter(3*unit.Rho+7, 3*unit.Delta+1)
	c := ask("a little", big, small)
	c.Cost = dp.Cost{Epsilon: dp.Unbounded, Rho: 7, Delta: 1}
	mustCharge(t, l, c)
	c.Request, c.Cost.Rho, c.Cost.Delta = "a unit more", 1, 0
	if _, err := l.Charge(ctx, c); !errors.As(err, &budget) {
		t.Fatalf("got %v; want a BudgetError", err)
	}
	// Rho and delta are limits of their own.
	c.Request, c.Cost, c.Accounts = "delta", dp.Cost{Epsilon: dp.Unbounded, Rho: 1, Delta: 2},
		[]ledger.Account{{Name: "d", Filter: account.ZCDPFilter(dp.One, 1)}}
	if _, err := l.Charge(ctx, c); !errors.As(err, &budget) {
		t.Fatalf("got %v; want a BudgetError", err)
	}
	// An owner may lower a limit below what was spent: nothing more is admitted.
	if _, err := l.Charge(ctx, ask("lowered", hospital(2))); !errors.As(err, &budget) || budget.Left.Rho != 0 {
		t.Fatalf("got %v; want a BudgetError", err)
	}
	mustClose(t, l)
	for _, b := range mustVerify(t, path).Balances {
		if !b.Spent.Within(b.Limit) {
			t.Errorf("%s is overspent: %v of %v", b.Account, b.Spent, b.Limit)
		}
	}
}

func TestPromise3OncePerRequest(t *testing.T) {
	l, path := fresh(t)
	c := ask("r", hospital(10))
	first := mustCharge(t, l, c)
	mustKeep(t, l, first.Sequence, "key", "42")
	for range 2 {
		again := mustCharge(t, l, c)
		if !again.Again || first.Again || again.Sequence != first.Sequence || again.Hash != first.Hash ||
			!again.Time.Equal(first.Time) || again.Cost != first.Cost || again.Balances[0] != first.Balances[0] {
			t.Fatalf("got %+v; want %+v", again, first)
		}
		// With no budget left, and with another limit, it is still the same request.
		c.Accounts = []ledger.Account{hospital(1)}
		if again := mustCharge(t, l, c); !again.Again {
			t.Fatal("not known again")
		}
		if n := spent(t, l, "hospital"); n != 1 {
			t.Fatalf("spent %d times", n)
		}
		// And after the ledger was closed and opened.
		mustClose(t, l)
		l = reopen(t, path)
	}
	for _, differs := range []struct {
		name   string
		change func(*ledger.Charge)
	}{
		{"analyst", func(c *ledger.Charge) { c.Analyst = "ben" }},
		{"data set", func(c *ledger.Charge) { c.Dataset = "school" }},
		{"data version", func(c *ledger.Charge) { c.DataVersion = "v2" }},
		{"question or price", func(c *ledger.Charge) { c.Query = strings.Repeat("0", 64) }},
		{"question or price", func(c *ledger.Charge) { c.Cost.Rho++ }},
	} {
		name, other := differs.name, c
		differs.change(&other)
		var request *ledger.RequestError
		if _, err := l.Charge(ctx, other); !errors.As(err, &request) || request.Differs != name {
			t.Errorf("another %s: got %v; want a RequestError", name, err)
		}
	}
	// One charge pays for one answer.
	mustKeep(t, l, first.Sequence, "key", "42")
	if err := l.Keep(ctx, first.Sequence, "key", []byte("43")); !errors.Is(err, ledger.ErrKept) {
		t.Errorf("a second answer: got %v; want ErrKept", err)
	}
	if err := l.Keep(ctx, first.Sequence, "another key", []byte("42")); !errors.Is(err, ledger.ErrKept) {
		t.Errorf("a second key: got %v; want ErrKept", err)
	}
	for _, sequence := range []uint64{0, 2, 3, math.MaxUint64} {
		if err := l.Keep(ctx, sequence, "key", []byte("44")); !errors.Is(err, ledger.ErrUnpaid) {
			t.Errorf("an answer for record %d: got %v; want ErrUnpaid", sequence, err)
		}
	}
	if answer, found, err := l.Answer(ctx, "r"); string(answer) != "42" || !found || err != nil {
		t.Errorf("got %q, %v, %v", answer, found, err)
	}
	if answer, sequence, found, err := l.Recall(ctx, "key"); string(answer) != "42" || sequence != first.Sequence || !found || err != nil {
		t.Errorf("got %q, %d, %v, %v", answer, sequence, found, err)
	}
}

func TestPromise4SpentNeverDecreases(t *testing.T) {
	l, _ := fresh(t)
	mustCharge(t, l, ask("first", hospital(10)))
	no := dp.Unbounded
	for name, cost := range map[string]dp.Cost{
		"nothing claimed":        {Epsilon: no, Rho: no, Delta: no},
		"rho without delta":      {Epsilon: no, Rho: 1, Delta: no},
		"delta without rho":      {Epsilon: no, Rho: no, Delta: 1},
		"zero":                   {},
		"epsilon forgotten":      {Epsilon: 0, Rho: 1, Delta: 1},
		"rho forgotten":          {Epsilon: 1, Rho: 0, Delta: 0},
		"as large as minus one":  {Epsilon: no - 1, Rho: 1, Delta: 0},
		"rho that would wrap":    {Epsilon: no, Rho: no - unit.Rho + 1, Delta: 1},
		"delta that would wrap":  {Epsilon: no, Rho: 1, Delta: 1 << 63},
		"more than can be asked": {Epsilon: dp.One<<20 + 1, Rho: 1, Delta: 0},
	} {
		c := ask(name, hospital(10))
		c.Cost = cost
		var invalid *ledger.InvalidError
		if _, err := l.Charge(ctx, c); !errors.As(err, &invalid) || invalid.Field != "cost" {
			t.Errorf("%s: got %v; want an InvalidError of the cost", name, err)
		}
		if n := spent(t, l, "hospital"); n != 1 {
			t.Fatalf("%s: spent %d", name, n)
		}
	}
	// What saturated stays saturated: an account that took in a cost without a pure
	// claim can never become a pure one.
	pure := ask("pure", ledger.Account{Name: "hospital", Filter: account.PureFilter(dp.One << 20)})
	pure.Cost = dp.Cost{Epsilon: 1, Rho: 1, Delta: 0}
	var budget *ledger.BudgetError
	if _, err := l.Charge(ctx, pure); !errors.As(err, &budget) || budget.Left.Epsilon != 0 {
		t.Errorf("got %v; want a BudgetError", err)
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

func TestPromise10IndependentOfTheClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	clocks := []time.Time{
		time.Date(2030, 1, 1, 0, 0, 0, 1, time.UTC),
		time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC),
		{}, // the year 1
		time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Date(2030, 1, 1, 0, 0, 0, 0, time.FixedZone("", -3600)),
	}
	for i := range 9 {
		now := clocks[i%len(clocks)]
		l, err := open(path, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		r := mustCharge(t, l, ask(fmt.Sprint(i), hospital(9)))
		if r.Sequence != uint64(i+1) || !r.Time.Equal(now) {
			t.Fatalf("got %v", r)
		}
		if again := mustCharge(t, l, ask(fmt.Sprint(i), hospital(9))); !again.Again || !again.Time.Equal(now) {
			t.Fatalf("got %v", again)
		}
		mustClose(t, l)
	}
	l := reopen(t, path)
	var budget *ledger.BudgetError
	if _, err := l.Charge(ctx, ask("later", hospital(9))); !errors.As(err, &budget) {
		t.Errorf("a budget came back with time: %v", err)
	}
}

func TestPathsWithOddCharacters(t *testing.T) {
	for _, name := range []string{"with space", "a?mode=memory", "b#c", "100%", "%41", "ü", "a&b=c;d", "'", "\"", ":memory:", "-",
		"file:x", "back\\slash"} {
		path := filepath.Join(t.TempDir(), name)
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
	if _, err := Verify(filepath.Join(t.TempDir(), "ledger.db")); !errors.Is(err, os.ErrNotExist) {
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
	var corrupt *ledger.CorruptError
	if _, err := Open(link); !errors.As(err, &corrupt) {
		t.Errorf("a link to nothing: got %v; want a CorruptError", err)
	}
	mustCharge(t, reopen(t, path), ask("r", hospital(1)))
	if _, err := Open(link); !errors.Is(err, ledger.ErrBusy) {
		t.Errorf("a second name: got %v; want ErrBusy", err)
	}
}

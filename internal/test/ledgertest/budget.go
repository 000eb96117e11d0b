package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/ledger"
)

// race has 200 clients of two analysts ask at once, for a data set that admits 20
// charges and quotas that admit 15 each. It returns how many were admitted.
func race(t *testing.T, l ledger.Ledger) (all, ana int) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	start := make(chan struct{})
	for i := range 200 {
		wg.Go(func() {
			analyst := []string{"hospital/ana", "hospital/ben"}[i%2]
			<-start
			_, err := l.Charge(ctx, Ask(fmt.Sprint(i), Hospital(20), ledger.Account{Name: analyst, Filter: Admits(15)}))
			var budget *ledger.BudgetError
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				all++
				if i%2 == 0 {
					ana++
				}
			case !errors.As(err, &budget):
				t.Errorf("got %v; want a BudgetError", err)
			}
		})
	}
	close(start)
	wg.Wait()
	return all, ana
}

func Promise2NeverOverBudget(t *testing.T, w World) {
	l := w.Open(t)
	big, small := Hospital(10), ledger.Account{Name: "hospital/ana", Filter: Admits(3)}
	for i := range 3 {
		MustCharge(t, l, Ask(fmt.Sprint(i), big, small))
	}
	var budget *ledger.BudgetError
	for _, accounts := range [][]ledger.Account{{big, small}, {small, big}} {
		_, err := l.Charge(ctx, Ask("one too many", accounts...))
		if !errors.As(err, &budget) || budget.Account != "hospital/ana" || budget.Want != Unit || budget.Left.Rho != 0 {
			t.Fatalf("got %v; want a BudgetError of hospital/ana", err)
		}
		if a, b := Spent(t, l, "hospital"), Spent(t, l, "hospital/ana"); a != 3 || b != 3 {
			t.Fatalf("the refused charge spent something: %d, %d", a, b)
		}
	}
	// A refusal is no end: a smaller charge is admitted, to the last Unit.
	small.Filter = account.ZCDPFilter(3*Unit.Rho+7, 3*Unit.Delta+1)
	c := Ask("a little", big, small)
	c.Cost = dp.Cost{Epsilon: dp.Unbounded, Rho: 7, Delta: 1}
	MustCharge(t, l, c)
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
	if _, err := l.Charge(ctx, Ask("lowered", Hospital(2))); !errors.As(err, &budget) || budget.Left.Rho != 0 {
		t.Fatalf("got %v; want a BudgetError", err)
	}
	MustClose(t, l)
	for _, b := range w.Verify(t).Balances {
		if !b.Spent.Within(b.Limit) {
			t.Errorf("%s is overspent: %v of %v", b.Account, b.Spent, b.Limit)
		}
	}
}

func Promise2ManyAtOnce(t *testing.T, w World) {
	l := w.Open(t)
	all, ana := race(t, l)
	if all != 20 || ana > 15 || all-ana > 15 {
		t.Errorf("%d were admitted, %d of ana; want 20, and at most 15 of each", all, ana)
	}
	if n := Spent(t, l, "hospital"); n != 20 {
		t.Errorf("spent %d; want 20", n)
	}
	MustClose(t, l)
	w.Verify(t)
}

func Promise2TestSeesCheckThenAct(t *testing.T, w World) {
	l := w.Open(t)
	if all, _ := race(t, CheckThenAct{l}); all <= 20 {
		t.Errorf("%d were admitted by a ledger that checks too early; this test cannot see it", all)
	}
}

func Promise4SpentNeverDecreases(t *testing.T, w World) {
	l := w.Open(t)
	MustCharge(t, l, Ask("first", Hospital(10)))
	no := dp.Unbounded
	for name, cost := range map[string]dp.Cost{
		"nothing claimed":        {Epsilon: no, Rho: no, Delta: no},
		"rho without delta":      {Epsilon: no, Rho: 1, Delta: no},
		"delta without rho":      {Epsilon: no, Rho: no, Delta: 1},
		"zero":                   {},
		"epsilon forgotten":      {Epsilon: 0, Rho: 1, Delta: 1},
		"rho forgotten":          {Epsilon: 1, Rho: 0, Delta: 0},
		"as large as minus one":  {Epsilon: no - 1, Rho: 1, Delta: 0},
		"rho that would wrap":    {Epsilon: no, Rho: no - Unit.Rho + 1, Delta: 1},
		"delta that would wrap":  {Epsilon: no, Rho: 1, Delta: 1 << 63},
		"more than can be asked": {Epsilon: dp.One<<20 + 1, Rho: 1, Delta: 0},
	} {
		c := Ask(name, Hospital(10))
		c.Cost = cost
		var invalid *ledger.InvalidError
		if _, err := l.Charge(ctx, c); !errors.As(err, &invalid) || invalid.Field != "cost" {
			t.Errorf("%s: got %v; want an InvalidError of the cost", name, err)
		}
		if n := Spent(t, l, "hospital"); n != 1 {
			t.Fatalf("%s: spent %d", name, n)
		}
	}
	// What saturated stays saturated: an account that took in a cost without a pure
	// claim can never become a pure one.
	pure := Ask("pure", ledger.Account{Name: "hospital", Filter: account.PureFilter(dp.One << 20)})
	pure.Cost = dp.Cost{Epsilon: 1, Rho: 1, Delta: 0}
	var budget *ledger.BudgetError
	if _, err := l.Charge(ctx, pure); !errors.As(err, &budget) || budget.Left.Epsilon != 0 {
		t.Errorf("got %v; want a BudgetError", err)
	}
}

func Promise10IndependentOfTheClock(t *testing.T, w World) {
	clocks := []time.Time{
		time.Date(2030, 1, 1, 0, 0, 0, 1, time.UTC),
		time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC),
		{}, // the year 1
		time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Date(2030, 1, 1, 0, 0, 0, 0, time.FixedZone("", -3600)),
	}
	for i := range 9 {
		now := clocks[i%len(clocks)]
		l := w.OpenAt(t, func() time.Time { return now })
		r := MustCharge(t, l, Ask(fmt.Sprint(i), Hospital(9)))
		if r.Sequence != uint64(i+1) || !r.Time.Equal(now) {
			t.Fatalf("got %v", r)
		}
		if again := MustCharge(t, l, Ask(fmt.Sprint(i), Hospital(9))); !again.Again || !again.Time.Equal(now) {
			t.Fatalf("got %v", again)
		}
		MustClose(t, l)
	}
	l := w.Open(t)
	var budget *ledger.BudgetError
	if _, err := l.Charge(ctx, Ask("later", Hospital(9))); !errors.As(err, &budget) {
		t.Errorf("a budget came back with time: %v", err)
	}
}

// CheckThenAct is the bug that a test must be able to see: it
// looks at the balance first and charges later.
type CheckThenAct struct{ ledger.Ledger }

func (l CheckThenAct) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	balances, err := l.Balances(ctx, c.Accounts)
	if err != nil {
		return ledger.Receipt{}, err
	}
	for i, a := range c.Accounts {
		if !a.Filter.Admits(balances[i].Spent, c.Cost) {
			return ledger.Receipt{}, &ledger.BudgetError{Account: a.Name}
		}
	}
	time.Sleep(time.Millisecond)
	wide := c
	wide.Accounts = nil
	for _, a := range c.Accounts {
		wide.Accounts = append(wide.Accounts, ledger.Account{Name: a.Name, Filter: Admits(1000)})
	}
	return l.Ledger.Charge(ctx, wide)
}

func Promise3OncePerRequest(t *testing.T, w World) {
	l := w.Open(t)
	c := Ask("r", Hospital(10))
	first := MustCharge(t, l, c)
	MustKeep(t, l, first.Sequence, "key", "42")
	for range 2 {
		again := MustCharge(t, l, c)
		if !again.Again || first.Again || again.Sequence != first.Sequence || again.Hash != first.Hash ||
			!again.Time.Equal(first.Time) || again.Cost != first.Cost || again.Balances[0] != first.Balances[0] {
			t.Fatalf("got %+v; want %+v", again, first)
		}
		// With no budget left, and with another limit, it is still the same request.
		c.Accounts = []ledger.Account{Hospital(1)}
		if again := MustCharge(t, l, c); !again.Again {
			t.Fatal("not known again")
		}
		if n := Spent(t, l, "hospital"); n != 1 {
			t.Fatalf("spent %d times", n)
		}
		// And after the ledger was closed and opened.
		MustClose(t, l)
		l = w.Open(t)
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
	MustKeep(t, l, first.Sequence, "key", "42")
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

// Promise3ManyAtOnce: The same request at the same moment is charged once, and one of several
// answers to it counts.
func Promise3ManyAtOnce(t *testing.T, w World) {
	l := w.Open(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	fresh, kept := 0, map[string]bool{}
	for i := range 50 {
		wg.Go(func() {
			r, err := l.Charge(ctx, Ask("the same", Hospital(50)))
			if err != nil {
				t.Error(err)
				return
			}
			answer := fmt.Sprint("noise ", i)
			err = l.Keep(ctx, r.Sequence, "key", []byte(answer))
			mu.Lock()
			defer mu.Unlock()
			if !r.Again {
				fresh++
			}
			if err == nil {
				kept[answer] = true
			} else if !errors.Is(err, ledger.ErrKept) {
				t.Errorf("got %v; want ErrKept", err)
			}
		})
	}
	wg.Wait()
	answer, found, err := l.Answer(ctx, "the same")
	if fresh != 1 || len(kept) != 1 || !found || err != nil || !kept[string(answer)] {
		t.Errorf("charged %d times, kept %v, found %q, %v", fresh, kept, answer, err)
	}
	if n := Spent(t, l, "hospital"); n != 1 {
		t.Errorf("spent %d", n)
	}
}

// Promise15AChargePaysInItsWindow: whatever was charged and not answered when a window ends is
// not answered afterwards, also by a process that was started since.
func Promise15AChargePaysInItsWindow(t *testing.T, w World) {
	l := w.Open(t)
	answered, open, other := Ask("answered", Hospital(9)), Ask("open", Hospital(9)),
		Ask("other", ledger.Account{Name: "school", Filter: Admits(9)})
	other.Dataset = "school"
	first := MustCharge(t, l, answered)
	if first.Window != 1 {
		t.Errorf("%+v", first)
	}
	MustKeep(t, l, first.Sequence, "key", "42")
	unanswered := MustCharge(t, l, open)
	elsewhere := MustCharge(t, l, other)
	session := ledger.ChargeNotes(unanswered.Sequence)
	NoError(t, l.Note(ctx, session, []byte("below")))
	MustRenew(t, l, "hospital", 1)
	for _, again := range []string{"in the same process", "after a restart"} {
		answered.Window, open.Window = 2, 2
		var lapsed *ledger.LapsedError
		if _, err := l.Charge(ctx, open); !errors.As(err, &lapsed) ||
			*lapsed != (ledger.LapsedError{Request: "open", Dataset: "hospital", Window: 1, Now: 2}) {
			t.Errorf("%s: charged again: %v", again, err)
		}
		if err := l.Keep(ctx, unanswered.Sequence, "key", []byte("43")); !errors.As(err, &lapsed) || !lapsed.Charged {
			t.Errorf("%s: kept: %v", again, err)
		}
		if err := l.Note(ctx, session, []byte("above")); !errors.As(err, &lapsed) {
			t.Errorf("%s: noted: %v", again, err)
		}
		// What has its answer has it for good, and another dataset's windows are its own.
		if r, err := l.Charge(ctx, answered); err != nil || !r.Again || r.Window != 1 {
			t.Errorf("%s: the one with an answer: %+v, %v", again, r, err)
		}
		MustKeep(t, l, first.Sequence, "key", "42")
		if r, err := l.Charge(ctx, other); err != nil || !r.Again {
			t.Errorf("%s: the other dataset: %+v, %v", again, r, err)
		}
		if got := Spent(t, l, "hospital"); got != 2 {
			t.Errorf("%s: %d were spent", again, got)
		}
		MustClose(t, l)
		l = w.Open(t)
	}
	MustKeep(t, l, elsewhere.Sequence, "school", "7")
	if err := l.Note(ctx, ledger.ChargeNotes(unanswered.Sequence+77), []byte("x")); !errors.Is(err, ledger.ErrUnpaid) {
		t.Errorf("a session without a charge: %v", err)
	}
}

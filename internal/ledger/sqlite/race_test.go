package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

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
			_, err := l.Charge(ctx, ask(fmt.Sprint(i), hospital(20), ledger.Account{Name: analyst, Filter: admits(15)}))
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

func TestPromise2ManyAtOnce(t *testing.T) {
	l, path := fresh(t)
	all, ana := race(t, l)
	if all != 20 || ana > 15 || all-ana > 15 {
		t.Errorf("%d were admitted, %d of ana; want 20, and at most 15 of each", all, ana)
	}
	if n := spent(t, l, "hospital"); n != 20 {
		t.Errorf("spent %d; want 20", n)
	}
	mustClose(t, l)
	mustVerify(t, path)
}

// checkThenAct is the bug that the test above must be able to see: it
// looks at the balance first and charges later.
type checkThenAct struct{ ledger.Ledger }

func (l checkThenAct) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
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
		wide.Accounts = append(wide.Accounts, ledger.Account{Name: a.Name, Filter: admits(1000)})
	}
	return l.Ledger.Charge(ctx, wide)
}

func TestPromise2TestSeesCheckThenAct(t *testing.T) {
	l, _ := fresh(t)
	if all, _ := race(t, checkThenAct{l}); all <= 20 {
		t.Errorf("%d were admitted by a ledger that checks too early; this test cannot see it", all)
	}
}

// The same request at the same moment is charged once, and one of several answers
// to it counts.
func TestPromise3ManyAtOnce(t *testing.T) {
	l, _ := fresh(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	fresh, kept := 0, map[string]bool{}
	for i := range 50 {
		wg.Go(func() {
			r, err := l.Charge(ctx, ask("the same", hospital(50)))
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
	if n := spent(t, l, "hospital"); n != 1 {
		t.Errorf("spent %d", n)
	}
}

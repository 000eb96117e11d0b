package groupcommit

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

// thousand has 1,000 clients ask at once for a budget of 100, with quotas for four analysts unless
// there are none. It returns how many were admitted by each.
func thousand(t *testing.T, l ledger.Ledger, quota int) (admitted [4]int) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	begin := make(chan struct{})
	for i := range 1000 {
		wg.Go(func() {
			c := ask(fmt.Sprint(i), hospital(100))
			if quota > 0 {
				c.Accounts = append(c.Accounts, ledger.Account{Name: fmt.Sprint("hospital/", i%4), Filter: admits(quota)})
			}
			<-begin
			_, err := l.Charge(ctx, c)
			var budget *ledger.BudgetError
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				admitted[i%4]++
			case !errors.As(err, &budget):
				t.Errorf("got %v; want a BudgetError", err)
			}
		})
	}
	close(begin)
	wg.Wait()
	return admitted
}

func TestPromise2ThousandClients(t *testing.T) {
	// A hundred times with the data set's budget binding, without quotas and with wide ones, and
	// fifty times with quotas that bind first.
	for i := range some(150) {
		quota := []int{0, 40, 20}[i%3]
		want := []int{100, 100, 80}[i%3]
		l := slow(t)
		admitted := thousand(t, l, quota)
		sum := 0
		for analyst, n := range admitted {
			sum += n
			if quota > 0 && n > quota {
				t.Errorf("analyst %d has %d of %d", analyst, n, quota)
			}
			if quota > 0 {
				if got := spent(t, l, fmt.Sprint("hospital/", analyst)); got != n {
					t.Errorf("analyst %d was admitted %d times and has spent %d", analyst, n, got)
				}
			}
		}
		if n := spent(t, l, "hospital"); sum != want || n != want {
			t.Fatalf("repetition %d, quota %d: %d were admitted and %d spent; want %d", i, quota, sum, n, want)
		}
		mustClose(t, l)
		if report := l.memory.mustVerify(t); report.Charges != uint64(want) {
			t.Fatalf("%d charges in the memory; want %d", report.Charges, want)
		}
	}
}

// The bug of [ledgertest.CheckThenAct], seen here too.
func TestPromise2ThousandSeeCheckThenAct(t *testing.T) {
	l := slow(t)
	sum := 0
	for _, n := range thousand(t, ledgertest.CheckThenAct{Ledger: l}, 0) {
		sum += n
	}
	if sum <= 100 {
		t.Errorf("%d were admitted by a ledger that checks too early; this test cannot see it", sum)
	}
}

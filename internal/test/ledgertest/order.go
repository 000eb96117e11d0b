package ledgertest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/ledger"
)

// Event is one call of a client. The stamps come from one counter, so that where one call returned
// before another was made, its stamp is the smaller.
type Event struct {
	call, back int64
	Charge     ledger.Charge
	Receipt    ledger.Receipt
	err        error
	read       *ledger.Balance // or a look at the balance of "hospital"
	head       uint64          // or at the head
}

// Observe has clients charge and look at once and returns what each of them saw.
func Observe(l ledger.Ledger, clients, calls int, budget dp.Amount) []Event {
	var stamp atomic.Int64
	var mu sync.Mutex
	var all []Event
	var wg sync.WaitGroup
	for g := range clients {
		wg.Go(func() {
			r := detrand.New("calls of a client", uint64(g))
			for i := range calls {
				var e Event
				hospital := ledger.Account{Name: "hospital", Filter: account.ZCDPFilter(budget, 0)}
				analyst := ledger.Account{Name: fmt.Sprint("hospital/", g%2), Filter: account.ZCDPFilter(budget*2/3, 0)}
				e.call = stamp.Add(1)
				switch r.Below(6) {
				case 0:
					b, err := l.Balances(ctx, []ledger.Account{hospital})
					if e.err = err; err == nil {
						e.read = &b[0]
					}
				case 1:
					e.head, _, e.err = l.Head(ctx)
				default:
					// One request in five is one that somebody may have sent before.
					request, cost := fmt.Sprint(g, "-", i), 1+r.Below(5)
					if r.Below(5) == 0 {
						request, cost = fmt.Sprint("shared ", r.Below(10)), 2
					}
					c := Ask(request, hospital, analyst)
					c.Cost = dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Amount(cost), Delta: 0}
					e.Charge = c
					e.Receipt, e.err = l.Charge(ctx, c)
				}
				e.back = stamp.Add(1)
				mu.Lock()
				all = append(all, e)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all
}

// CheckOrder returns an error unless there is one order of all calls, that of the records, which
// agrees with who returned before whom and explains every answer.
func CheckOrder(l ledger.Ledger, history []Event) error {
	var records []*ledger.Record
	spent := []map[string]dp.Amount{} // by position: what is spent after it
	sum := map[string]dp.Amount{}
	for r, err := range l.Records(ctx, 0) {
		if err != nil {
			return err
		}
		if r.Sequence != uint64(len(records)) {
			return fmt.Errorf("record %d has the number %d", len(records), r.Sequence)
		}
		next := maps.Clone(sum)
		for _, b := range r.Balances {
			next[b.Account] += r.Cost.Rho
			// The record's own decision, made again.
			if b.Spent.Rho != next[b.Account] || b.Spent.Rho > b.Limit.Rho {
				return fmt.Errorf("record %d has %v of %v spent in %s; the sum is %v", r.Sequence, b.Spent.Rho, b.Limit.Rho,
					b.Account, next[b.Account])
			}
		}
		records, spent, sum = append(records, r), append(spent, next), next
	}
	last := uint64(len(records) - 1)
	// What a call can have seen at the earliest and at the latest, by its stamps.
	window := func(e Event) (from, to uint64) {
		to = last
		for _, o := range history {
			seen := o.head
			if o.err == nil && o.read == nil && o.Charge.Request != "" {
				seen = o.Receipt.Sequence
			}
			if o.err == nil && o.back < e.call {
				from = max(from, seen)
			}
			if o.err == nil && !o.Receipt.Again && o.Charge.Request != "" && o.call > e.back {
				to = min(to, seen-1)
			}
		}
		return from, to
	}
	charged := map[string]Event{}
	for _, e := range history {
		if e.Charge.Request != "" && e.err == nil && !e.Receipt.Again {
			if _, twice := charged[e.Charge.Request]; twice {
				return fmt.Errorf("%s was charged twice", e.Charge.Request)
			}
			charged[e.Charge.Request] = e
		}
	}
	if n := len(records) - 1; n != len(charged) {
		return fmt.Errorf("%d charges were confirmed, and there are %d records", len(charged), n)
	}
	for _, e := range history {
		from, to := window(e)
		if from > to {
			return fmt.Errorf("the call %+v returned after record %d was confirmed and before record %d was asked for", e, from, to+1)
		}
		somewhere := func(fits func(at map[string]dp.Amount) bool) bool {
			return slices.ContainsFunc(spent[from:to+1], fits)
		}
		var budget *ledger.BudgetError
		switch {
		case e.read != nil:
			if !somewhere(func(at map[string]dp.Amount) bool { return at["hospital"] == e.read.Spent.Rho }) {
				return fmt.Errorf("a balance of %v was read between records %d and %d, where it never was", e.read.Spent.Rho, from, to)
			}
		case e.Charge.Request == "" && e.err == nil:
			if e.head < from || e.head > to {
				return fmt.Errorf("the head was read as %d between records %d and %d", e.head, from, to)
			}
		case errors.As(e.err, &budget):
			if !somewhere(func(at map[string]dp.Amount) bool {
				for _, a := range e.Charge.Accounts {
					if a.Name == budget.Account {
						limit := a.Filter.Limit().Rho
						return at[a.Name]+e.Charge.Cost.Rho > limit && budget.Left.Rho == limit-at[a.Name]
					}
				}
				return false
			}) {
				return fmt.Errorf("%s was refused with %v between records %d and %d, which would have admitted it",
					e.Charge.Request, e.err, from, to)
			}
		case e.err != nil:
			return e.err
		default:
			n := e.Receipt.Sequence
			if n > last || records[n].Request != e.Charge.Request || ledger.Hash(records[n].Encode()) != e.Receipt.Hash ||
				!slices.Equal(records[n].Balances, e.Receipt.Balances) {
				return fmt.Errorf("%s has a receipt of record %d, which is not it", e.Charge.Request, n)
			}
			if n > to || !e.Receipt.Again && n <= from && from > 0 {
				return fmt.Errorf("%s is record %d, although record %d was confirmed before it was asked for, and record %d was "+
					"asked for after", e.Charge.Request, n, from, to+1)
			}
		}
	}
	return nil
}

// Promise5RealTimeOrder has eight clients charge and look at once.
func Promise5RealTimeOrder(t *testing.T, w World) {
	l := w.Open(t)
	history := Observe(l, 8, 40, 200)
	NoError(t, CheckOrder(l, history))
	refused := slices.ContainsFunc(history, func(e Event) bool { return e.err != nil })
	again := slices.ContainsFunc(history, func(e Event) bool { return e.Receipt.Again })
	if !refused || !again {
		t.Error("nobody was refused, or nobody asked again: this proves little")
	}
}

// Thousand has 1,000 clients ask at once for a budget of 100, with quotas for four analysts unless
// there are none. It returns how many were admitted by each.
func Thousand(t *testing.T, l ledger.Ledger, quota int) (admitted [4]int) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	begin := make(chan struct{})
	for i := range 1000 {
		wg.Go(func() {
			c := Ask(fmt.Sprint(i), Hospital(100))
			if quota > 0 {
				c.Accounts = append(c.Accounts, ledger.Account{Name: fmt.Sprint("hospital/", i%4), Filter: Admits(quota)})
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

// Promise2ThousandClients lets in as many as there is budget for, with and without quotas.
func Promise2ThousandClients(t *testing.T, newWorld func() World) {
	for quota, want := range map[int]int{0: 100, 40: 100, 20: 80} {
		w := newWorld()
		l := w.Open(t)
		sum := 0
		for analyst, n := range Thousand(t, l, quota) {
			sum += n
			if quota > 0 && n > quota {
				t.Errorf("analyst %d has %d of %d", analyst, n, quota)
			}
			if quota > 0 {
				if got := Spent(t, l, fmt.Sprint("hospital/", analyst)); got != n {
					t.Errorf("analyst %d was admitted %d times and has spent %d", analyst, n, got)
				}
			}
		}
		if n := Spent(t, l, "hospital"); sum != want || n != want {
			t.Fatalf("quota %d: %d were admitted and %d spent; want %d", quota, sum, n, want)
		}
		MustClose(t, l)
		if report := w.Verify(t); report.Charges != uint64(want) {
			t.Fatalf("%d charges are kept; want %d", report.Charges, want)
		}
	}
}

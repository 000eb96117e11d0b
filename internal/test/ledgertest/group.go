package ledgertest

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

// Grouping is a ledger that writes what waits for its lock in one group.
type Grouping interface {
	ledger.Ledger
	Lock()
	Unlock()
	Waiting() int
}

// InOneGroup makes calls that are served in one group, in their order, and returns their errors.
func InOneGroup(t *testing.T, l Grouping, calls ...func() error) []error {
	t.Helper()
	errs := make([]error, len(calls))
	l.Lock()
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
		for l.Waiting() != i+1 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	l.Unlock()
	wg.Wait()
	return errs
}

// MixedCalls is calls that rest on each other: two charges, the second of which leaves nothing, a
// refusal, the first again, its answer, another answer to it, and a use of its identifier for
// something else.
func MixedCalls(t *testing.T, l ledger.Ledger, name string, receipts *[8]ledger.Receipt) []func() error {
	t.Helper()
	limit := ledger.Account{Name: name, Filter: Admits(2)}
	charge := func(i int, c ledger.Charge) func() error {
		return func() (err error) {
			receipts[i], err = l.Charge(ctx, c)
			return err
		}
	}
	first := Ask(name+" first", limit)
	other := first
	other.Query = strings.Repeat("0", 64)
	sequence, _, err := l.Head(ctx)
	NoError(t, err)
	keep := func(answer string) func() error {
		return func() error { return l.Keep(ctx, sequence+1, name, []byte(answer)) }
	}
	return []func() error{
		charge(0, first), charge(1, Ask(name+" second", limit)), charge(2, Ask(name+" third", limit)), charge(3, first),
		keep("42"), keep("42"), keep("43"), charge(7, other),
	}
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/groupcommit"
	"github.com/discreet-dp/discreet/ledger"
)

// together makes calls that are served in one group, in their order, and returns their errors.
func together(t *testing.T, l *Ledger, calls ...func() error) []error {
	t.Helper()
	errs := make([]error, len(calls))
	l.Lock()
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
		for {
			if l.Waiting() == i+1 {
				break
			}
			time.Sleep(100 * time.Microsecond)
		}
	}
	l.Unlock()
	wg.Wait()
	return errs
}

// mixedCalls is calls that rest on each other: two charges, the second of which leaves nothing, a
// refusal, the first again, its answer, another answer to it, and a use of its identifier for
// something else.
func mixedCalls(l *Ledger, name string, receipts *[8]ledger.Receipt) []func() error {
	limit := ledger.Account{Name: name, Filter: admits(2)}
	charge := func(i int, c ledger.Charge) func() error {
		return func() (err error) {
			receipts[i], err = l.Charge(ctx, c)
			return err
		}
	}
	first := ask(name+" first", limit)
	other := first
	other.Query = strings.Repeat("0", 64)
	sequence, _ := l.State.Head()
	keep := func(answer string) func() error {
		return func() error { return l.Keep(ctx, sequence+1, name, []byte(answer)) }
	}
	return []func() error{
		charge(0, first), charge(1, ask(name+" second", limit)), charge(2, ask(name+" third", limit)), charge(3, first),
		keep("42"), keep("42"), keep("43"), charge(7, other),
	}
}

func TestGroupIsOneCommit(t *testing.T) {
	l, path := fresh(t)
	mustCharge(t, l, ask("before", hospital(100)))
	before := l.commits
	var receipts [8]ledger.Receipt
	errs := together(t, l, mixedCalls(l, "a", &receipts)...)
	var budget *ledger.BudgetError
	var request *ledger.RequestError
	for i, ok := range []bool{
		errs[0] == nil && !receipts[0].Again, errs[1] == nil, errors.As(errs[2], &budget),
		errs[3] == nil && receipts[3].Again && receipts[3].Hash == receipts[0].Hash && receipts[3].Sequence == receipts[0].Sequence,
		errs[4] == nil, errs[5] == nil, errors.Is(errs[6], ledger.ErrKept), errors.As(errs[7], &request),
	} {
		if !ok {
			t.Errorf("call %d: got %+v, %v", i, receipts[i], errs[i])
		}
	}
	if n := l.commits - before; n != 1 {
		t.Errorf("%d commits; want 1", n)
	}
	if answer, found, err := l.Answer(ctx, "a first"); string(answer) != "42" || !found || err != nil {
		t.Errorf("got %q, %v, %v", answer, found, err)
	}
	mustClose(t, l)
	if r := mustVerify(t, path); r.Charges != 3 || r.Answers != 1 {
		t.Errorf("got %+v", r)
	}
}

// Nobody is told anything that rests on a record that was not written: neither a receipt nor a
// refusal.
func TestGroupFailsAsAWhole(t *testing.T) {
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprint("full ", full), func(t *testing.T) {
			l, path := fresh(t)
			first := mustCharge(t, l, ask("before", hospital(100)))
			if full {
				if _, err := l.conn.ExecContext(ctx, "PRAGMA max_page_count = 1"); err != nil {
					t.Fatal(err)
				}
			} else {
				l.commit.Close()
			}
			var receipts [8]ledger.Receipt
			calls := mixedCalls(l, "a", &receipts)
			// Enough to need another page.
			large := func() error { return l.Keep(ctx, first.Sequence, "large", make([]byte, 100_000)) }
			noting := func() error { return l.Note(ctx, "session", []byte("note")) }
			for i, err := range together(t, l, append(calls, large, noting)...) {
				var write *ledger.WriteError
				if !errors.As(err, &write) || write.Broken == full || i < 8 && receipts[i].Hash != "" {
					t.Errorf("call %d: got %v; want a WriteError", i, err)
				}
			}
			if !full {
				mustClose(t, l)
				l = reopen(t, path)
			} else if _, err := l.conn.ExecContext(ctx, "PRAGMA max_page_count = 1000000"); err != nil {
				t.Fatal(err)
			}
			if a, all := spent(t, l, "a"), spent(t, l, "hospital"); a != 0 || all != 1 {
				t.Errorf("spent %d and %d; want 0 and 1", a, all)
			}
			if all, err := l.Notes(ctx, "session"); len(all) != 0 || err != nil {
				t.Errorf("there are %d notes, %v; want none", len(all), err)
			}
			if n, _, err := l.Head(ctx); n != first.Sequence || err != nil {
				t.Errorf("the head is %d, %v; want %d", n, err, first.Sequence)
			}
			for i, err := range together(t, l, mixedCalls(l, "a", &receipts)...) {
				if refused := i == 2 || i >= 6; (err != nil) != refused {
					t.Errorf("call %d, with room again: %v", i, err)
				}
			}
			mustClose(t, l)
			mustVerify(t, path)
		})
	}
}

// A call whose context ends while it waits spends nothing, and those around it go on.
func TestWithdraw(t *testing.T) {
	l, _ := fresh(t)
	over, cancel := context.WithCancel(ctx)
	l.Lock()
	var wg sync.WaitGroup
	wg.Go(func() { mustCharge(t, l, ask("a", hospital(10))) })
	wg.Go(func() { mustCharge(t, l, ask("c", hospital(10))) })
	stopped := make(chan error)
	go func() {
		_, err := l.Charge(over, ask("b", hospital(10)))
		stopped <- err
	}()
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want Canceled", err)
	}
	l.Unlock()
	wg.Wait()
	if n := spent(t, l, "hospital"); n != 2 {
		t.Errorf("spent %d; want 2", n)
	}
}

// More than one group can hold is served in several, and Close waits for them or refuses them.
func TestManyGroupsAndClose(t *testing.T) {
	l, path := fresh(t)
	var wg sync.WaitGroup
	var charged atomic.Int64
	for i := range 3 * groupcommit.MaxGroup {
		wg.Go(func() {
			_, err := l.Charge(ctx, ask(fmt.Sprint(i), hospital(1<<20)))
			if err == nil {
				charged.Add(1)
			} else if !errors.Is(err, ledger.ErrClosed) {
				t.Error(err)
			}
			if i == 2*groupcommit.MaxGroup {
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if r := mustVerify(t, path); r.Charges != uint64(charged.Load()) {
		t.Errorf("%d charges were confirmed, and %d are there", charged.Load(), r.Charges)
	}
}

// The log is put into the file when it is long, and the charges go on.
func TestLongLog(t *testing.T) {
	l, path := fresh(t)
	for i := range 3 {
		r := mustCharge(t, l, ask(fmt.Sprint(i), hospital(10)))
		mustKeep(t, l, r.Sequence, fmt.Sprint(i), strings.Repeat("x", maxLogBytes))
		if size, err := logSize(path); size != 0 || err != nil {
			t.Errorf("the log has %d bytes, %v", size, err)
		}
	}
	n := uint64(0)
	for r, err := range l.Records(ctx, 0) {
		if err != nil || r.Sequence != n {
			t.Fatalf("got %v, %v; want record %d", r, err, n)
		}
		n++
	}
	if n != 7 {
		t.Errorf("%d records; want 7", n)
	}
}

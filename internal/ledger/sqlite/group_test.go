package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/internal/ledger/groupcommit"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

// Nobody is told anything that rests on a record that was not written: neither a receipt nor a
// refusal.
func TestGroupFailsAsAWhole(t *testing.T) {
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprint("full ", full), func(t *testing.T) {
			l, path := fresh(t)
			first := mustCharge(t, l, ask("before", hospital(100)))
			if full {
				noError(t, ledgertest.ErrOf(l.conn.ExecContext(ctx, "PRAGMA max_page_count = 1")))
			} else {
				l.commit.Close()
			}
			var receipts [8]ledger.Receipt
			calls := ledgertest.MixedCalls(t, l, "a", &receipts)
			// Enough to need another page.
			large := func() error { return l.Keep(ctx, first.Sequence, "large", make([]byte, 100_000)) }
			noting := func() error { return l.Note(ctx, "session", []byte("note")) }
			for i, err := range ledgertest.InOneGroup(t, l, append(calls, large, noting)...) {
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
			for i, err := range ledgertest.InOneGroup(t, l, ledgertest.MixedCalls(t, l, "a", &receipts)...) {
				if refused := i == 2 || i >= 6; (err != nil) != refused {
					t.Errorf("call %d, with room again: %v", i, err)
				}
			}
			mustClose(t, l)
			mustVerify(t, path)
		})
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

package groupcommit

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

func TestGroupIsOneCommit(t *testing.T) {
	l := fresh(t)
	mustCharge(t, l, ask("before", hospital(100)))
	before := l.memory.commits
	var receipts [8]ledger.Receipt
	errs := ledgertest.InOneGroup(t, l, ledgertest.MixedCalls(t, l, "a", &receipts)...)
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
	if n := l.memory.commits - before; n != 1 {
		t.Errorf("%d commits; want 1", n)
	}
	if answer, found, err := l.Answer(ctx, "a first"); string(answer) != "42" || !found || err != nil {
		t.Errorf("got %q, %v, %v", answer, found, err)
	}
	mustClose(t, l)
	if r := l.memory.mustVerify(t); r.Charges != 3 || r.Answers != 1 {
		t.Errorf("got %+v", r)
	}
}

// Nobody is told anything that rests on a record that was not written: neither a receipt nor a
// refusal. Everybody has an error of their own, and a ledger that does not know what was written
// does no more work.
func TestGroupFailsAsAWhole(t *testing.T) {
	for _, torn := range []bool{false, true} {
		l := fresh(t)
		first := mustCharge(t, l, ask("before", hospital(100)))
		var receipts [8]ledger.Receipt
		calls := ledgertest.MixedCalls(t, l, "a", &receipts)
		l.memory.fail, l.memory.torn = errors.New("full"), torn
		seen := map[*ledger.WriteError]bool{}
		for i, err := range ledgertest.InOneGroup(t, l, append(calls, func() error { return l.Note(ctx, "s", []byte("note")) })...) {
			var write *ledger.WriteError
			if !errors.As(err, &write) || write.Broken != torn || seen[write] || i < 8 && receipts[i].Hash != "" {
				t.Errorf("torn %v, call %d: got %v; want a WriteError", torn, i, err)
			}
			seen[write] = true
		}
		l.memory.fail = nil
		if torn {
			if _, err := l.Charge(ctx, ask("after", hospital(100))); err == nil {
				t.Error("a ledger that was stopped goes on")
			}
			l = mustOpen(t, l.memory)
		}
		if n, _, err := l.Head(ctx); n != first.Sequence || err != nil {
			t.Errorf("the head is %d, %v; want %d", n, err, first.Sequence)
		}
		for i, err := range ledgertest.InOneGroup(t, l, ledgertest.MixedCalls(t, l, "a", &receipts)...) {
			if refused := i == 2 || i >= 6; (err != nil) != refused {
				t.Errorf("call %d, when it can be written again: %v", i, err)
			}
		}
		l.memory.mustVerify(t)
	}
}

// A call whose context ends while it waits spends nothing, and those around it go on.
func TestWithdraw(t *testing.T) {
	l := fresh(t)
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

// A group holds so many requests, and so many bytes of answers, but always one request.
func TestGroupIsBounded(t *testing.T) {
	var q queue
	for range MaxGroup + 5 {
		q.add(&request{size: 1})
	}
	q.add(&request{size: 2 * maxGroupBytes})
	q.add(&request{size: maxGroupBytes/2 + 1})
	q.add(&request{size: maxGroupBytes / 2})
	for _, want := range []int{MaxGroup, 5, 1, 1, 1, 0} {
		if got := len(q.take()); got != want {
			t.Errorf("%d requests in one group; want %d", got, want)
		}
	}
}

// Many who note at once share their commits, and each finds their own notes in their order.
func TestPromise14Group(t *testing.T) {
	l := slow(t)
	const clients, each = 16, 40
	before := l.memory.commits
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range each {
				if err := l.Note(ctx, fmt.Sprint("session ", c), []byte(fmt.Sprint(i))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := l.memory.commits - before; n > clients*each/2 {
		t.Errorf("%d notes took %d commits", clients*each, n)
	}
	mustClose(t, l)
	l = mustOpen(t, l.memory)
	for c := range clients {
		all, err := l.Notes(ctx, fmt.Sprint("session ", c))
		if err != nil || len(all) != each {
			t.Fatalf("client %d: %d notes, %v", c, len(all), err)
		}
		for i, note := range all {
			if string(note) != fmt.Sprint(i) {
				t.Fatalf("client %d: note %d is %q", c, i, note)
			}
		}
	}
}

// What panics in a place of anchors stops the ledger, and blocks nobody.
func TestAnchorPanics(t *testing.T) {
	l := fresh(t)
	place := &ledgertest.MemoryAnchor{}
	l.Keeper = chain.NewAnchorKeeper(place, 1)
	place.Before = func(ledger.Anchor) { panic("the sea is rough") }
	var failed *ledger.WriteError
	if _, err := l.Charge(ctx, ask("asked", hospital(100))); !errors.As(err, &failed) || !failed.Broken {
		t.Errorf("got %v", err)
	}
	place.Before = nil
	if _, err := l.Charge(ctx, ask("again", hospital(100))); !errors.As(err, &failed) || !failed.Broken {
		t.Errorf("got %v", err)
	}
	mustClose(t, l)
}

type rough struct{ crypto.Signer }

func (rough) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) { panic("no key") }

// What panics in a signer refuses its entry and nothing else of its group.
func TestSignerPanics(t *testing.T) {
	l := fresh(t)
	enter := func(e ledger.Entry) error {
		_, err := l.Enter(ctx, e)
		return err
	}
	owner := ledger.Owner{Public: ownerKey(1).Public().(ed25519.PublicKey), Reason: "begin"}
	noError(t, enter(owner))
	topUp := ledger.TopUp{Accounts: []string{"hospital"}, Amount: ledgertest.Unit, Reason: "more", Signer: rough{ownerKey(1)}}
	topUp.Amount.Epsilon = 0
	errs := ledgertest.InOneGroup(t, l,
		func() error { return ledgertest.ErrOf(l.Charge(ctx, ask("a", hospital(1)))) }, func() error { return enter(topUp) },
		func() error { return ledgertest.ErrOf(l.Charge(ctx, ask("b", hospital(2)))) })
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("got %v", errs)
	}
	if n := spent(t, l, "hospital"); n != 2 || l.memory.mustVerify(t).Kinds[ledger.KindTopUp] != 0 {
		t.Errorf("%d were spent, and %+v", n, l.memory.mustVerify(t).Kinds)
	}
}

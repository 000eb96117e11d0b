package groupcommit

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

var ownerKey = ledgertest.OwnerKey

// decisions runs a random workload, the same for the same seed, and returns everything that the
// ledger decided and recorded, without times and hashes.
func decisions(t *testing.T, seed uint64, now func() time.Time, wrap func(ledger.Ledger) ledger.Ledger) []string {
	t.Helper()
	m := newMemory()
	l, err := m.open(now)
	noError(t, err)
	var all []string
	say := func(what string, r ledger.Receipt, err error) {
		decision := "yes"
		if err != nil {
			decision = fmt.Sprintf("%T", err)
			for _, known := range []error{ledger.ErrKept, ledger.ErrUnpaid} {
				if errors.Is(err, known) {
					decision = known.Error()
				}
			}
		}
		all = append(all, fmt.Sprint(what, " ", decision, " ", r.Sequence, r.Cost, r.Balances, r.Again, r.Alerts()))
	}
	r := rand.New(rand.NewPCG(seed, 9))
	window := func() uint64 {
		n, err := l.Window(ctx, "hospital")
		noError(t, err)
		return n
	}
	accounts := func(n uint64) []ledger.Account {
		return []ledger.Account{
			{Name: ledger.WindowName("hospital", n), Filter: account.ZCDPFilter(30, 0)},
			{Name: fmt.Sprint("hospital/", r.IntN(3)), Filter: account.ZCDPFilter(25, 0)},
		}
	}
	owner := byte(0)
	for range 120 {
		switch r.IntN(12) {
		case 0:
			noError(t, l.Close())
			if l, err = m.open(now); err != nil {
				t.Fatal(err)
			}
		case 1:
			receipt, err := l.Enter(ctx, ledger.Renewal{Dataset: "hospital", From: window() - uint64(r.IntN(2)), Reason: "a new year"})
			say("renewal", receipt, err)
		case 2:
			topUp := ledger.TopUp{Accounts: []string{fmt.Sprint("hospital/", r.IntN(3)), ledger.WindowName("hospital", window())},
				Amount: dp.Cost{Rho: dp.Amount(1 + r.IntN(10))}, Reason: "more", Signer: ownerKey(max(owner, 1) + byte(r.IntN(5)/4))}
			receipt, err := l.Enter(ctx, topUp)
			say("top-up", receipt, err)
		case 3:
			next := ledger.Owner{Public: ownerKey(owner + 1).Public().(ed25519.PublicKey), Reason: "the owner"}
			if owner > 0 {
				next.Signer = ownerKey(owner)
			}
			receipt, err := l.Enter(ctx, next)
			say("owner", receipt, err)
			if err == nil {
				owner++
			}
		case 4, 5:
			head, _, err := l.Head(ctx)
			noError(t, err)
			say("keep", ledger.Receipt{}, l.Keep(ctx, r.Uint64N(head+1), fmt.Sprint("key ", r.IntN(9)), []byte(fmt.Sprint(r.IntN(3)))))
		default:
			n := window()
			c := ask(fmt.Sprint(r.IntN(80)), accounts(n)...)
			c.Window, c.DataVersion, c.Query = n, fmt.Sprint("v", r.IntN(8)/7), ledger.Hash(c.Request)
			c.Cost = dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Amount(1 + r.IntN(6)), Delta: 0}
			receipt, err := wrap(l).Charge(ctx, c)
			say("charge "+c.Request, receipt, err)
		}
		balances, err := l.Balances(ctx, accounts(window()))
		all = append(all, fmt.Sprint(balances, err))
	}
	for record, err := range l.Records(ctx, 1) {
		noError(t, err)
		record.Time, record.Previous, record.Signature = time.Time{}, "", ""
		all = append(all, record.Encode())
	}
	return all
}

// differ returns the first decision in which a jumping clock differs from a steady one.
func differ(t *testing.T, seed uint64, wrap func(ledger.Ledger, func() time.Time) ledger.Ledger, met func(string)) error {
	t.Helper()
	run := func(now func() time.Time) []string {
		return decisions(t, seed, now, func(l ledger.Ledger) ledger.Ledger { return wrap(l, now) })
	}
	begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	want := run(func() time.Time { return begin })
	var looks atomic.Int64
	got := run(func() time.Time {
		n := looks.Add(1)
		return begin.AddDate([]int{10, -10, 0, 20, -60}[n%5], 0, 0).Add(time.Duration(n))
	})
	if looks.Load() == 0 {
		return errors.New("nobody looked at the clock")
	}
	for i := range want {
		met(want[i])
		if i >= len(got) || got[i] != want[i] {
			return fmt.Errorf("seed %d, decision %d: got %s; want %s", seed, i, got[min(i, len(got)-1)], want[i])
		}
	}
	return nil
}

// A clock that jumps by ten years at every look decides what a steady one does.
func TestPromise10JumpingClock(t *testing.T) {
	kinds := map[string]bool{"renewal yes": false, "top-up yes": false, "owner yes": false, "keep yes": false,
		"top-up *ledger.SignatureError": false, "renewal *ledger.WindowError": false}
	for seed := range uint64(some(daily.Rounds(12, 20))) {
		err := differ(t, seed, func(l ledger.Ledger, _ func() time.Time) ledger.Ledger { return l }, func(decision string) {
			for kind := range kinds {
				kinds[kind] = kinds[kind] || strings.HasPrefix(decision, kind)
			}
		})
		noError(t, err)
	}
	for kind, met := range kinds {
		if !met && !testing.Short() {
			t.Errorf("%q never happened", kind)
		}
	}
}

// yearly is a ledger whose budgets come back with the year, which the test above must be able to
// see.
type yearly struct {
	ledger.Ledger
	now func() time.Time
}

func (l yearly) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	c.Accounts = slices.Clone(c.Accounts)
	c.Accounts[0].Name += l.now().Format(" 2006")
	return l.Ledger.Charge(ctx, c)
}

func TestPromise10TestSeesClock(t *testing.T) {
	err := differ(t, 1, func(l ledger.Ledger, now func() time.Time) ledger.Ledger { return yearly{l, now} }, func(string) {})
	if err == nil {
		t.Error("budgets came back with time, and nobody noticed")
	}
}

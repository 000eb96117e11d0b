package replay

import (
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/ledger"
)

// testChain makes a ledger of records by the code that decides when a charge is made.
type testChain struct {
	state   *chain.State
	records []*ledger.Record
	refused int
}

func newTestChain() *testChain {
	b := &testChain{state: chain.New()}
	b.add(chain.First("test", time.Unix(0, 0)))
	return b
}

func (b *testChain) add(links ...*chain.Link) {
	for _, k := range links {
		if err := b.state.Check(k.Record); err != nil {
			panic(err)
		}
		b.state.Apply(k.Record, k.Hash)
		b.records = append(b.records, k.Record.Clone())
	}
}

func (b *testChain) charge(request, version string, cost dp.Cost, accounts ...ledger.Account) bool {
	links, err := b.state.Charge(ledger.Charge{
		Request: request, Analyst: "ana", Dataset: "hospital", DataVersion: version, Query: strings.Repeat("0", 64),
		Window: b.state.Window("hospital"), Cost: cost, Accounts: accounts,
	}, time.Unix(int64(len(b.records)), 0))
	if err != nil {
		b.refused++
		return false
	}
	b.add(links...)
	return true
}

// version is the data version of the last charge.
func (b *testChain) version() string {
	for _, r := range slices.Backward(b.records) {
		if r.Kind == ledger.KindVersion {
			return r.DataVersion
		}
	}
	return ""
}

func (b *testChain) enter(e ledger.Entry) {
	k, err := b.state.Entry(e, time.Unix(int64(len(b.records)), 0))
	if err != nil {
		panic(err)
	}
	b.add(k)
}

func ownerKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+seed)), 32)))
}

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

// random makes a ledger with everything in it.
func random(seed uint64) *testChain {
	r := rand.New(rand.NewPCG(seed, 1))
	b := newTestChain()
	owner, owned := ownerKey(0), false
	var unanswered []uint64
	for i := range 60 {
		if r.IntN(4) == 0 {
			// A session that began before a recovery can go on no more.
			if link, err := b.state.Note(fmt.Sprint("session ", r.IntN(5)), ledger.Hash(fmt.Sprint("salt and note ", i)),
				time.Unix(0, 0)); err == nil {
				b.add(link)
			}
		}
		switch r.IntN(12) {
		case 0:
			window := b.state.Window("hospital")
			b.enter(ledger.Renewal{Dataset: "hospital", From: window, Reason: "spring"})
			unanswered = nil // what a window paid for ends with it
		case 1:
			next := ownerKey(byte(r.IntN(20)))
			e := ledger.Owner{Public: public(next), Reason: "another"}
			if owned {
				e.Signer = owner
			}
			b.enter(e)
			owner, owned = next, true
		case 2:
			if owned {
				b.enter(ledger.TopUp{Accounts: []string{"hospital", "hospital/ana"}, Amount: dp.Cost{Rho: dp.Amount(r.IntN(50)), Delta: 1},
					Reason: "more", Signer: owner})
			}
		case 3:
			spent := b.state.Accounts.Spent("hospital").Add(dp.Cost{Epsilon: 1, Rho: dp.Amount(r.IntN(9)), Delta: 0})
			b.enter(ledger.Recovery{Anchor: ledger.Anchor{Sequence: 9, Hash: "h"},
				Spent: []ledger.Balance{{Account: "hospital", Spent: spent}}, Reason: "lost"})
		case 4, 5:
			if len(unanswered) > 0 {
				b.add(b.state.Answer(unanswered[0], "key", ledger.Hash("42"), time.Unix(0, 0)))
				unanswered = unanswered[1:]
			}
		default:
			cost := dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Amount(1 + r.IntN(30)), Delta: dp.Amount(r.IntN(2))}
			if r.IntN(5) == 0 {
				// A claim that the account does not limit grows until its sum saturates.
				b.charge(fmt.Sprint(i), b.version(), dp.Cost{Epsilon: 1, Rho: dp.Unbounded/2 - dp.Amount(r.IntN(3))},
					ledger.Account{Name: "pure", Filter: account.PureFilter(100)})
				continue
			}
			if r.IntN(4) == 0 { // kept by either of two sums
				both := dp.Cost{Epsilon: dp.Amount(1 + r.IntN(20)), Rho: dp.Amount(1 + r.IntN(20)), Delta: dp.Amount(r.IntN(2))}
				if r.IntN(8) == 0 {
					both.Epsilon = dp.Unbounded
				}
				b.charge(fmt.Sprint(i), b.version(), both, ledger.Account{Name: "either", Filter: account.EitherFilter(100, 100, 20)})
				continue
			}
			window := b.state.Window("hospital")
			ok := b.charge(fmt.Sprint(i), fmt.Sprint("v", r.IntN(3)), cost,
				ledger.Account{Name: "hospital", Filter: account.ZCDPFilter(dp.Amount(200+r.IntN(100)), 50)},
				ledger.Account{Name: ledger.WindowName("hospital/ana", window), Filter: account.ZCDPFilter(100, 50)})
			if ok {
				n, _ := b.state.Head()
				unanswered = append(unanswered, n)
			}
		}
	}
	return b
}

// played replays records, each hashed and put behind the one before, whatever they say.
func played(records []*ledger.Record) (p *Replay, differs []string) {
	p = New()
	previous := ""
	for i, r := range records {
		r = r.Clone()
		r.Sequence, r.Previous = uint64(i), previous
		previous = ledger.Hash(r.Encode())
		differs = append(differs, p.Next(r, previous).Differs...)
	}
	return p, differs
}

// What one implementation decides, the other one derives.
func TestPromise11Agree(t *testing.T) {
	charges, refused := uint64(0), 0
	seeds, first := daily.Rounds(160, 400), uint64(daily.Choices(t).Below(1_000_000))
	for seed := first; seed < first+uint64(seeds); seed++ {
		b := random(seed)
		p := New()
		for _, r := range b.records {
			if d := p.Next(r, ledger.Hash(r.Encode())); len(d.Differs) > 0 || r.Kind == ledger.KindCharge && !d.Admitted {
				t.Fatalf("seed %d: record %d, a %s: %v", seed, r.Sequence, r.Kind, d.Differs)
			}
		}
		n, differ := p.Decisions()
		if n != b.state.Charges.Count() || differ != 0 {
			t.Fatalf("seed %d: %d decisions of %d, %d differ", seed, n, b.state.Charges.Count(), differ)
		}
		for _, want := range p.Spent() {
			if got := b.state.Accounts.Spent(want.Account); got != want.Spent {
				t.Errorf("seed %d: %q has spent %v and %v", seed, want.Account, got, want.Spent)
			}
		}
		charges, refused = charges+n, refused+b.refused
	}
	if charges < 15*uint64(seeds)/2 || refused < 5*seeds/2 {
		t.Errorf("only %d charges and %d refusals", charges, refused)
	}
}

// A charge in which one number is another one, in a chain whose hashes are right, is always
// noticed.
func TestPromise11ChangedNumbers(t *testing.T) {
	first := uint64(daily.Choices(t).Below(1_000_000))
	for seed := first; seed < first+uint64(daily.Rounds(120, 300)); seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		records := random(seed).records
		var charges []int
		for i, k := range records {
			if k.Kind == ledger.KindCharge {
				charges = append(charges, i)
			}
		}
		k := records[charges[r.IntN(len(charges))]]
		b := &k.Balances[r.IntN(len(k.Balances))]
		by := dp.Amount(1 + r.IntN(40))
		what := r.IntN(6)
		switch what {
		case 0:
			b.Spent.Rho += by
		case 1:
			b.Spent.Rho -= min(by, b.Spent.Rho)
		case 2:
			b.Granted.Rho += by
		case 3:
			// A sum that is saturated takes any cost; the claim that counts never does.
			if b.Spent.Epsilon == dp.Unbounded {
				k.Cost.Rho += by
			} else {
				k.Cost.Epsilon += by
			}
		case 4:
			if b.Limit.Epsilon != dp.Unbounded {
				b.Limit.Epsilon = min(b.Limit.Epsilon, b.Spent.Epsilon-1)
			}
			if b.Limit.Rho != dp.Unbounded {
				b.Limit.Rho = b.Spent.Rho - 1
			}
		case 5:
			k.Window += uint64(by)
		}
		// What comes after is left out: signatures there do not hold behind another hash, and would
		// tell on their own.
		if _, differs := played(records[:k.Sequence+1]); len(differs) == 0 {
			t.Errorf("seed %d: change %d by %d of record %d is not noticed", seed, what, by, k.Sequence)
		}
	}
}

// Every rule, broken once by somebody who has the hashes right.
func TestPromise11Planted(t *testing.T) {
	type list = []*ledger.Record
	cost := dp.Cost{Epsilon: dp.Unbounded, Rho: 10, Delta: 0}
	filter := account.ZCDPFilter(50, 0)
	hospital := ledger.Account{Name: "hospital", Filter: filter}
	make := func() *testChain {
		b := newTestChain()
		// 1
		b.enter(ledger.Owner{Public: public(ownerKey(0)), Reason: "begin"})
		// 2, 3
		b.charge("first", "v1", cost, hospital)
		// 4
		b.add(b.state.Answer(3, "key", ledger.Hash("42"), time.Unix(0, 0)))
		// 5
		b.enter(ledger.TopUp{Accounts: []string{"hospital"}, Amount: dp.Cost{Rho: 20}, Reason: "more", Signer: ownerKey(0)})
		// 6
		b.enter(ledger.Renewal{Dataset: "hospital", From: 1, Reason: "spring"})
		// 7
		b.enter(ledger.Recovery{Reason: "lost",
			Spent: []ledger.Balance{{Account: "hospital", Spent: dp.Cost{Epsilon: dp.Unbounded, Rho: 30}}}})
		b.charge("second", "v1", cost, hospital, ledger.Account{Name: "hospital#2", Filter: filter}) // 8
		b.enter(ledger.Owner{Public: public(ownerKey(1)), Reason: "next", Signer: ownerKey(0)})      // 9
		return b
	}
	records := make().records
	if _, differs := played(records); len(differs) > 0 || len(records) != 10 {
		t.Fatalf("%d records: %v", len(records), differs)
	}
	edit := func(change func(list)) func(list) list {
		return func(r list) list {
			change(r)
			return r
		}
	}
	note := func(session, hash string) func(list) list {
		return func(r list) list {
			return append(r, &ledger.Record{Kind: ledger.KindNote, Time: time.Unix(0, 0), Session: session, AnswerHash: hash})
		}
	}
	for _, c := range []struct {
		says  string
		plant func(list) list
	}{
		// Overspent, and consistent in itself.
		{"does not cover", edit(func(r list) { r[8].Cost.Rho, r[8].Balances[0].Spent.Rho, r[8].Balances[1].Spent.Rho = 41, 71, 41 })},
		{"does not cover", edit(func(r list) { r[8].Balances[1].Limit.Rho = 9 })},
		{"was charged before", edit(func(r list) { r[8].Request = "first" })},
		{"claim of zero", edit(func(r list) { r[8].Cost.Rho, r[8].Balances[0].Spent.Rho, r[8].Balances[1].Spent.Rho = 0, 30, 0 })},
		{"names no account", edit(func(r list) { r[8].Balances = nil })},
		{"named twice", edit(func(r list) { r[8].Balances[1] = r[8].Balances[0] })},
		{"has no limit", edit(func(r list) { r[8].Balances[0].Limit.Rho = dp.Unbounded })},
		{"and the current one is 2", edit(func(r list) { r[8].Window = 1 })},
		{"not an account of the current window", edit(func(r list) { r[8].Balances[1].Account = "hospital#1" })},
		{"and the current one is \"v1\"", edit(func(r list) { r[8].DataVersion = "v2" })},
		{"has spent", edit(func(r list) { r[8].Balances[0].Spent.Rho = 20 })},
		{"was granted", edit(func(r list) { r[8].Balances[0].Granted.Rho, r[8].Balances[0].Limit.Rho = 30, 80 })},
		{"less than what was granted", edit(func(r list) { r[8].Balances[0].Limit.Rho = 19 })},
		{"not a charge", edit(func(r list) { r[4].Charge = 2 })},
		{"second answer", func(r list) list { return append(r, r[4]) }},
		{"has no hash", edit(func(r list) { r[4].AnswerHash = "" })},
		{"note belongs to no session", note("", ledger.Hash("x"))},
		{"or has no hash", note("s", "")},
		{"answered in window 2, whose accounts have not paid", edit(func(r list) { r[4], r[5], r[6] = r[5], r[6], r[4] })},
		{"went on in window 2, whose accounts have not paid", note("charge 3", ledger.Hash("x"))},
		{"which is not a charge", note("charge 4", ledger.Hash("x"))},
		{"not signed by the owner", edit(func(r list) { r[5].Cost.Rho = 21 })},
		{"not signed by the owner", edit(func(r list) { r[5].Signature = "" })},
		{"somebody who is not the owner", edit(func(r list) { r[5].PublicKey = r[9].PublicKey })},
		{"no owner", edit(func(r list) { r[1] = r[6] })},
		{"names \"hospital\" twice", edit(func(r list) { r[5].Accounts = []string{"hospital", "hospital"} })},
		{"where window 2 is next", edit(func(r list) { r[6].Window = 3 })},
		{"takes back", edit(func(r list) { r[7].Balances[0].Spent.Rho = 9 })},
		{"recovery names", edit(func(r list) { r[7].Balances = append(r[7].Balances, r[7].Balances[0]) })},
		{"has not signed for the next one", edit(func(r list) { r[9].Reason = "forged" })},
		{"not an Ed25519 key", edit(func(r list) { r[9].PublicKey = "00" })},
		{"had this version already", func(r list) list { return append(r, r[2]) }},
		{"begins only once", func(r list) list { return append(r, r[0]) }},
		{"does not begin", func(r list) list { return r[1:] }},
	} {
		if _, differs := played(c.plant(make().records)); !strings.Contains(strings.Join(differs, "\n"), c.says) {
			t.Errorf("%q is not said: %q", c.says, differs)
		}
	}
	// And hashes that are not right.
	p := New()
	if d := p.Next(records[0], strings.Repeat("0", 64)); len(d.Differs) != 1 {
		t.Errorf("a wrong hash: %v", d.Differs)
	}
	if d := p.Next(records[1], ledger.Hash(records[1].Encode())); len(d.Differs) != 1 {
		t.Errorf("a wrong hash before: %v", d.Differs)
	}
}

// Limits are what the policy said: without what was granted.
func TestLimits(t *testing.T) {
	b := newTestChain()
	b.enter(ledger.Owner{Public: public(ownerKey(0)), Reason: "begin"})
	b.enter(ledger.TopUp{Accounts: []string{"hospital"}, Amount: dp.Cost{Rho: 20}, Reason: "more", Signer: ownerKey(0)})
	b.charge("first", "", dp.Cost{Epsilon: dp.Unbounded, Rho: 10}, ledger.Account{Name: "hospital", Filter: account.ZCDPFilter(50, 0)})
	p, differs := played(b.records)
	if limit := p.Limits()["hospital"]; limit.Rho != 50 || limit.Epsilon != dp.Unbounded || len(differs) > 0 {
		t.Errorf("the limit is %v; %v", limit, differs)
	}
}

package chain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

var (
	ctx     = context.Background()
	noError = ledgertest.NoError
)

type testChain struct {
	links []*Link
	state *State
}

func newTestChain(identity string) *testChain {
	return replayed([]*Link{First(identity, time.Unix(0, 0))})
}

func replayed(links []*Link) *testChain {
	b := &testChain{state: New()}
	b.append(links...)
	return b
}

func (b *testChain) append(links ...*Link) {
	for _, k := range links {
		var r ledger.Record
		if err := errors.Join(r.Read(k.Body, k.Hash, ""), b.state.Check(&r)); err != nil {
			panic(err)
		}
		b.state.Apply(&r, k.Hash)
		b.links = append(b.links, k)
	}
}

func (b *testChain) hashAt(n uint64) (string, error) { return b.links[n].Hash, nil }

func (b *testChain) records() iter.Seq2[*ledger.Record, error] {
	return func(yield func(*ledger.Record, error) bool) {
		for _, k := range b.links {
			if !yield(k.Record, nil) {
				return
			}
		}
	}
}

// asked counts requests, so that no two branches have the same record by chance; of a real ledger
// the time sees to that.
var asked int

func (b *testChain) charge(cost dp.Cost, accounts ...string) *ledger.Record {
	asked++
	c := ledger.Charge{Request: fmt.Sprint(asked), Window: 1, Cost: cost}
	for _, name := range accounts {
		c.Accounts = append(c.Accounts, ledger.Account{Name: name, Filter: account.ZCDPFilter(dp.One<<19, dp.One/2)})
	}
	links, err := b.state.Charge(c, time.Unix(0, 0))
	if err != nil {
		panic(err)
	}
	b.append(links...)
	return links[len(links)-1].Record
}

// recover does what a ledger does for an owner who recovers it.
func (b *testChain) recover(m *AnchorKeeper, a ledger.Anchor) (Loss, error) {
	loss, err := FindLoss(a, b.state, b.records())
	if err != nil || loss.Counted {
		return loss, err
	}
	e := ledger.Recovery{Anchor: a, Spent: loss.Spent, Reason: "test"}
	if err := e.Validate(); err != nil {
		return loss, err
	}
	link, err := b.state.Entry(e, time.Unix(0, 0))
	if err != nil {
		return loss, err
	}
	b.append(link)
	return loss, nil
}

func rho(n int) dp.Cost { return dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Amount(n), Delta: 1} }

// world knows everything that was ever released.
type world struct {
	t        *rapid.T
	place    *ledgertest.MemoryAnchor
	every    uint64
	chain    *testChain
	keeper   *AnchorKeeper
	past     [][]*Link          // every ledger that ever was, at some moments
	released map[string]dp.Cost // by account
	slipped  map[string]dp.Cost // what an older copy lacked that passed, which it may with every > 1
	since    uint64             // releases since the last anchor
	stored   int                // anchors, to see when there is a new one
	pending  []*ledger.Record   // charges that were not confirmed
}

func newWorld(t *rapid.T) *world {
	place := &ledgertest.MemoryAnchor{LoadsAnyway: true}
	return &world{t: t, place: place, released: map[string]dp.Cost{}, slipped: map[string]dp.Cost{}}
}

func (w *world) spends(kind string) (dp.Cost, []string) {
	accounts := rapid.SampledFrom([][]string{{"a"}, {"b"}, {"a", "b"}, {"a", "c"}}).Draw(w.t, kind+" accounts")
	return dp.Cost{
		Epsilon: rapid.SampledFrom([]dp.Amount{1, 5, 100, dp.Unbounded}).Draw(w.t, kind+" epsilon"),
		Rho:     dp.Amount(rapid.IntRange(1, 20).Draw(w.t, kind+" rho")),
		Delta:   dp.Amount(rapid.IntRange(0, 3).Draw(w.t, kind+" delta")),
	}, accounts
}

func (w *world) release(records ...*ledger.Record) {
	for _, r := range records {
		w.since++
		for _, b := range r.Balances {
			w.released[b.Account] = w.released[b.Account].Add(r.Cost)
		}
	}
}

// charge makes one or several charges in one commit.
func (w *world) charge() {
	w.place.Fail, w.place.StoresAnyway = nil, false
	if rapid.IntRange(0, 9).Draw(w.t, "fails") == 0 {
		w.place.Fail, w.place.StoresAnyway = errors.New("the anchor is away"), rapid.Bool().Draw(w.t, "stores anyway")
	}
	var made []*ledger.Record
	for range rapid.IntRange(1, 3).Draw(w.t, "group") {
		cost, accounts := w.spends("charge")
		made = append(made, w.chain.charge(cost, accounts...))
	}
	w.pending = append(w.pending, made...)
	err := w.keeper.Committed(ctx, w.chain.state, made)
	stores := w.place.Stores != w.stored
	if stores {
		w.stored, w.since = w.place.Stores, 0
	} else if err == nil && w.since+uint64(len(made)) >= w.every {
		w.t.Fatalf("%d answers leave since the last anchor, and one is due every %d", w.since+uint64(len(made)), w.every)
	}
	if err != nil {
		return
	}
	w.release(w.pending...)
	w.pending = nil
	if stores {
		w.since = 0
	}
	for name := range w.released {
		i := slices.IndexFunc(w.place.Anchor.Most, func(c ledger.Ceiling) bool { return c.Account == name })
		if i < 0 || !w.released[name].Sub(w.slipped[name]).Within(w.place.Anchor.Most[i].Spent) {
			w.t.Fatalf("released %v of %q, which is above the ceiling", w.released[name], name)
		}
	}
	w.past = append(w.past, slices.Clone(w.chain.links))
}

// unkept charges and releases without a keeper.
func (w *world) unkept() {
	for range rapid.IntRange(0, 3).Draw(w.t, "unkept") {
		cost, accounts := w.spends("unkept")
		r := w.chain.charge(cost, accounts...)
		for _, b := range r.Balances {
			w.released[b.Account] = w.released[b.Account].Add(r.Cost)
		}
	}
}

// covered reports whether the ledger counts everything that was released.
func (w *world) covered() error {
	for name, cost := range w.released {
		if got := w.chain.state.Accounts.Spent(name).Add(w.slipped[name]); !cost.Within(got) {
			return fmt.Errorf("%q counts %v, and %v was released", name, got, cost)
		}
	}
	return nil
}

// open opens the ledger, and recovers it where it is refused.
func (w *world) open() {
	w.place.Fail, w.pending = nil, nil
	w.keeper = NewAnchorKeeper(w.place, w.every)
	err := w.keeper.Open(ctx, "x", w.chain.state, w.chain.hashAt)
	var refused *ledger.AnchorError
	if errors.As(err, &refused) {
		if _, err := w.chain.recover(w.keeper, *w.place.Anchor); err != nil {
			w.t.Fatal(err)
		}
		if err := w.covered(); err != nil {
			w.t.Fatalf("after the recovery: %v (%s)", err, refused.Problem)
		}
		if rapid.Bool().Draw(w.t, "dies before the anchor") {
			before := w.chain.state.Accounts.Spent("a")
			loss, err := w.chain.recover(w.keeper, *w.place.Anchor)
			if err != nil || !loss.Counted || w.chain.state.Accounts.Spent("a") != before {
				w.t.Fatalf("counted twice: %+v, %v", loss, err)
			}
		}
		err = w.keeper.Adopt(ctx, w.chain.state, w.chain.hashAt)
	} else if err == nil {
		if failed := w.covered(); failed != nil {
			if w.since == 0 || w.every == 1 {
				w.t.Fatalf("an older copy passed: %v", failed)
			}
			for name, cost := range w.released {
				spent := w.chain.state.Accounts.Spent(name)
				if lacks := cost.Sub(spent); !cost.Within(spent.Add(w.slipped[name])) {
					w.slipped[name] = lacks
				}
			}
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if err := NewAnchorKeeper(w.place, w.every).Open(ctx, "x", w.chain.state, w.chain.hashAt); err != nil {
		w.t.Fatalf("opened again: %v", err)
	}
	w.stored, w.since = w.place.Stores, 0
	w.past = append(w.past, slices.Clone(w.chain.links))
}

// Charges, groups, failing anchors, deaths, rollbacks, forks and other ledgers: whatever is refused
// and recovered counts everything that was ever released.
func TestNothingReleasedIsForgotten(t *testing.T) {
	recovered := 0
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt)
		w.every = rapid.SampledFrom([]uint64{1, 1, 2, 5}).Draw(rt, "every")
		w.chain = newTestChain("one")
		w.open()
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"charge", "charge", "charge", "charge", "close", "die", "roll back", "other"}).Draw(rt,
				"do") {
			case "charge":
				w.charge()
			case "close":
				w.place.Fail = nil
				if err := w.keeper.Close(ctx, w.chain.state); err != nil {
					rt.Fatal(err)
				}
				w.since, w.stored = 0, w.place.Stores
				if !w.keeper.isExact(w.chain.state, *w.place.Anchor) {
					rt.Fatalf("Close left %+v", w.place.Anchor)
				}
				w.open()
			case "die":
				w.open()
			case "roll back":
				links := rapid.SampledFrom(w.past).Draw(rt, "which")
				links = links[:rapid.IntRange(1, len(links)).Draw(rt, "to")]
				w.chain = replayed(slices.Clone(links))
				w.unkept()
				recovered++
				w.open()
			case "other":
				w.chain = newTestChain(fmt.Sprint("other ", len(w.past)))
				w.unkept()
				w.open()
			}
		}
	})
	if recovered == 0 {
		t.Error("nothing was ever rolled back")
	}
}

// With an anchor for every charge, and rolled back to what the trail knows, it is exactly what was
// released.
func TestRecoveryIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt)
		w.every = 1
		w.chain = newTestChain("one")
		w.open()
		for range rapid.IntRange(1, 200).Draw(rt, "charges") {
			r := w.chain.charge(rho(rapid.IntRange(1, 9).Draw(rt, "rho")), rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "account"))
			if err := w.keeper.Committed(ctx, w.chain.state, []*ledger.Record{r}); err != nil {
				rt.Fatal(err)
			}
			w.release(r)
			if rapid.IntRange(0, 49).Draw(rt, "dies") == 0 {
				w.open()
			}
		}
		to := rapid.SampledFrom(w.place.Anchor.Trail).Draw(rt, "to").Sequence
		if head, _ := w.chain.state.Head(); rapid.Bool().Draw(rt, "recent") {
			to = head - rapid.Uint64Range(1, min(head, densePositions)).Draw(rt, "age")
		}
		w.chain = replayed(slices.Clone(w.chain.links[:to+1]))
		w.open()
		for name, cost := range w.released {
			if got := w.chain.state.Accounts.Spent(name); got != cost {
				rt.Fatalf("%q counts %v; released was %v", name, got, cost)
			}
		}
	})
}

// What is wrong with a ledger is said precisely.
func TestProblems(t *testing.T) {
	place := &ledgertest.MemoryAnchor{LoadsAnyway: true}
	b := newTestChain("one")
	m := NewAnchorKeeper(place, 1)
	noError(t, m.Open(ctx, "x", nil, nil))
	noError(t, m.Open(ctx, "x", b.state, b.hashAt))
	for range 9 {
		noError(t, m.Committed(ctx, b.state, []*ledger.Record{b.charge(rho(1), "a")}))
	}
	fork := replayed(slices.Clone(b.links[:5]))
	for range 9 {
		fork.charge(rho(2), "b")
	}
	short := replayed(slices.Clone(fork.links[:8]))
	other := newTestChain("two")
	for _, c := range []struct {
		chain *testChain
		want  string
	}{
		{nil, "the ledger is missing, and had 9 records"},
		{replayed(b.links[:1]), "it ends at record 0 of 9"},
		{replayed(b.links[:9]), "it ends at record 8 of 9"},
		{fork, "its record 9 is a different one"},
		{short, "it ends at record 7 of 9, and has another history: its record 7 is a different one"},
		{other, "it is another ledger"},
		{b, ""},
	} {
		var state *State
		var hashAt func(uint64) (string, error)
		if c.chain != nil {
			state, hashAt = c.chain.state, c.chain.hashAt
		}
		_, _, err := m.Check(ctx, "x", state, hashAt)
		var refused *ledger.AnchorError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &refused) || !strings.Contains(refused.Problem, c.want)) {
			t.Errorf("got %v; want %q", err, c.want)
		}
	}
}

// An anchor of a ledger that was there before has its trail from the beginning on, in order.
func TestAdoptedTrail(t *testing.T) {
	place, b := &ledgertest.MemoryAnchor{LoadsAnyway: true}, newTestChain("one")
	for range 9 {
		b.charge(rho(1), "a")
	}
	noError(t, NewAnchorKeeper(place, 5).Open(ctx, "x", b.state, b.hashAt))
	if len(place.Anchor.Trail) != 9 {
		t.Errorf("%d positions; want 9", len(place.Anchor.Trail))
	}
	for i, p := range place.Anchor.Trail {
		if p.Sequence != uint64(i) || p.Hash != b.links[i].Hash {
			t.Errorf("position %d is %+v", i, p)
		}
	}
}

// A nil keeper does nothing.
func TestNoAnchorKeeper(t *testing.T) {
	var m *AnchorKeeper
	b := newTestChain("one")
	noError(t, m.Open(ctx, "x", nil, nil))
	noError(t, m.Open(ctx, "x", b.state, b.hashAt))
	noError(t, m.Committed(ctx, b.state, []*ledger.Record{b.charge(rho(1), "a")}))
	noError(t, m.Adopt(ctx, b.state, b.hashAt))
	noError(t, m.Close(ctx, b.state))
}

// An anchor is stored as rarely as its number allows where charges are alike, and at once where one
// is larger.
func TestAnchorsAreFew(t *testing.T) {
	place := &ledgertest.MemoryAnchor{LoadsAnyway: true}
	b, m := newTestChain("one"), NewAnchorKeeper(place, 10)
	noError(t, m.Open(ctx, "x", b.state, b.hashAt))
	charge := func(n int) int {
		before := place.Stores
		noError(t, m.Committed(ctx, b.state, []*ledger.Record{b.charge(rho(n), "a")}))
		return place.Stores - before
	}
	if charge(5) != 1 {
		t.Error("the first charge of an account was not anchored")
	}
	for range 9 {
		if charge(5) != 0 {
			t.Error("a charge like those before was anchored")
		}
	}
	if charge(5) != 1 {
		t.Error("the tenth was not")
	}
	if charge(5*9+1) != 1 {
		t.Error("one above the ceiling was not")
	}
	// Without charges nothing is done, unless an anchor is due.
	before := place.Stores
	noError(t, m.Committed(ctx, b.state, nil))
	place.Fail = errors.New("closed")
	if m.Committed(ctx, b.state, []*ledger.Record{b.charge(rho(1000), "a")}) == nil || m.Committed(ctx, b.state, nil) == nil {
		t.Error("an anchor that could not be stored was passed over")
	}
	place.Fail = nil
	noError(t, m.Committed(ctx, b.state, nil))
	noError(t, m.Committed(ctx, b.state, nil))
	if place.Stores != before+1 {
		t.Errorf("%d anchors; want 1", place.Stores-before)
	}
}

// The trail is dense at its end, reaches back to the beginning, and stays short.
func TestTrail(t *testing.T) {
	var grown trail
	for n := range uint64(1_000_000) {
		grown.add(ledger.Position{Sequence: n})
	}
	s := New()
	s.sequence = 999_999
	made, err := newTrail(s, func(uint64) (string, error) { return "", nil })
	noError(t, err)
	for name, tr := range map[string]trail{"grown": grown, "made": made} {
		if len(tr) > 300 {
			t.Errorf("%s: %d positions", name, len(tr))
		}
		if tr[0].Sequence > 120_000 || tr[len(tr)-1].Sequence != 999_999 {
			t.Errorf("%s: from %d to %d", name, tr[0].Sequence, tr[len(tr)-1].Sequence)
		}
		for i := range len(tr) - 1 {
			gap, age := tr[i+1].Sequence-tr[i].Sequence, 999_999-tr[i].Sequence
			if int64(gap) <= 0 || gap > max(1, age/7) {
				t.Errorf("%s: a gap of %d at age %d", name, gap, age)
			}
		}
		t.Logf("%s: %d positions", name, len(tr))
	}
	if got := grown.before(999_990); got[len(got)-1].Sequence != 999_989 {
		t.Errorf("before 999990: %v", got[len(got)-1])
	}
}

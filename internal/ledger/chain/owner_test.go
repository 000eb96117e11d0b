package chain

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/ledger"
)

var (
	owner    = ed25519.NewKeyFromSeed([]byte(strings.Repeat("o", ed25519.SeedSize)))
	stranger = ed25519.NewKeyFromSeed([]byte(strings.Repeat("s", ed25519.SeedSize)))
)

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

// enter applies an entry as it is read: encoded, decoded and checked.
func enter(t *testing.T, s *State, e ledger.Entry) {
	t.Helper()
	link, err := s.Entry(e, time.Unix(0, 0))
	noError(t, err)
	apply(t, s, link)
}

func apply(t *testing.T, s *State, links ...*Link) {
	t.Helper()
	for _, k := range links {
		var r ledger.Record
		noError(t, errors.Join(r.Read(k.Body, k.Hash, k.Record.AnswerHash), s.Check(&r)))
		s.Apply(&r, k.Hash)
	}
}

func begin(t *testing.T) *State {
	s := New()
	apply(t, s, First("test", time.Unix(0, 0)))
	return s
}

func charge(s *State, request string, window uint64, rho dp.Amount, limit dp.Amount) ([]*Link, error) {
	return s.Charge(ledger.Charge{
		Request: request, Dataset: "d", Window: window, Cost: dp.Cost{Epsilon: dp.Unbounded, Rho: rho, Delta: 0},
		Accounts: []ledger.Account{{Name: "d", Filter: account.ZCDPFilter(limit, 0)}},
	}, time.Unix(0, 0))
}

func TestPromise12GrantedByASignature(t *testing.T) {
	s := begin(t)
	topup := ledger.TopUp{Accounts: []string{"d"}, Amount: dp.Cost{Rho: 5}, Reason: "more", Signer: owner}
	var unsigned *ledger.SignatureError
	if _, err := s.Entry(topup, time.Unix(0, 0)); !errors.As(err, &unsigned) {
		t.Errorf("a ledger without an owner was topped up: %v", err)
	}
	enter(t, s, ledger.Owner{Public: public(owner), Reason: "first"})
	by := topup
	by.Signer = stranger
	if _, err := s.Entry(by, time.Unix(0, 0)); !errors.As(err, &unsigned) {
		t.Errorf("a stranger's signature counts: %v", err)
	}
	if _, err := charge(s, "r", 1, 12, 10); err == nil {
		t.Error("12 of 10 were admitted")
	}
	enter(t, s, topup)
	links, err := charge(s, "r", 1, 12, 10)
	noError(t, err)
	if b := links[0].Record.Balances[0]; b.Limit.Rho != 15 || b.Granted.Rho != 5 || b.Limit.Epsilon != dp.Unbounded {
		t.Errorf("got %+v", b)
	}
	apply(t, s, links...)
	if _, err := charge(s, "s", 1, 4, 10); err == nil {
		t.Error("16 of 15 were admitted")
	}
	// What a record says was granted has to have been.
	links, err = charge(s, "s", 1, 3, 10)
	noError(t, err)
	links[0].Record.Balances[0].Granted.Rho++
	if err := s.Check(links[0].Record); err == nil || !strings.Contains(err.Error(), "no top-up granted") {
		t.Errorf("got %v", err)
	}
}

// A signature fits one record only: not another amount, account, reason, place or ledger.
func TestPromise12ForgedTopUps(t *testing.T) {
	s := begin(t)
	enter(t, s, ledger.Owner{Public: public(owner), Reason: "first"})
	link, err := s.Entry(ledger.TopUp{Accounts: []string{"d"}, Amount: dp.Cost{Rho: 5}, Reason: "more", Signer: owner}, time.Unix(0, 0))
	noError(t, err)
	for name, forge := range map[string]func(*ledger.Record){
		"amount":    func(r *ledger.Record) { r.Cost.Rho++ },
		"account":   func(r *ledger.Record) { r.Accounts[0] = "e" },
		"accounts":  func(r *ledger.Record) { r.Accounts = append(r.Accounts, "e") },
		"reason":    func(r *ledger.Record) { r.Reason = "less" },
		"time":      func(r *ledger.Record) { r.Time = r.Time.Add(1) },
		"signature": func(r *ledger.Record) { r.Signature = "" },
		"spelling":  func(r *ledger.Record) { r.Signature = strings.ToUpper(r.Signature) },
		"signer": func(r *ledger.Record) {
			r.PublicKey = hex.EncodeToString(public(stranger))
			r.Signature = hex.EncodeToString(ed25519.Sign(stranger, r.Signed(s.Owner.decided.last)))
		},
	} {
		r := link.Record.Clone()
		forge(r)
		if err := s.Check(r); err == nil {
			t.Errorf("a forged %s was accepted", name)
		}
	}
	apply(t, s, link)
	again := link.Record.Clone()
	again.Sequence, again.Previous = s.sequence+1, s.hash
	if err := s.Check(again); err == nil {
		t.Error("a signature counted a second time")
	}
}

// What owners signed before November 2026 is of the record's own place: it counts there and nowhere
// else, and what is signed now is not read as one of those.
func TestPromise12SignedInPlace(t *testing.T) {
	s := begin(t)
	enter(t, s, ledger.Owner{Public: public(owner), Reason: "first"})
	link, err := s.Entry(ledger.TopUp{Accounts: []string{"d"}, Amount: dp.Cost{Rho: 5}, Reason: "more", Signer: owner}, time.Unix(0, 0))
	noError(t, err)
	old := link.Record.Clone()
	old.Signature = hex.EncodeToString(ed25519.Sign(owner, old.SignedInPlace()))
	if err := s.Check(old); err != nil {
		t.Errorf("what was signed in its place does not count there: %v", err)
	}
	byStranger := old.Clone()
	byStranger.Signature = hex.EncodeToString(ed25519.Sign(stranger, old.SignedInPlace()))
	if s.Check(byStranger) == nil {
		t.Error("a stranger's signature counts in its place")
	}
	if bytes.Equal(old.SignedInPlace(), old.Signed(s.Owner.decided.last)) {
		t.Error("one text is of a place and of a decision")
	}
	links, err := charge(s, "r", 1, 1, 10)
	noError(t, err)
	apply(t, s, links...)
	moved := old.Clone()
	moved.Sequence, moved.Previous = s.sequence+1, s.hash
	if s.Check(moved) == nil {
		t.Error("what was signed for one place counts in another")
	}
}

func TestPromise12OwnersFollowEachOther(t *testing.T) {
	s := begin(t)
	if link, err := s.Entry(ledger.Owner{Public: public(owner), Reason: "first", Signer: stranger}, time.Unix(0, 0)); err == nil {
		t.Errorf("the first owner was signed for: %v", link.Record)
	}
	enter(t, s, ledger.Owner{Public: public(owner), Reason: "first"})
	for _, signer := range []ed25519.PrivateKey{nil, stranger} {
		e := ledger.Owner{Public: public(stranger), Reason: "mine now"}
		if signer != nil {
			e.Signer = signer
		}
		if _, err := s.Entry(e, time.Unix(0, 0)); err == nil {
			t.Error("an owner was replaced without their signature")
		}
	}
	enter(t, s, ledger.Owner{Public: public(stranger), Reason: "sold", Signer: owner})
	if s.Owner.Key() != hex.EncodeToString(public(stranger)) {
		t.Errorf("the owner is %s", s.Owner.Key())
	}
	if _, err := s.Entry(ledger.TopUp{Accounts: []string{"d"}, Amount: dp.Cost{Rho: 5}, Reason: "more", Signer: owner},
		time.Unix(0, 0)); err == nil {
		t.Error("the owner before can still sign")
	}
}

func TestPromise4RenewalsBeginNewAccounts(t *testing.T) {
	s := begin(t)
	links, err := charge(s, "r", 1, 10, 10)
	noError(t, err)
	apply(t, s, links...)
	enter(t, s, ledger.Renewal{Dataset: "d", From: 1, Reason: "a new month"})
	if s.Window("d") != 2 || s.Window("e") != 1 || s.Accounts.Spent("d").Rho != 10 {
		t.Errorf("window %d, spent %v", s.Window("d"), s.Accounts.Spent("d"))
	}
	var window *ledger.WindowError
	for _, n := range []uint64{1, 3} {
		if _, err := charge(s, "s", n, 1, 100); !errors.As(err, &window) || window.Want != 2 {
			t.Errorf("a charge in window %d: %v", n, err)
		}
		if _, err := s.Entry(ledger.Renewal{Dataset: "d", From: n, Reason: "again"}, time.Unix(0, 0)); !errors.As(err, &window) {
			t.Errorf("window %d was renewed: %v", n, err)
		}
	}
	links, err = charge(s, "s", 2, 1, 100)
	noError(t, err)
	links[0].Record.Window = 1
	if s.Check(links[0].Record) == nil {
		t.Error("a record in a window that is over was accepted")
	}
}

func TestPromise13RecoveriesOnlyAdd(t *testing.T) {
	s := begin(t)
	links, err := charge(s, "r", 1, 10, 100)
	noError(t, err)
	apply(t, s, links...)
	recovery := func(rho dp.Amount) ledger.Recovery {
		return ledger.Recovery{Reason: "lost", Spent: []ledger.Balance{
			{Account: "d", Spent: dp.Cost{Epsilon: dp.Unbounded, Rho: rho, Delta: 0}},
			{Account: "new", Spent: dp.Cost{Epsilon: 1, Rho: 2, Delta: 3}},
		}}
	}
	if _, err := s.Entry(recovery(9), time.Unix(0, 0)); err == nil {
		t.Error("a recovery took back what was spent")
	}
	enter(t, s, recovery(60))
	if s.Accounts.Spent("d").Rho != 60 || s.Accounts.Spent("new").Delta != 3 {
		t.Errorf("spent %v and %v", s.Accounts.Spent("d"), s.Accounts.Spent("new"))
	}
	if _, err := charge(s, "s", 1, 41, 100); err == nil {
		t.Error("what was recovered can be spent again")
	}
}

func TestVersionsAreRecorded(t *testing.T) {
	s := begin(t)
	ask := func(request, version string) []*Link {
		t.Helper()
		links, err := s.Charge(ledger.Charge{
			Request: request, Dataset: "d", DataVersion: version, Window: 1, Cost: dp.Cost{Epsilon: dp.Unbounded, Rho: 1, Delta: 0},
			Accounts: []ledger.Account{{Name: "d", Filter: account.ZCDPFilter(100, 0)}},
		}, time.Unix(0, 0))
		noError(t, err)
		apply(t, s, links...)
		return links
	}
	for i, c := range []struct {
		version string
		want    int
	}{{"v1", 2}, {"v1", 1}, {"v2", 2}, {"v1", 2}, {"v1", 1}} {
		if got := len(ask(string(rune('a'+i)), c.version)); got != c.want {
			t.Errorf("charge %d on %s took %d records; want %d", i, c.version, got, c.want)
		}
	}
	// A charge cannot be about other data than the last version says.
	links, err := charge(s, "z", 1, 1, 100)
	noError(t, err)
	r := links[len(links)-1].Record
	r.Sequence, r.Previous = s.sequence+1, s.hash
	if s.Check(r) == nil {
		t.Error("a charge without its version was accepted")
	}
}

// Who lost the ledger has not become its owner, and a recovery is no way to become it.
func TestPromise12RecoveriesKeepTheOwner(t *testing.T) {
	anchor := ledger.Anchor{Owner: hex.EncodeToString(public(owner))}
	s := begin(t)
	enter(t, s, ledger.Recovery{Anchor: anchor, Reason: "lost"})
	if s.Owner.Key() != anchor.Owner {
		t.Errorf("the owner is %q", s.Owner.Key())
	}
	if _, err := s.Entry(ledger.Owner{Public: public(stranger), Reason: "mine"}, time.Unix(0, 0)); err == nil {
		t.Error("a stranger became the owner")
	}
	link, err := s.Entry(ledger.Recovery{Anchor: ledger.Anchor{Owner: hex.EncodeToString(public(stranger))}, Reason: "again"},
		time.Unix(0, 0))
	if err != nil || link.Record.PublicKey != "" {
		t.Errorf("got %+v, %v", link, err)
	}
	link.Record.PublicKey = hex.EncodeToString(public(stranger))
	if s.Check(link.Record) == nil {
		t.Error("a recovery made a stranger the owner")
	}
}

// decidedLedger is a ledger in which every kind of decision was made, between charges and an
// incident.
func decidedLedger(t *testing.T) (*State, []*Link) {
	t.Helper()
	s := New()
	var all []*Link
	add := func(links ...*Link) {
		t.Helper()
		apply(t, s, links...)
		all = append(all, links...)
	}
	enter := func(e ledger.Entry) {
		t.Helper()
		link, err := s.Entry(e, time.Unix(0, 0))
		noError(t, err)
		add(link)
	}
	ask := func(request string) uint64 {
		t.Helper()
		links, err := charge(s, request, s.Window("d"), 1, 100)
		noError(t, err)
		add(links...)
		return s.sequence
	}
	more := ledger.TopUp{Accounts: []string{"d"}, Amount: dp.Cost{Rho: 5}, Reason: "more", Signer: owner}
	add(First("test", time.Unix(0, 0)))
	enter(ledger.Owner{Public: public(owner), Reason: "first"})
	ask("a")
	enter(more)
	add(s.Incident(ledger.Incident{Analyst: "ana", Dataset: "d", Charge: ask("b"), Failure: ledger.FailedError, ByAnalyst: 2, ByDataset: 2},
		time.Unix(0, 0)))
	ask("c")
	enter(more)
	enter(ledger.Release{Dataset: "d", Reason: "looked at", Signer: owner})
	enter(ledger.Renewal{Dataset: "d", From: 1, Reason: "a month"})
	enter(ledger.Recovery{Reason: "lost"})
	ask("d")
	enter(more)
	add(s.Incident(ledger.Incident{Analyst: "ana", Dataset: "d", Charge: ask("e"), Failure: ledger.FailedError, ByAnalyst: 2, ByDataset: 2},
		time.Unix(0, 0)))
	return s, all
}

// What a signature has to follow is in a checkpoint, and a checkpoint that says another record, by
// which a signature would count twice, is not believed.
func TestPromise12CheckpointedDecisions(t *testing.T) {
	s, all := decidedLedger(t)
	var b bytes.Buffer
	noError(t, s.EncodeCheckpoint(&b))
	got, err := decodeCheckpoint(bytes.NewReader(b.Bytes()), int64(b.Len()))
	noError(t, err)
	for _, kind := range []ledger.Kind{ledger.KindTopUp, ledger.KindRelease} {
		if got.Owner.decided.before(kind) != s.Owner.decided.before(kind) {
			t.Errorf("a %s follows %v, and by the checkpoint %v", kind, s.Owner.decided.before(kind), got.Owner.decided.before(kind))
		}
	}
	last, seen := s.Owner.decided.last, s.Owner.decided.seen
	if last.Sequence != all[len(all)-3].Record.Sequence || seen.Sequence != all[len(all)-1].Record.Sequence {
		t.Errorf("a top-up follows %v, and a release %v", last, seen)
	}
	read := func(n uint64) (*ledger.Record, error) { return all[n].Record.Clone(), nil }
	noError(t, got.CheckSigned(read))
	for name, forge := range map[string]func(*decisions){
		"an earlier one":   func(d *decisions) { d.last = ledger.Position{Sequence: 1, Hash: all[1].Hash} },
		"one that is none": func(d *decisions) { d.all = slices.Insert(d.all, 1, 2) },
		"one left out":     func(d *decisions) { d.all = slices.Delete(d.all, 5, 6) },
		"none":             func(d *decisions) { d.all = nil },
	} {
		forged := got.Clone()
		forge(&forged.Owner.decided)
		if err := forged.CheckSigned(read); err == nil {
			t.Errorf("%s: it is believed", name)
		}
	}
}

// A record whose signature was used already, in whichever place, is refused when it is read.
func TestPromise12UsedSignatures(t *testing.T) {
	s, all := decidedLedger(t)
	for _, k := range all {
		if k.Record.Signature == "" {
			continue
		}
		again := k.Record.Clone()
		again.Sequence, again.Previous = s.sequence+1, s.hash
		if err := s.Check(again); err == nil {
			t.Errorf("the signature of record %d counted a second time", k.Record.Sequence)
		}
	}
}

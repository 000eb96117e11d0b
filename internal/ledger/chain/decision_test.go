package chain

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

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
		if err != nil {
			t.Fatal(err)
		}
		add(link)
	}
	ask := func(request string) uint64 {
		t.Helper()
		links, err := charge(s, request, s.Window("d"), 1, 100)
		if err != nil {
			t.Fatal(err)
		}
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
	if err := s.Checkpoint(&b); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCheckpoint(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
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
	if err := got.CheckSigned(read); err != nil {
		t.Fatal(err)
	}
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

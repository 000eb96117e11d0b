package replay

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/ledger"
)

// ask charges as an analyst, and returns the charge's sequence, or 0 where it is refused.
func (b *testChain) ask(dataset, analyst string) uint64 {
	links, err := b.state.Charge(ledger.Charge{
		Request: fmt.Sprint(len(b.records)), Analyst: analyst, Dataset: dataset, Query: strings.Repeat("0", 64), Window: 1,
		Cost: dp.Cost{Epsilon: 1, Rho: dp.Unbounded}, Accounts: []ledger.Account{{Name: dataset, Filter: account.PureFilter(1000)}},
	}, time.Unix(0, 0))
	if err != nil {
		b.refused++
		return 0
	}
	b.add(links...)
	n, _ := b.state.Head()
	return n
}

func (b *testChain) fail(i ledger.Incident) { b.add(b.state.Incident(i, time.Unix(0, 0))) }

func (b *testChain) note(session string) {
	link, err := b.state.Note(session, ledger.Hash("salted"), time.Unix(0, 0))
	if err != nil {
		panic(err)
	}
	b.add(link)
}

// failing makes a ledger of failures and releases.
func failing(seed uint64) *testChain {
	r := rand.New(rand.NewPCG(seed, 3))
	b := newTestChain()
	owner, owned := ownerKey(1), seed%2 == 0
	if owned {
		b.enter(ledger.Owner{Public: public(owner), Reason: "first"})
	}
	type open struct {
		charge           uint64
		dataset, analyst string
	}
	var all []open
	for range 60 {
		dataset, analyst := []string{"h", "s"}[r.IntN(2)], []string{"ana", "ben", "cy"}[r.IntN(3)]
		switch n := r.IntN(10); {
		case n < 5:
			if charge := b.ask(dataset, analyst); charge != 0 {
				all = append(all, open{charge, dataset, analyst})
			}
		case n < 7 && len(all) > 0:
			o := all[0]
			all = all[1:]
			if !b.state.Incidents.Withheld(o.charge) {
				b.add(b.state.Answer(o.charge, "key", ledger.Hash("42"), time.Unix(0, 0)))
			}
		case n == 7 && len(all) > 0:
			o := all[r.IntN(len(all))]
			b.fail(ledger.Incident{Analyst: o.analyst, Dataset: o.dataset, Charge: o.charge, Failure: ledger.Failures[r.IntN(4)],
				ByAnalyst: uint64(1 + r.IntN(2)), ByDataset: uint64(1 + r.IntN(4))})
		case n == 8 && r.IntN(4) == 0:
			b.fail(ledger.Incident{Dataset: dataset, Failure: ledger.FailedCrash, ByAnalyst: 1, ByDataset: uint64(1 + r.IntN(4))})
		case n == 9:
			e := ledger.Release{Dataset: dataset, Reason: "looked at it"}
			if owned {
				e.Signer = owner
			}
			if r.IntN(2) == 0 {
				e.Analyst = analyst
			}
			b.enter(e)
		}
	}
	return b
}

// What closes a dataset when a charge is made closes it when it is decided again.
func TestPromise16Agree(t *testing.T) {
	refused, withheld := 0, 0
	seeds, first := daily.Rounds(160, 400), uint64(daily.Choices(t).Below(1_000_000))
	for seed := first; seed < first+uint64(seeds); seed++ {
		b := failing(seed)
		p, differs := played(b.records)
		if len(differs) > 0 {
			t.Fatalf("seed %d: %v", seed, differs)
		}
		for _, dataset := range []string{"h", "s"} {
			for _, analyst := range []string{"", "ana", "ben", "cy"} {
				if got, want := p.isClosed(asker{dataset, analyst}), b.state.Incidents.Closed(dataset, analyst); got != want {
					t.Errorf("seed %d: %s is closed to %q: %v and %v", seed, dataset, analyst, got, want)
				} else if want {
					withheld++
				}
			}
		}
		refused += b.refused
	}
	if refused < 5*seeds/2 || withheld < seeds/4 {
		t.Errorf("only %d refusals, and %d datasets closed at the end", refused, withheld)
	}
}

// A charge or an answer of a closed dataset is a finding, and so is a release that the owner did
// not sign.
func TestPromise16Findings(t *testing.T) {
	failure := ledger.Incident{Analyst: "ana", Dataset: "h", Failure: ledger.FailedError, ByAnalyst: 1, ByDataset: 3}
	whole := func() (*testChain, []*ledger.Record) {
		b := newTestChain()
		b.enter(ledger.Owner{Public: public(ownerKey(1)), Reason: "first"})
		first := b.ask("h", "ana")
		b.ask("h", "ana")
		failure.Charge = first
		b.fail(failure)
		b.enter(ledger.Release{Dataset: "h", Reason: "fine", Signer: ownerKey(1)})
		b.ask("h", "ana")
		b.note(ledger.ChargeNotes(first))
		b.add(b.state.Answer(first, "key", ledger.Hash("42"), time.Unix(0, 0)))
		return b, b.records
	}
	_, records := whole()
	if _, differs := played(records); len(differs) > 0 {
		t.Fatalf("a good ledger differs: %v", differs)
	}
	find := func(kind ledger.Kind) int {
		for i, r := range records {
			if r.Kind == kind {
				return i
			}
		}
		t.Fatal("there is none")
		return 0
	}
	for name, c := range map[string]struct {
		change func()
		want   string
	}{
		"no release": {func() {
			at := find(ledger.KindRelease)
			records = append(records[:at:at], records[at+1:]...)
		}, `the charge was made while "h" was closed to "ana"`},
		"kept behind it": {func() {
			at := find(ledger.KindRelease)
			records = append(records[:at:at], records[at+3:]...)
		}, `the answer of charge 2 was kept while "h" was closed to "ana"`},
		"noted behind it": {func() {
			at := find(ledger.KindRelease)
			records = append(records[:at:at], records[at+2:]...)
		}, `the session of charge 2 went on while "h" was closed to "ana"`},
		"not signed":      {func() { records[find(ledger.KindRelease)].Signature = "" }, "the release is not signed by the owner"},
		"another's":       {func() { records[find(ledger.KindRelease)].Analyst = "ben" }, "the release is not signed by the owner"},
		"no such failure": {func() { records[find(ledger.KindIncident)].Failure = "tired" }, "there is no failure called"},
		"nobody's":        {func() { records[find(ledger.KindIncident)].Analyst = "" }, "the incident names no analyst"},
		"no such charge":  {func() { records[find(ledger.KindIncident)].Charge = 99 }, "which is not a charge"},
		"other dataset":   {func() { records[find(ledger.KindIncident)].Dataset = "s" }, "is not"},
	} {
		_, records = whole()
		c.change()
		if _, differs := played(records); !strings.Contains(strings.Join(differs, "\n"), c.want) {
			t.Errorf("%s: %q", name, differs)
		}
	}
}

// What was signed counts once, and not after another decision; a release not after another
// incident. What analysts cause in between does not matter.
func TestPromise12Follows(t *testing.T) {
	more := ledger.TopUp{Accounts: []string{"h"}, Amount: dp.Cost{Rho: 5}, Reason: "more", Signer: ownerKey(1)}
	release := ledger.Release{Dataset: "h", Reason: "fine", Signer: ownerKey(1)}
	renewal := ledger.Renewal{Dataset: "s", From: 1, Reason: "x"}
	failure := ledger.Incident{Analyst: "ana", Dataset: "h", Failure: ledger.FailedError, ByAnalyst: 3, ByDataset: 3}
	for name, c := range map[string]struct {
		signed  ledger.Entry
		between func(*testChain)
		want    string
	}{
		"questions, top-up":  {more, func(b *testChain) { b.ask("h", "ben"); b.note("a session") }, ""},
		"questions, release": {release, func(b *testChain) { b.ask("h", "ben"); b.note("a session") }, ""},
		"incident, top-up":   {more, func(b *testChain) { b.fail(failure) }, ""},
		"incident, release":  {release, func(b *testChain) { b.fail(failure) }, "the release is not signed"},
		"renewal, top-up":    {more, func(b *testChain) { b.enter(renewal) }, "the top-up is not signed"},
		"recovery, top-up":   {more, func(b *testChain) { b.enter(ledger.Recovery{Reason: "x"}) }, "the top-up is not signed"},
		"release, top-up":    {more, func(b *testChain) { b.enter(release) }, "the top-up is not signed"},
		"itself, top-up":     {more, func(b *testChain) { b.enter(more) }, "the top-up is not signed"},
		"itself, release":    {release, func(b *testChain) { b.enter(release) }, "the release is not signed"},
	} {
		b := newTestChain()
		b.enter(ledger.Owner{Public: public(ownerKey(1)), Reason: "first"})
		b.ask("h", "ana")
		b.fail(failure)
		k, err := b.state.Entry(c.signed, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		c.between(b)
		_, differs := played(append(b.records, k.Record))
		if found := strings.Join(differs, "\n"); c.want == "" && found != "" || !strings.Contains(found, c.want) {
			t.Errorf("%s: %q", name, found)
		}
	}
}

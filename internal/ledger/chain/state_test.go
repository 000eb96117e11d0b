package chain

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/ledger"
)

// begun returns a state with a first record, two charges and an answer to the first.
func begun(t *testing.T) *State {
	t.Helper()
	s := New()
	add := func(r *ledger.Record) {
		t.Helper()
		noError(t, s.Check(r))
		s.Apply(r, ledger.Hash(r.Encode()))
	}
	add(&ledger.Record{Kind: ledger.KindLedger, Time: time.Unix(0, 0), Identity: "test"})
	add(next(t, s, "first"))
	_, previous := s.Head()
	add(&ledger.Record{Kind: ledger.KindAnswer, Sequence: 2, Previous: previous, Charge: 1, Key: "key", AnswerHash: ledger.Hash("42")})
	add(next(t, s, "second"))
	return s
}

func next(t *testing.T, s *State, request string) *ledger.Record {
	t.Helper()
	links, err := s.Charge(ledger.Charge{
		Request: request, Window: 1, Cost: dp.Cost{Epsilon: dp.Unbounded, Rho: 10, Delta: 0},
		Accounts: []ledger.Account{{Name: "a", Filter: account.ZCDPFilter(100, 0)}, {Name: "b", Filter: account.ZCDPFilter(50, 0)}},
	}, time.Unix(0, 0))
	noError(t, err)
	return links[0].Record
}

// Every rule of the chain, broken once by a record that is otherwise good.
func TestCheckRefuses(t *testing.T) {
	s := begun(t)
	_, previous := s.Head()
	answer := func() *ledger.Record {
		return &ledger.Record{Kind: ledger.KindAnswer, Sequence: 4, Previous: previous, Charge: 3, Key: "key",
			AnswerHash: ledger.Hash("43")}
	}
	noError(t, s.Check(next(t, s, "third")))
	noError(t, s.Check(answer()))
	note := func() *ledger.Record {
		return &ledger.Record{Kind: ledger.KindNote, Sequence: 4, Previous: previous, Session: "s",
			AnswerHash: ledger.Hash("salt and secret")}
	}
	noError(t, s.Check(note()))
	for want, r := range map[string]*ledger.Record{
		"belongs to no session": change(note(), func(r *ledger.Record) { r.Session = "" }),
		"the note has no hash":  change(note(), func(r *ledger.Record) { r.AnswerHash = "" }),
		"number 5":              change(next(t, s, "third"), func(r *ledger.Record) { r.Sequence++ }),
		"continue":              change(next(t, s, "third"), func(r *ledger.Record) { r.Previous = strings.Repeat("0", 64) }),
		"charged twice":         next(t, s, "second"),
		"no account":            change(next(t, s, "third"), func(r *ledger.Record) { r.Balances = nil }),
		`"b" is not what`:       change(next(t, s, "third"), func(r *ledger.Record) { r.Balances[1].Spent.Rho-- }),
		`"a" is not what`:       change(next(t, s, "third"), func(r *ledger.Record) { r.Cost.Rho++ }),
		"overspent":             change(next(t, s, "third"), func(r *ledger.Record) { r.Balances[1].Limit.Rho = 29 }),
		`"a" is charged twice`:  change(next(t, s, "third"), func(r *ledger.Record) { r.Balances[1] = r.Balances[0] }),
		"begins only once":      {Kind: ledger.KindLedger, Sequence: 4, Previous: previous},
		"paid for by charge 0":  change(answer(), func(r *ledger.Record) { r.Charge = 0 }),
		"paid for by charge 1":  change(answer(), func(r *ledger.Record) { r.Charge = 1 }),
		"paid for by charge 2":  change(answer(), func(r *ledger.Record) { r.Charge = 2 }),
		"paid for by charge 4":  change(answer(), func(r *ledger.Record) { r.Charge = 4 }),
		"paid for by charge 18": change(answer(), func(r *ledger.Record) { r.Charge = 1<<64 - 1 }),
	} {
		if err := s.Check(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want %s", err, want)
		}
	}
	if err := New().Check(next(t, s, "third")); err == nil {
		t.Error("a ledger began with a charge")
	}
}

func change(r *ledger.Record, f func(*ledger.Record)) *ledger.Record {
	f(r)
	return r
}

func TestBalances(t *testing.T) {
	s := begun(t)
	for i, b := range s.Accounts.All() {
		if b.Account != fmt.Sprintf("%c", 'a'+i) || b.Spent.Rho != 20 || b.Spent.Epsilon != dp.Unbounded {
			t.Errorf("got %+v", b)
		}
	}
	if n, ok := s.Charges.Key("key"); n != 2 || !ok {
		t.Errorf("got %d, %v", n, ok)
	}
}

// A clone whose indexes are not in order yet is taken over as a whole.
func TestSettle(t *testing.T) {
	x := newIndex(0)
	for i := range byte(10) {
		x.add(digest{i}, uint64(i))
	}
	clone := x
	clone.since = maps.Clone(x.since)
	x.add(digest{10}, 10)
	x.settle(clone, 9)
	for i := range byte(11) {
		if n, ok := x.find(digest{i}); !ok || n != uint64(i) {
			t.Errorf("%d is forgotten", i)
		}
	}
}

func (s *State) mustAdd(t *testing.T, k *Link, err error) {
	t.Helper()
	if err == nil {
		err = s.Check(k.Record)
	}
	noError(t, err)
	s.Apply(k.Record, k.Hash)
}

func (s *State) mustNote(t *testing.T, session string) {
	t.Helper()
	k, err := s.Note(session, ledger.Hash("salt and secret"), time.Unix(0, 0))
	s.mustAdd(t, k, err)
}

// What is returned of a session does not change when it goes on.
func TestNotes(t *testing.T) {
	s := begun(t) // three records after the first
	var first []uint64
	for i := range 100 {
		s.mustNote(t, fmt.Sprint(i%3))
		if i == 50 {
			first, _ = s.Notes.Of("0")
		}
	}
	got, err := s.Notes.Of("0")
	if err != nil || len(got) != 34 || got[0] != 4 || got[1] != 7 || got[33] != 103 || !slices.Equal(first, got[:len(first)]) {
		t.Errorf("%v, %v", got, err)
	}
	if cap(first) != len(first) {
		t.Error("who appends to what was returned writes into the session")
	}
	if spent := s.Accounts.Spent("a"); spent.Rho != 20 {
		t.Errorf("notes spent something: %v", spent)
	}
}

// A recovery ends all sessions, and what was charged before it gets no answer any more.
func TestEra(t *testing.T) {
	s := begun(t)
	s.mustNote(t, "before")
	if s.Notes.Era() != "" || s.Notes.Before(3) {
		t.Errorf("the era is %q", s.Notes.Era())
	}
	eras := map[string]bool{"": true}
	for i := range 3 {
		k, err := s.Entry(ledger.Recovery{Anchor: ledger.Anchor{Sequence: 9, Hash: "h"}, Reason: "lost"}, time.Unix(0, 0))
		s.mustAdd(t, k, err)
		if eras[s.Notes.Era()] || s.Notes.Era() != k.Hash || !s.Notes.Before(3) {
			t.Errorf("the era is %q", s.Notes.Era())
		}
		eras[s.Notes.Era()] = true
		for _, over := range []string{"before", fmt.Sprint(i - 1)} {
			if over == "-1" {
				continue
			}
			if _, err := s.Notes.Of(over); !errors.Is(err, ledger.ErrEra) {
				t.Errorf("%s goes on: %v", over, err)
			}
			if _, err := s.Note(over, ledger.Hash("x"), time.Unix(0, 0)); !errors.Is(err, ledger.ErrEra) {
				t.Errorf("%s goes on: %v", over, err)
			}
			_, previous := s.Head()
			n, _ := s.Head()
			if err := s.Check(&ledger.Record{Kind: ledger.KindNote, Sequence: n + 1, Previous: previous, Session: over,
				AnswerHash: "h"}); err == nil {
				t.Errorf("%s goes on in the chain", over)
			}
		}
		s.mustNote(t, fmt.Sprint(i))
		if n, err := s.Notes.Of(fmt.Sprint(i)); err != nil || len(n) != 1 {
			t.Errorf("%v, %v", n, err)
		}
	}
}

// TestDataVersion: versions are numbered in the order in which they come first, by dataset.
func TestDataVersion(t *testing.T) {
	s := begun(t)
	enter := func(dataset, label, state string) {
		t.Helper()
		link := s.link(&ledger.Record{Kind: ledger.KindVersion, Dataset: dataset,
			DataVersion: s.DataVersion(dataset, label, state).String()})[0]
		noError(t, s.Check(link.Record))
		s.Apply(link.Record, link.Hash)
	}
	wants := func(dataset, label, state string, number, since uint64) {
		t.Helper()
		if v := s.DataVersion(dataset, label, state); v.Number != number || v.Since != since || len(v.ID) != 32 || v.Label != label {
			t.Errorf("%+v; want %d since %d", v, number, since)
		}
	}
	wants("d", "", "A", 0, 0)
	enter("d", "", "A")
	enter("e", "", "A")
	enter("d", "", "B")
	enter("d", "", "A")
	enter("d", "monday", "C")
	wants("d", "", "A", 1, 8)
	wants("d", "", "B", 2, 8)
	wants("d", "monday", "C", 3, 8)
	wants("d", "", "C", 0, 8)
	wants("d", "", "D", 0, 8)
	wants("e", "", "A", 1, 5)
	wants("e", "", "B", 0, 5)
	if s.DataVersion("d", "", "A").ID == s.DataVersion("e", "", "A").ID ||
		s.DataVersion("d", "", "A").ID == s.DataVersion("d", "", "B").ID {
		t.Error("two versions have one name")
	}
	if ledger.VersionID("one", "d", "A") == ledger.VersionID("two", "d", "A") {
		t.Error("the key does not count")
	}
}

package chain

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

func (s *State) mustAdd(t *testing.T, k *Link, err error) {
	t.Helper()
	if err == nil {
		err = s.Check(k.Record)
	}
	if err != nil {
		t.Fatal(err)
	}
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

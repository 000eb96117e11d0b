package chain

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

// Note returns the record of a note of a session, whose hash is given with its salt. It returns
// [ledger.ErrEra] where the session began in an era that is over.
func (s *State) Note(session, noteHash string, now time.Time) (*Link, error) {
	if s.ended(session) {
		return nil, ledger.ErrEra
	}
	return s.link(&ledger.Record{Kind: ledger.KindNote, Time: now, Session: session, AnswerHash: noteHash})[0], nil
}

// Notes returns the sequences of a session's notes, rising, in memory that does not change.
func (s *State) Notes(session string) ([]uint64, error) {
	if _, always := ledger.NotesProtected(session); s.ended(session) && !always {
		return nil, ledger.ErrEra
	}
	n := s.notes[session]
	return n[:len(n):len(n)], nil
}

// Anchored reports whether the ledger says of itself that it has an anchor, and was not said to
// have given it up since.
func (s *State) Anchored() bool { return s.anchored }

// findAnchor finds out what the last note about an anchor says, and which notes say whom charges
// protect.
func (s *State) findAnchor() {
	last := uint64(0)
	for session, notes := range s.notes {
		if anchored, says := ledger.NotesAnchor(session); says && notes[len(notes)-1] > last {
			s.anchored, last = anchored, notes[len(notes)-1]
		}
		if _, protects := ledger.NotesProtected(session); protects {
			s.protects = append(s.protects, notes...)
		}
	}
	slices.Sort(s.protects)
}

// Era returns the hash of the last recovery, or nothing.
func (s *State) Era() string { return s.era }

// Before reports whether a record is from before the last recovery, so that what came of it may be
// among what was lost.
func (s *State) Before(sequence uint64) bool { return sequence < s.eraBegan }

// ended reports whether a session began before the last recovery.
func (s *State) ended(session string) bool {
	n := s.notes[session]
	return len(n) > 0 && s.Before(n[0])
}

func (s *State) checkNote(r *ledger.Record) error {
	switch {
	case r.Session == "":
		return errors.New("the note is of no session")
	case r.AnswerHash == "":
		return errors.New("the note has no hash")
	case s.ended(r.Session):
		return errors.New("the note is of a session that ended with the last recovery")
	}
	return nil
}

// note adds a note to its session. The name was cut out of a record; a copy lets go of the rest.
func (s *State) note(r *ledger.Record) {
	if anchored, says := ledger.NotesAnchor(r.Session); says {
		s.anchored = anchored
	}
	if _, protects := ledger.NotesProtected(r.Session); protects {
		s.protects = append(s.protects, r.Sequence)
	}
	n, ok := s.notes[r.Session]
	if !ok {
		s.notes[strings.Clone(r.Session)] = []uint64{r.Sequence}
		return
	}
	if len(n) == cap(n) {
		n = slices.Grow(n, len(n)/4+4) // a quarter to spare, and not as much again
	}
	s.notes[r.Session] = append(n, r.Sequence)
}

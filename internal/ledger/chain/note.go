package chain

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/ledger"
)

// Notes are those of sessions, and the era that they belong to.
type Notes struct {
	bySession map[string][]uint64 // rising
	protects  []uint64            // notes that say whom charges protect, rising
	anchored  bool                // the last note about an anchor says that there is one
	era       string              // the hash of the last recovery
	eraBegan  uint64              // and its sequence
}

func (x *Notes) clone() Notes {
	out := *x // notes are only appended to
	out.bySession, out.protects = maps.Clone(x.bySession), slices.Clone(x.protects)
	return out
}

// Of returns the sequences of a session's notes, rising, in memory that does not change.
func (x *Notes) Of(session string) ([]uint64, error) {
	if _, always := ledger.NotesProtected(session); x.ended(session) && !always {
		return nil, ledger.ErrEra
	}
	n := x.bySession[session]
	return n[:len(n):len(n)], nil
}

// Anchored reports whether the ledger says of itself that it has an anchor, and was not said to
// have given it up since.
func (x *Notes) Anchored() bool { return x.anchored }

// findAnchor finds out what the last note about an anchor says, and which notes say whom charges
// protect.
func (x *Notes) findAnchor() {
	last := uint64(0)
	for session, notes := range x.bySession {
		if anchored, says := ledger.NotesAnchor(session); says && notes[len(notes)-1] > last {
			x.anchored, last = anchored, notes[len(notes)-1]
		}
		if _, protects := ledger.NotesProtected(session); protects {
			x.protects = append(x.protects, notes...)
		}
	}
	slices.Sort(x.protects)
}

// Era returns the hash of the last recovery, or nothing.
func (x *Notes) Era() string { return x.era }

// Before reports whether a record is from before the last recovery, so that what came of it may be
// among what was lost.
func (x *Notes) Before(sequence uint64) bool { return sequence < x.eraBegan }

// ended reports whether a session began before the last recovery.
func (x *Notes) ended(session string) bool {
	n := x.bySession[session]
	return len(n) > 0 && x.Before(n[0])
}

func (x *Notes) check(r *ledger.Record) error {
	switch {
	case r.Session == "":
		return errors.New("the note belongs to no session")
	case r.AnswerHash == "":
		return errors.New("the note has no hash")
	case x.ended(r.Session):
		return errors.New("the note belongs to a session that ended with the last recovery")
	}
	return nil
}

// add adds a note to its session. The name was cut out of a record; a copy lets go of the rest.
func (x *Notes) add(r *ledger.Record) {
	if anchored, says := ledger.NotesAnchor(r.Session); says {
		x.anchored = anchored
	}
	if _, protects := ledger.NotesProtected(r.Session); protects {
		x.protects = append(x.protects, r.Sequence)
	}
	n, ok := x.bySession[r.Session]
	if !ok {
		x.bySession[strings.Clone(r.Session)] = []uint64{r.Sequence}
		return
	}
	if len(n) == cap(n) {
		n = slices.Grow(n, len(n)/4+4) // a quarter to spare, and not as much again
	}
	x.bySession[r.Session] = append(n, r.Sequence)
}

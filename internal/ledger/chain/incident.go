package chain

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

// Incident returns the record of an incident that was validated. It changes nothing.
func (s *State) Incident(i ledger.Incident, now time.Time) *Link {
	return s.link(&ledger.Record{
		Kind: ledger.KindIncident, Time: now, Charge: i.Charge, Analyst: i.Analyst, Dataset: i.Dataset, Failure: i.Failure,
		ByAnalyst: i.ByAnalyst, ByDataset: i.ByDataset,
	})[0]
}

// Door returns the door of a dataset to an analyst.
func (s *State) Door(dataset, analyst string) ledger.Door { return s.doors.Door(dataset, analyst) }

// Closed reports whether the door of a dataset is closed to an analyst.
func (s *State) Closed(dataset, analyst string) bool { return s.doors.Closed(dataset, analyst) }

// Withheld reports whether the answer of a charge may not be kept, because the door has closed
// since.
func (s *State) Withheld(charge uint64) bool {
	who, ok := s.asked.find(charge)
	return ok && s.doors.Closed(who.dataset, who.analyst)
}

// DatasetOf returns which dataset a charge is about.
func (s *State) DatasetOf(charge uint64) string {
	who, _ := s.asked.find(charge)
	return who.dataset
}

// Failed reports whether a charge has an incident.
func (s *State) Failed(charge uint64) bool { return s.failed[charge] }

// Underway returns what processes may be doing, with its dataset: the charges without an answer,
// the notes that they are computed anew, and the notes that questions of sessions reach the engine.
func (s *State) Underway() map[uint64]string {
	all := map[uint64]string{}
	for charge, answer := range s.paid {
		if who, ok := s.asked.find(uint64(charge)); ok && answer == 0 && !s.sessions[uint64(charge)] {
			all[uint64(charge)] = who.dataset
			for _, n := range s.notes[ledger.Reruns(uint64(charge))] {
				all[n] = who.dataset
			}
		}
	}
	for _, who := range s.asked.all {
		for _, n := range s.notes[ledger.Began(who.dataset, s.era)] {
			all[n] = who.dataset
		}
	}
	return all
}

// Unanswered returns the datasets that have a charge without an answer, or of which questions of
// sessions reached the engine since the last crash, sorted.
func (s *State) Unanswered() []string {
	all := map[string]bool{}
	for n, dataset := range s.Underway() {
		if _, charge := s.AnswerOf(n); charge || n > s.crashed[dataset] {
			all[dataset] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// incident adds an incident or a release.
func (s *State) incident(r *ledger.Record) {
	s.doors.Apply(r)
	if r.Kind == ledger.KindIncident && r.Charge != 0 {
		s.failed[r.Charge] = true
	}
	if r.Kind == ledger.KindIncident && r.Failure == ledger.FailedCrash {
		s.crashed[strings.Clone(r.Dataset)] = r.Sequence
	}
}

func (s *State) checkIncident(r *ledger.Record) error {
	if err := (ledger.Incident{Analyst: r.Analyst, Dataset: r.Dataset, Charge: r.Charge, Failure: r.Failure, ByAnalyst: r.ByAnalyst,
		ByDataset: r.ByDataset}).Validate(); err != nil {
		return fmt.Errorf("the incident is none: %w", err)
	}
	if r.Charge == 0 {
		return nil
	}
	if who, ok := s.asked.find(r.Charge); !ok || who.dataset != r.Dataset {
		return fmt.Errorf("the incident names record %d, which is no charge for %q", r.Charge, r.Dataset)
	}
	return nil
}

// checkRelease returns an error unless a release is the owner's: signed, where the ledger has one.
func (s *State) checkRelease(r *ledger.Record) error {
	switch {
	case s.owner == "" && (r.PublicKey != "" || r.Signature != ""):
		return errors.New("the ledger has no owner whose signature would count: release it without a key")
	case s.owner == "":
		return nil
	case r.PublicKey == "":
		return errors.New("the ledger has an owner: a release takes the owner's key")
	case r.PublicKey != s.owner:
		return errors.New("the key is not that of the ledger's owner")
	}
	return s.signedByOwner(r)
}

// askers know who made each charge, in four bytes a record.
type askers struct {
	by    []uint32 // by sequence: a place in all, from 1 on; 0 is no charge
	all   []asker
	place map[asker]uint32
}

// asker is who asks about what.
type asker struct{ dataset, analyst string }

func (a *askers) add(r *ledger.Record) {
	who := asker{r.Dataset, r.Analyst}
	n, ok := a.place[who]
	if !ok {
		// The names were cut out of a record; copies let go of the rest.
		who = asker{strings.Clone(r.Dataset), strings.Clone(r.Analyst)}
		if a.all = append(a.all, who); a.place == nil {
			a.place = map[asker]uint32{}
		}
		n = uint32(len(a.all))
		a.place[who] = n
	}
	if missing := int(r.Sequence) + 1 - len(a.by); missing > 0 {
		a.by = append(slices.Grow(a.by, missing), make([]uint32, missing)...)
	}
	a.by[r.Sequence] = n
}

func (a *askers) find(charge uint64) (asker, bool) {
	if charge >= uint64(len(a.by)) || a.by[charge] == 0 {
		return asker{}, false
	}
	return a.all[a.by[charge]-1], true
}

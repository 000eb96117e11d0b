package chain

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/ledger"
)

// State is what follows from a chain: what was spent, which requests were
// charged, and where the answers are. It is computed from the records and from
// nothing else, so there is no second copy that could disagree with them.
//
// A State is not safe for concurrent use.
type State struct {
	Accounts  Accounts
	Charges   Charges
	Notes     Notes
	Incidents Incidents
	Owner     Owner
	Blocks    blocks

	identity string            // of the ledger
	hash     string            // of the last record; empty before the first
	sequence uint64            // of the last record
	windows  map[string]uint64 // renewals, by dataset
	renewed  uint64            // the sequence of the last renewal of any
	versions dataVersions
	unread   uint64 // the last record that a checkpoint stands for
}

// New returns the state of a chain without records.
func New() *State { return NewFor(0) }

// NewFor returns the state of a chain without records that will have about so many.
func NewFor(records int64) *State {
	return &State{
		Accounts: newAccounts(), Charges: newCharges(records), Incidents: newIncidents(), Notes: Notes{bySession: map[string][]uint64{}},
		windows: map[string]uint64{}, versions: dataVersions{},
	}
}

// Identity returns what tells this ledger from all others.
func (s *State) Identity() string { return s.identity }

// Fingerprint names this ledger to those who must not know its identity.
func (s *State) Fingerprint() string { return ledger.Hash(s.identity) }

// Head returns the sequence and the hash of the last record.
func (s *State) Head() (uint64, string) { return s.sequence, s.hash }

// Window returns the number of the current window of a dataset, from 1 on.
func (s *State) Window(dataset string) uint64 { return s.windows[dataset] + 1 }

// Check returns an error unless the record can be the next one. It is both what is
// asked before a record is written and what an auditor asks of one that was read,
// so nothing is written that would not be read again.
func (s *State) Check(r *ledger.Record) error {
	if s.hash == "" {
		if r.Kind != ledger.KindLedger || r.Sequence != 0 {
			return errors.New("a ledger does not begin with this record")
		}
		return nil
	}
	if r.Sequence != s.sequence+1 {
		return fmt.Errorf("the record says that it is number %d", r.Sequence)
	}
	if r.Previous != s.hash {
		return errors.New("the record does not continue the one before")
	}
	switch r.Kind {
	case ledger.KindCharge:
		return s.checkCharge(r)
	case ledger.KindAnswer:
		if answer, ok := s.Charges.AnswerOf(r.Charge); !ok || answer != 0 {
			return fmt.Errorf("the answer is not paid for by charge %d", r.Charge)
		}
		if s.Incidents.Withheld(r.Charge) {
			return fmt.Errorf("the answer of charge %d was kept while its dataset was closed", r.Charge)
		}
		return nil
	case ledger.KindNote:
		return s.Notes.check(r)
	case ledger.KindIncident:
		return s.Incidents.check(r)
	}
	return s.checkEntry(r)
}

func (s *State) checkCharge(r *ledger.Record) error {
	if _, ok := s.Charges.Request(r.Request); ok {
		return fmt.Errorf("the request %q is charged twice", r.Request)
	}
	if len(r.Balances) == 0 {
		return errors.New("the charge names no account")
	}
	if s.Incidents.Closed(r.Dataset, r.Analyst) {
		return fmt.Errorf("the charge was made while %q was closed to %q", r.Dataset, r.Analyst)
	}
	if r.Window != s.Window(r.Dataset) {
		return fmt.Errorf("the charge is in window %d of %q, and the current one is %d", r.Window, r.Dataset, s.Window(r.Dataset))
	}
	if r.DataVersion != s.versions.last(r.Dataset) {
		return fmt.Errorf("the charge is about other data of %q than the last record of its version", r.Dataset)
	}
	return s.Accounts.check(r)
}

// Apply adds a record that was checked. It keeps nothing of the record's memory.
func (s *State) Apply(r *ledger.Record, hash string) {
	s.sequence, s.hash = r.Sequence, hash
	s.Charges.answerOf = append(s.Charges.answerOf, noCharge)
	s.Blocks.add(hash)
	s.Owner.decided.add(r, hash)
	switch r.Kind {
	case ledger.KindLedger:
		s.identity = strings.Clone(r.Identity)
	case ledger.KindCharge:
		s.Charges.addCharge(r)
		s.Incidents.addCharge(r)
		s.Accounts.begin(r.Balances)
		s.Accounts.set(r.Balances)
	case ledger.KindAnswer:
		s.Charges.addAnswer(r)
	case ledger.KindVersion:
		s.versions.add(r)
	case ledger.KindRenewal:
		s.windows[strings.Clone(r.Dataset)]++
		s.renewed = r.Sequence
	case ledger.KindOwner:
		s.Owner.key = strings.Clone(r.PublicKey)
	case ledger.KindTopUp:
		s.Accounts.grant(r.Accounts, r.Cost)
	case ledger.KindNote:
		s.Notes.add(r)
	case ledger.KindIncident, ledger.KindRelease:
		s.Incidents.add(r)
	case ledger.KindRecovery:
		s.Notes.era, s.Notes.eraBegan = strings.Clone(hash), r.Sequence
		if r.PublicKey != "" {
			s.Owner.key = strings.Clone(r.PublicKey)
		}
		s.Accounts.recover(r.Balances)
	}
}

// Lapsed reports whether the window of a charge has ended. What was not written down for it by then
// never will be: the account of that window paid, and those who are asked to pay in the next one
// have not.
//
// Check does not ask this of an answer that it reads. Ledgers from before this rule hold answers to
// charges of an earlier window, and are good ledgers in every other way; package replay is who
// tells of them.
func (s *State) Lapsed(charge *ledger.Record) bool { return charge.Window != s.Window(charge.Dataset) }

// MayLapse reports whether any window has ended since a record. Where none has, its charge need not
// be read.
func (s *State) MayLapse(sequence uint64) bool { return sequence < s.renewed }

// Underway returns what processes may be doing, with its dataset: the charges without an answer,
// the notes that they are computed anew, and the notes that questions of sessions reach the engine.
func (s *State) Underway() map[uint64]string {
	all := map[uint64]string{}
	for charge, answer := range s.Charges.answerOf {
		if who, ok := s.Incidents.asked.find(uint64(charge)); ok && answer == 0 && !s.Incidents.sessions[uint64(charge)] {
			all[uint64(charge)] = who.dataset
			for _, n := range s.Notes.bySession[ledger.Reruns(uint64(charge))] {
				all[n] = who.dataset
			}
		}
	}
	for _, who := range s.Incidents.asked.all {
		for _, n := range s.Notes.bySession[ledger.Began(who.dataset, s.Notes.era)] {
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
		if _, charge := s.Charges.AnswerOf(n); charge || n > s.Incidents.crashed[dataset] {
			all[dataset] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// dataVersions are those of the data, by dataset.
type dataVersions map[string]versions

// versions are those of one dataset's data.
type versions struct {
	last    string // of the last charge
	since   uint64 // where it was recorded
	numbers map[digest]uint64
}

func (all dataVersions) last(dataset string) string { return all[dataset].last }

func (all dataVersions) add(r *ledger.Record) {
	v := all[r.Dataset]
	if v.numbers == nil {
		v.numbers = map[digest]uint64{}
	}
	if d := digestOf(r.DataVersion); v.numbers[d] == 0 {
		v.numbers[d] = uint64(len(v.numbers)) + 1
	}
	v.last, v.since = strings.Clone(r.DataVersion), r.Sequence
	all[strings.Clone(r.Dataset)] = v
}

func (all dataVersions) clone() dataVersions {
	out := make(dataVersions, len(all))
	for name, v := range all {
		v.numbers = maps.Clone(v.numbers)
		out[name] = v
	}
	return out
}

// DataVersion returns what is known of a state of a dataset's data.
func (s *State) DataVersion(dataset, label, state string) ledger.Version {
	v := ledger.Version{ID: ledger.VersionID(s.identity, dataset, state), Label: label}
	known := s.versions[dataset]
	v.Number, v.Since = known.numbers[digestOf(v.String())], known.since
	v.Current, v.Window = v.Number > 0 && known.last == v.String(), s.Window(dataset)
	return v
}

package chain

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// State is what follows from a chain: what was spent, which requests were
// charged, and where the answers are. It is computed from the records and from
// nothing else, so there is no second copy that could disagree with them.
//
// A State is not safe for concurrent use.
type State struct {
	identity string // of the ledger
	hash     string // of the last record; empty before the first
	sequence uint64 // of the last record
	spent    map[string]*ledger.Balance
	granted  map[string]dp.Cost  // what top-ups added, by account
	first    map[string]dp.Cost  // the limit of an account at its first charge
	windows  map[string]uint64   // renewals, by dataset
	renewed  uint64              // the sequence of the last renewal of any
	versions map[string]versions // of the data, by dataset
	owner    string              // whose signature counts
	requests index               // the charge of a request
	paid     []uint64            // by sequence: the answer of a charge, 0 where there is none yet, or noCharge
	keys     index               // the first answer under a key
	notes    map[string][]uint64 // by session, rising
	protects []uint64            // notes that say whom charges protect, rising
	anchored bool                // the last note about an anchor says that there is one
	era      string              // the hash of the last recovery
	eraBegan uint64              // and its sequence
	answers  uint64
	charges  uint64
	doors    ledger.Doors
	asked    askers
	failed   map[uint64]bool   // charges with an incident
	sessions map[uint64]bool   // charges that pay for a session
	crashed  map[string]uint64 // the last crash of a dataset
	blocks   blocks
	decided  decisions
	unread   uint64 // the last record that a checkpoint stands for

	// The last text of which a digest was wanted: the same one is wanted when a charge is looked
	// up, checked and applied.
	text   string
	digest digest
}

// noCharge stands for a record that is not a charge.
const noCharge = math.MaxUint64

// digest stands for a request or a key. Keeping half of a SHA-256 instead of the
// text bounds the memory for each record. A caller compares the text in the
// record that it finds.
type digest [16]byte

func (s *State) digestOf(text string) digest {
	if s.text != text || text == "" {
		h := sha256.Sum256([]byte(text))
		s.text, s.digest = text, digest(h[:16])
	}
	return s.digest
}

// New returns the state of a chain without records.
func New() *State { return NewFor(0) }

// NewFor returns the state of a chain without records that will have about so many.
func NewFor(records int64) *State {
	return &State{
		spent:    map[string]*ledger.Balance{},
		granted:  map[string]dp.Cost{},
		first:    map[string]dp.Cost{},
		windows:  map[string]uint64{},
		versions: map[string]versions{},
		requests: newIndex(records),
		paid:     make([]uint64, 0, records),
		keys:     newIndex(0),
		notes:    map[string][]uint64{},
		failed:   map[uint64]bool{},
		sessions: map[uint64]bool{},
		crashed:  map[string]uint64{},
	}
}

// Identity returns what tells this ledger from all others.
func (s *State) Identity() string { return s.identity }

// Fingerprint names this ledger to those who must not know its identity.
func (s *State) Fingerprint() string { return ledger.Hash(s.identity) }

// Head returns the sequence and the hash of the last record.
func (s *State) Head() (uint64, string) { return s.sequence, s.hash }

// Charges and Answers return how many there are.
func (s *State) Charges() uint64 { return s.charges }
func (s *State) Answers() uint64 { return s.answers }

// Window returns the number of the current window of a dataset, from 1 on.
func (s *State) Window(dataset string) uint64 { return s.windows[dataset] + 1 }

// Owner returns the public key whose signature counts, in hexadecimal, or nothing.
func (s *State) Owner() string { return s.owner }

// Spent returns what was spent in an account.
func (s *State) Spent(account string) dp.Cost {
	if b := s.spent[account]; b != nil {
		return b.Spent
	}
	return dp.Cost{}
}

// Balance returns the balance of an account, with what top-ups added to its limit.
func (s *State) Balance(a ledger.Account) ledger.Balance {
	granted := s.granted[a.Name]
	return ledger.Balance{Account: a.Name, Limit: a.Filter.Limit().Add(granted), Granted: granted, Spent: s.Spent(a.Name)}
}

// First returns the limit of an account at its first charge; see [ledger.Balance].
func (s *State) First(account string) dp.Cost { return s.first[account] }

// Balances returns the balance of every account ever charged, by name, with the
// limit of its last charge.
func (s *State) Balances() []ledger.Balance {
	all := make([]ledger.Balance, 0, len(s.spent))
	for _, b := range s.spent {
		all = append(all, *b)
	}
	slices.SortFunc(all, func(a, b ledger.Balance) int { return cmp.Compare(a.Account, b.Account) })
	return all
}

// Request returns the sequence of the charge of a request.
func (s *State) Request(request string) (uint64, bool) {
	return s.requests.find(s.digestOf(request))
}

// Key returns the sequence of the first answer under a key, which may be one of several that the
// answer has.
func (s *State) Key(key string) (uint64, bool) {
	return s.keys.find(s.digestOf(key))
}

// AnswerOf returns the sequence of the answer of a charge, 0 where there is none
// yet, and false where the sequence is not a charge.
func (s *State) AnswerOf(charge uint64) (uint64, bool) {
	if charge >= uint64(len(s.paid)) || s.paid[charge] == noCharge {
		return 0, false
	}
	return s.paid[charge], true
}

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
		if answer, ok := s.AnswerOf(r.Charge); !ok || answer != 0 {
			return fmt.Errorf("the answer is not paid for by charge %d", r.Charge)
		}
		if s.Withheld(r.Charge) {
			return fmt.Errorf("the answer of charge %d was kept while the door was closed", r.Charge)
		}
		return nil
	case ledger.KindNote:
		return s.checkNote(r)
	case ledger.KindIncident:
		return s.checkIncident(r)
	}
	return s.checkEntry(r)
}

func (s *State) checkCharge(r *ledger.Record) error {
	if _, ok := s.requests.find(s.digestOf(r.Request)); ok {
		return fmt.Errorf("the request %q is charged twice", r.Request)
	}
	if len(r.Balances) == 0 {
		return errors.New("the charge names no account")
	}
	if s.doors.Closed(r.Dataset, r.Analyst) {
		return fmt.Errorf("the charge was made while the door of %q was closed to %q", r.Dataset, r.Analyst)
	}
	if r.Window != s.Window(r.Dataset) {
		return fmt.Errorf("the charge is in window %d of %q, and the current one is %d", r.Window, r.Dataset, s.Window(r.Dataset))
	}
	if r.DataVersion != s.versions[r.Dataset].last {
		return fmt.Errorf("the charge is about other data of %q than the last record of its version", r.Dataset)
	}
	for i, b := range r.Balances {
		if b.Spent != s.Spent(b.Account).Add(r.Cost) {
			return fmt.Errorf("the balance of %q is not what was spent", b.Account)
		}
		if b.Granted != s.granted[b.Account] || !b.Granted.Within(b.Limit) {
			return fmt.Errorf("the limit of %q has a part that no top-up granted", b.Account)
		}
		if !b.Spent.Fits(b.Limit) {
			return fmt.Errorf("the account %q is overspent", b.Account)
		}
		for _, c := range r.Balances[:i] {
			if b.Account == c.Account {
				return fmt.Errorf("the account %q is charged twice", b.Account)
			}
		}
	}
	return nil
}

// Apply adds a record that was checked. It keeps nothing of the record's memory.
func (s *State) Apply(r *ledger.Record, hash string) {
	s.sequence, s.hash = r.Sequence, hash
	s.paid = append(s.paid, noCharge)
	s.blocks.add(hash)
	s.decided.add(r, hash)
	switch r.Kind {
	case ledger.KindLedger:
		s.identity = strings.Clone(r.Identity)
	case ledger.KindCharge:
		s.requests.add(s.digestOf(r.Request), r.Sequence)
		s.paid[r.Sequence] = 0
		s.asked.add(r)
		if ledger.PaysForSession(r) {
			s.sessions[r.Sequence] = true
		}
		s.charges++
		s.begin(r.Balances)
		s.balances(r.Balances)
	case ledger.KindAnswer:
		s.paid[r.Charge] = r.Sequence
		for _, name := range ledger.Keys(r.Key) {
			key := s.digestOf(name)
			if _, known := s.keys.find(key); !known {
				s.keys.add(key, r.Sequence)
			}
		}
		s.answers++
	case ledger.KindVersion:
		s.version(r)
	case ledger.KindRenewal:
		s.windows[strings.Clone(r.Dataset)]++
		s.renewed = r.Sequence
	case ledger.KindOwner:
		s.owner = strings.Clone(r.PublicKey)
	case ledger.KindTopUp:
		for _, name := range r.Accounts {
			s.granted[strings.Clone(name)] = s.granted[name].Add(r.Cost)
		}
	case ledger.KindNote:
		s.note(r)
	case ledger.KindIncident, ledger.KindRelease:
		s.incident(r)
	case ledger.KindRecovery:
		s.era, s.eraBegan = strings.Clone(hash), r.Sequence
		if r.PublicKey != "" {
			s.owner = strings.Clone(r.PublicKey)
		}
		all := slices.Clone(r.Balances)
		for i := range all {
			if known := s.spent[all[i].Account]; known != nil {
				all[i].Limit, all[i].Granted = known.Limit, known.Granted
			}
		}
		s.balances(all)
	}
}

// begin remembers the limits of accounts that are charged for the first time. Of one that a
// recovery has counted something in, nobody knows what it was at first.
func (s *State) begin(all []ledger.Balance) {
	for _, b := range all {
		if s.spent[b.Account] == nil {
			s.first[strings.Clone(b.Account)] = b.Limit
		}
	}
}

func (s *State) balances(all []ledger.Balance) {
	for _, b := range all {
		known := s.spent[b.Account]
		if known == nil {
			// The name was cut out of a record; a copy lets go of the rest.
			b.Account = strings.Clone(b.Account)
			known = &ledger.Balance{Account: b.Account}
			s.spent[b.Account] = known
		}
		known.Limit, known.Granted, known.Spent = b.Limit, b.Granted, b.Spent
	}
}

package chain

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
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
	hash     string // of the last record; empty before the first
	sequence uint64 // of the last record
	spent    map[string]ledger.Balance
	requests map[digest]uint64 // the charge of a request
	paid     []uint64          // by sequence: the answer of a charge, 0 where there is none yet, or noCharge
	keys     map[digest]uint64 // the first answer under a key
	answers  uint64
}

// noCharge stands for a record that is not a charge.
const noCharge = math.MaxUint64

// digest stands for a request or a key. Keeping half of a SHA-256 instead of the
// text bounds the memory for each record. A caller compares the text in the
// record that it finds.
type digest [16]byte

func digestOf(s string) digest {
	h := sha256.Sum256([]byte(s))
	return digest(h[:16])
}

// New returns the state of a chain without records.
func New() *State {
	return &State{
		spent:    map[string]ledger.Balance{},
		requests: map[digest]uint64{},
		keys:     map[digest]uint64{},
	}
}

// Head returns the sequence and the hash of the last record.
func (s *State) Head() (uint64, string) { return s.sequence, s.hash }

// Answers returns the number of answers.
func (s *State) Answers() uint64 { return s.answers }

// Spent returns what was spent in an account.
func (s *State) Spent(account string) dp.Cost { return s.spent[account].Spent }

// Balances returns the balance of every account ever charged, by name, with the
// limit of its last charge.
func (s *State) Balances() []ledger.Balance {
	return slices.SortedFunc(maps.Values(s.spent), func(a, b ledger.Balance) int {
		return cmp.Compare(a.Account, b.Account)
	})
}

// Request returns the sequence of the charge of a request.
func (s *State) Request(request string) (uint64, bool) {
	n, ok := s.requests[digestOf(request)]
	return n, ok
}

// Key returns the sequence of the first answer under a key, which may be one of several that the answer has.
func (s *State) Key(key string) (uint64, bool) {
	n, ok := s.keys[digestOf(key)]
	return n, ok
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
func (s *State) Check(r *Record) error {
	if s.hash == "" {
		if r.Kind != Ledger || r.Sequence != 0 {
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
	case Charge:
		return s.checkCharge(r)
	case Answer:
		if answer, ok := s.AnswerOf(r.Charge); !ok || answer != 0 {
			return fmt.Errorf("the answer is not paid for by charge %d", r.Charge)
		}
		return nil
	}
	return errors.New("a ledger begins only once")
}

func (s *State) checkCharge(r *Record) error {
	if _, ok := s.requests[digestOf(r.Request)]; ok {
		return fmt.Errorf("the request %q is charged twice", r.Request)
	}
	if len(r.Balances) == 0 {
		return errors.New("the charge names no account")
	}
	for i, b := range r.Balances {
		if b.Spent != s.spent[b.Account].Spent.Add(r.Cost) {
			return fmt.Errorf("the balance of %q is not what was spent", b.Account)
		}
		if !b.Spent.Within(b.Limit) {
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

// Apply adds a record that was checked.
func (s *State) Apply(r *Record, hash string) {
	s.sequence, s.hash = r.Sequence, hash
	s.paid = append(s.paid, noCharge)
	switch r.Kind {
	case Charge:
		s.requests[digestOf(r.Request)] = r.Sequence
		s.paid[r.Sequence] = 0
		for _, b := range r.Balances {
			if known, ok := s.spent[b.Account]; ok {
				b.Account = known.Account
			} else {
				// The name was cut out of a record; a copy lets go of the rest.
				b.Account = strings.Clone(b.Account)
			}
			s.spent[b.Account] = b
		}
	case Answer:
		s.paid[r.Charge] = r.Sequence
		for _, name := range ledger.Keys(r.Key) {
			if key := digestOf(name); s.keys[key] == 0 {
				s.keys[key] = r.Sequence
			}
		}
		s.answers++
	}
}

package chain

import (
	"fmt"
	"iter"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

// Line is a record as it is stored.
type Line struct {
	// Record is read into again for the next line; Clone it to keep it.
	Record     *ledger.Record
	Body, Hash string
}

// Report is what follows from a ledger that checks.
type Report struct {
	Records  uint64           `json:"records"` // all after the first: the sequence of the last record
	Charges  uint64           `json:"charges"`
	Answers  uint64           `json:"answers"`  // answers that were kept
	Head     string           `json:"head"`     // the hash of the last record
	Balances []ledger.Balance `json:"balances"` // of every account ever charged, from the chain alone
}

// Summary is what follows from a ledger that checks, for its owner.
type Summary struct {
	Report
	Identity string                 `json:"identity"`
	Kinds    map[ledger.Kind]uint64 `json:"kinds"`   // how many records there are of each
	Windows  map[string]uint64      `json:"windows"` // the current window of every dataset that was renewed
	Owner    string                 `json:"owner"`   // the key whose signature counts, in hexadecimal, or empty
	First    time.Time              `json:"first"`   // the times of the first and of the last record
	Last     time.Time              `json:"last"`
}

// Verify follows the lines of a ledger from its first to its last and adds them up. It calls each
// after every record, and tell now and then with how many were checked. What does not check is a
// [*ledger.CorruptError].
func Verify(path string, lines iter.Seq2[Line, error], each func(*State) error, tell func(done uint64)) (Summary, *State, error) {
	s := Summary{Kinds: map[ledger.Kind]uint64{}, Windows: map[string]uint64{}}
	state := New()
	for line, err := range lines {
		if err != nil {
			return Summary{}, nil, err
		}
		r := line.Record
		if err := state.Check(r); err != nil {
			return Summary{}, nil, &ledger.CorruptError{Path: path, Where: fmt.Sprintf("record %d: %v", r.Sequence, err)}
		}
		state.Apply(r, line.Hash)
		if err := each(state); err != nil {
			return Summary{}, nil, err
		}
		if s.Kinds[r.Kind]++; r.Kind == ledger.KindRenewal {
			s.Windows[r.Dataset] = r.Window
		}
		if r.Sequence == 0 {
			s.First = r.Time.UTC()
		}
		s.Last = r.Time.UTC()
		if tell != nil && r.Sequence%4096 == 0 {
			tell(r.Sequence)
		}
	}
	s.Records, s.Head = state.Head()
	s.Charges, s.Answers, s.Balances = state.Charges.Count(), state.Charges.Answered(), state.Accounts.All()
	s.Identity, s.Owner = state.Fingerprint(), state.Owner.Key()
	return s, state, nil
}

// Stored is a line with the bytes that are stored beside it: of an answer, or of a note behind its
// salt.
type Stored struct {
	Line
	Answer []byte
}

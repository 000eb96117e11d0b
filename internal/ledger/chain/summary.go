package chain

import (
	"fmt"
	"iter"
	"time"

	"github.com/discreet-dp/discreet/dp"
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

// AnswerHash returns the hash of what is stored beside a record, or nothing where that is nothing.
func AnswerHash(answer []byte) string {
	if len(answer) == 0 {
		return ""
	}
	return ledger.Hash(answer)
}

// WithoutAnswers returns the lines alone.
func WithoutAnswers(lines iter.Seq2[Stored, error]) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for s, err := range lines {
			if !yield(s.Line, err) {
				return
			}
		}
	}
}

// Loss is what a ledger lacks of what its anchor knows.
type Loss struct {
	// Common is the last position that the ledger is known to have in common with the anchor, where
	// Known.
	Common ledger.Position
	Known  bool
	// Counted says that the ledger counts the loss already: a recovery was written and the process
	// died before it stored the new anchor.
	Counted bool
	// Spent are the accounts that count as having spent more from here on.
	Spent []ledger.Balance
}

// FindLoss returns what a ledger lacks of an anchor. The records are all of the ledger's.
//
// Let c be the last position of the anchor's trail that the ledger holds with the same hash, or the
// empty chain. The hash of a record covers all before it, so ledger and anchored branch are the
// same up to c. An account then counts as having spent
//
//	spent now + (ceiling in the anchor - spent at c).
//
// This is sound, whoever released what on either branch. What was released was released up to c, or
// by this ledger after c, or by the anchored branch after c. The first two together are at most
// what is spent now. What the anchored branch released after c is at most what it spent there at
// its last confirmed head less what it had spent at c, and the former is at most the ceiling (see
// [AnchorKeeper]). Recoveries on the way only add to what is spent. The sums saturate upwards.
//
// Where c is the ledger's head, this is exactly the ceiling.
//
// A loss that was counted needs no second count: a ceiling belongs to an anchor with a position and
// a hash, and an anchor with the same position and hash that is stored later has no higher one,
// because only a charge makes room, and moves the head.
func FindLoss(a ledger.Anchor, s *State, records iter.Seq2[*ledger.Record, error]) (Loss, error) {
	known := map[uint64]string{a.Sequence: a.Hash}
	for _, p := range a.Trail {
		known[p.Sequence] = p.Hash
	}
	var loss Loss
	now := map[string]dp.Cost{}
	atCommon := map[string]dp.Cost{} // of accounts that have spent since
	for r, err := range records {
		if err != nil {
			return Loss{}, err
		}
		if r.Kind == ledger.KindCharge || r.Kind == ledger.KindRecovery {
			for _, b := range r.Balances {
				if _, ok := atCommon[b.Account]; !ok {
					atCommon[b.Account] = now[b.Account]
				}
				now[b.Account] = b.Spent
			}
		}
		if r.Kind == ledger.KindRecovery && r.AnchorSequence == a.Sequence && r.AnchorHash == a.Hash {
			loss.Counted = true
		}
		if want, ok := known[r.Sequence]; ok && want == ledger.Hash(r.Encode()) {
			loss.Common, loss.Known = ledger.Position{Sequence: r.Sequence, Hash: want}, true
			clear(atCommon)
		}
	}
	if loss.Counted {
		return loss, nil
	}
	for _, c := range a.Most {
		then, ok := atCommon[c.Account]
		if !ok {
			then = now[c.Account]
		}
		b := ledger.Balance{Account: c.Account, Spent: s.Accounts.Spent(c.Account).Add(c.Spent.Sub(then))}
		if b.Spent != s.Accounts.Spent(c.Account) {
			loss.Spent = append(loss.Spent, b)
		}
	}
	return loss, nil
}

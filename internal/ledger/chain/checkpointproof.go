package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

// Believe says which checkpoints are believed, of those that the chain proves.
type Believe func(sum string) bool

// AnyCheckpoint is where there is no anchor to ask, and noCheckpoint is where everything is to be
// read.
func AnyCheckpoint(string) bool { return true }
func noCheckpoint(string) bool  { return false }

// Believed returns what is believed of a ledger: the one that its anchor names, or any where it has
// none, and nothing where everything is to be read.
func Believed(keeper *AnchorKeeper, path string, full bool) (Believe, error) {
	if full {
		return noCheckpoint, nil
	}
	if keeper == nil {
		return AnyCheckpoint, nil
	}
	name, err := keeper.NamedCheckpoint(context.Background(), path)
	return func(sum string) bool { return sum == name }, err
}

// CheckpointNote is what the note of a checkpoint says.
func CheckpointNote(last uint64, sum string) string { return fmt.Sprintf("%d %s", last, sum) }

// checkpointIntervals is how many parts of all records come between two checkpoints at least: to
// read one and the records after it then takes a few seconds at most, and all checkpoints together
// are about as many bytes as the ledger.
const checkpointIntervals = 16

// CheckpointDue is how many records come between two checkpoints of a ledger with so many, and at
// least.
func CheckpointDue(last, least uint64) uint64 { return max(least, last/checkpointIntervals) }

// CheckpointTooFar reports whether a checkpoint is too far behind to be used.
func CheckpointTooFar(last, head, least uint64) bool {
	return last > head || head-last >= 2*CheckpointDue(head, least)
}

// ProveCheckpoint returns an error unless the chain proves a checkpoint by which a state was made,
// which has all records by now: a note after the last record of the checkpoint holds its hash, and
// all that was signed is so. Notes from before a recovery count no more: what was recovered is
// checked as a whole. What is read must be proven to be of the chain.
func ProveCheckpoint(state *State, last uint64, sum string, read func(sequence uint64) (*ledger.Record, []byte, error)) error {
	if err := CheckNoted(state, last, sum, read); err != nil {
		return err
	}
	return state.CheckSigned(func(sequence uint64) (*ledger.Record, error) {
		record, _, err := read(sequence)
		return record, err
	})
}

// CheckNoted is the first half of ProveCheckpoint.
func CheckNoted(state *State, last uint64, sum string, read func(sequence uint64) (*ledger.Record, []byte, error)) error {
	notes, err := state.Notes.Of(ledger.CheckpointNotes(state.Notes.Era()))
	if err != nil {
		return err
	}
	for _, n := range slices.Backward(notes) {
		if n <= last {
			break
		}
		_, note, err := read(n)
		if err != nil {
			return err
		}
		if len(note) > ledger.NoteSalt && string(note[ledger.NoteSalt:]) == CheckpointNote(last, sum) {
			return nil
		}
	}
	return errors.New("the chain does not know the checkpoint")
}

// Prover proves that records are those of the chain that a ledger ends with. A ledger that was
// opened by a checkpoint has not read the records before it, and reads none of them without this.
// It remembers the last block, because neighbours are often read together.
type Prover struct {
	state  *State
	first  uint64
	hashes []string
}

// Prove returns an error unless the record has this hash in the chain. The hashes of a range of
// records, in their order, are the store's.
func (p *Prover) Prove(state *State, sequence uint64, hash string, hashes func(first, last uint64) ([]string, error)) error {
	first, last := state.Blocks.Around(sequence)
	if p.state != state || p.first != first || sequence-first >= uint64(len(p.hashes)) {
		p.state = nil
		all, err := hashes(first, last)
		if err == nil {
			err = state.Blocks.Check(first, all)
		}
		if err != nil {
			return err
		}
		p.state, p.first, p.hashes = state, first, all
	}
	if p.hashes[sequence-first] != hash {
		return errors.New("it is not the record of the chain that the ledger ends with")
	}
	return nil
}

// RemadeCheckpoint is a checkpoint of a ledger that is verified from its first record on, and the
// hash of the one that follows from its records.
type RemadeCheckpoint struct {
	Last uint64
	Sum  string
}

// Make makes the checkpoint again where the state is at its record.
func (m *RemadeCheckpoint) Make(state *State) (err error) {
	if last, _ := state.Head(); last == m.Last && last <= MaxCheckpoint {
		m.Sum, err = CheckpointSum(state)
	}
	return err
}

// Row is a record as it is stored.
type Row struct {
	Sequence   int64
	Body, Hash string
	Answer     string // the hash of what is stored beside it
}

const (
	scrubRecords    = 64 // records at a time
	scrubRestTenths = 9  // of ten parts of the time
)

// errCheckpointDiffers is what is wrong with a checkpoint that is not what the records say.
var errCheckpointDiffers = errors.New("the checkpoint by which the ledger was opened does not follow from its records")

// Scrub does in the background what was left out when a ledger was opened by a checkpoint: it
// follows the chain from its first record to that of the checkpoint, checks everything that is
// checked without one, and makes the checkpoint again, which has to be the same. So it notices
// damage that nobody comes across, and a checkpoint that does not follow from the records, whoever
// vouched for it.
//
// It returns whether it came to its end, and otherwise at which record what is wrong. Some records
// from one on are the store's; where there are none and no error, the ledger has ended. It works a
// tenth of the time, because charges go first.
func Scrub(last uint64, sum string, stop <-chan struct{}, some func(from, n uint64) ([]Row, error)) (done bool, at uint64, err error) {
	state, sorted := New(), uint64(0)
	for next := uint64(0); next <= last; {
		start := time.Now()
		rows, err := some(next, min(scrubRecords, last-next+1))
		if rows == nil && err == nil {
			return false, 0, nil
		}
		if next, err = follow(state, rows, next, err); err != nil {
			return false, next, err
		}
		if next > sorted+sorted/4+1<<17 {
			state.Sort() // which takes less memory
			sorted = next
		}
		select {
		case <-stop:
			return false, 0, nil
		case <-time.After(scrubRestTenths * time.Since(start)):
		}
	}
	if again, err := CheckpointSum(state); err != nil || again != sum {
		return false, last, errCheckpointDiffers
	}
	return true, last, nil
}

// follow follows the chain by some records, and returns which one is next. The error is that of
// reading them, after the last one.
func follow(state *State, rows []Row, next uint64, failed error) (uint64, error) {
	for i, r := range rows {
		if failed != nil && i == len(rows)-1 {
			return next, failed
		}
		var record ledger.Record
		err := record.Read(r.Body, r.Hash, r.Answer)
		if err == nil && (r.Sequence != int64(next) || record.Sequence != next) {
			err = errors.New("it is missing")
		}
		if err == nil {
			err = state.Check(&record)
		}
		if err != nil {
			return next, err
		}
		state.Apply(&record, r.Hash)
		next++
	}
	if len(rows) == 0 && failed == nil {
		failed = errors.New("it is missing")
	}
	return next, failed
}

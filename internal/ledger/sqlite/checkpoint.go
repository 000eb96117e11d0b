package sqlite

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// A checkpoint is written when so many records came since the last one, and when they are so many
// parts of all: to read a checkpoint and the records after it then takes a few seconds at most, and
// all checkpoints together are about as many bytes as the ledger.
var (
	checkpointLeast = uint64(1 << 17)
	checkpointParts = uint64(16)
)

// checkpoints are the files of a ledger's checkpoints. There are two, so that the last good one is
// there while the next is written: a file that was not finished, or whose note was not, proves
// nothing.
func checkpoints(path string) [2]string {
	return [2]string{path + ".checkpoint0", path + ".checkpoint1"}
}

// entry is what the note of a checkpoint says.
func entry(last uint64, sum string) string { return fmt.Sprintf("%d %s", last, sum) }

// candidate is a file that may be a checkpoint.
type candidate struct {
	slot int
	name string
	last uint64 // the record that it claims to stand for
}

// candidates returns the checkpoints of a ledger, the latest first.
func candidates(path string) []candidate {
	var all []candidate
	for slot, name := range checkpoints(path) {
		if last, err := claim(name); err == nil {
			all = append(all, candidate{slot, name, last})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(b.last, a.last) })
	return all
}

// claim reads which record a checkpoint claims to stand for. What is no file is not opened: that of
// a pipe would wait for ever.
func claim(name string) (uint64, error) {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return 0, errors.Join(err, errors.New("it is not a regular file"))
	}
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	head := make([]byte, len(chain.CheckpointFormat)+binary.MaxVarintLen64)
	n, err := f.Read(head)
	if err != nil || n < len(chain.CheckpointFormat) || string(head[:len(chain.CheckpointFormat)]) != chain.CheckpointFormat {
		return 0, errors.Join(err, errors.New("it is no checkpoint"))
	}
	last, read := binary.Uvarint(head[len(chain.CheckpointFormat):n])
	if read <= 0 {
		return 0, errors.New("it is no checkpoint")
	}
	return last, nil
}

// chosen is the checkpoint by which a ledger was opened, or that it made since.
type chosen struct {
	slot int // its file, or -1
	sum  string
}

var noneChosen = chosen{slot: -1}

// Which checkpoints are believed, of those that the chain proves: any, where there is no anchor to
// ask, and none, where everything is to be read.
func believeAny(string) bool  { return true }
func believeNone(string) bool { return false }

// fromCheckpoint returns what follows from a ledger by the latest checkpoint that the chain proves
// and by the records after it, and which one that is; or nil where there is none.
//
// What is believed, and why. The records after the checkpoint are checked like all of a ledger
// without one, and each holds the hash of the one before. One of them is a note with the hash of
// the checkpoint, made by a process that had itself read and checked everything before. So the last
// hash of the chain covers the checkpoint as it covers every record: one that was changed, that is
// another ledger's, or that was not finished, is not the noted one.
//
// But whoever can write the file can add a record behind the last. No record takes a charge away,
// and a checkpoint could say anything, so a note alone is not enough. Where there is an anchor, it
// names the one checkpoint that is believed. Where there is none, an older copy of the whole file
// would do as well, and the scrub and a full check tell.
//
// A checkpoint that is not believed is as good as none, and the ledger is checked from its first
// record on. So is one whose checkpoint is far behind: since none is made before everything was
// read, processes that end too soon for that read everything now and then.
func fromCheckpoint(c *conn, path string, believe func(sum string) bool, tell func(done, of uint64)) (*chain.State, chosen) {
	head := uint64(expected(c))
	for _, k := range candidates(path) {
		if k.last > head || head-k.last >= 2*due(head) || checkQuick(c) != nil {
			continue
		}
		state, sum, err := readCheckpoint(k.name)
		if err != nil || !believe(sum) {
			continue
		}
		if last, _ := state.Head(); last != k.last {
			continue
		}
		err = follow(c, path, state, tell)
		if err == nil {
			err = proveCheckpoint(c, path, state, k.last, sum)
		}
		if err == nil {
			err = state.CheckSigned(func(sequence uint64) (*ledger.Record, error) {
				record, _, err := readProven(c, path, state, sequence)
				return record, err
			})
		}
		if err == nil {
			return state, chosen{k.slot, sum}
		}
	}
	return nil, noneChosen
}

// due is how many records come between two checkpoints of a ledger with so many.
func due(last uint64) uint64 { return max(checkpointLeast, last/checkpointParts) }

// checkQuick returns an error where something stands before the first record, or where pages are
// said to be free: a ledger frees none, and the next write would go to one that is not.
func checkQuick(c *conn) error {
	var first, free int64
	err := c.QueryRowContext(background, "SELECT min(sequence) FROM records").Scan(&first)
	if err == nil && first != 0 {
		err = errors.New("it does not begin with its first record")
	}
	if err == nil {
		err = c.QueryRowContext(background, "PRAGMA freelist_count").Scan(&free)
	}
	if err == nil && free != 0 {
		err = errors.New("it has free pages")
	}
	return err
}

// proveCheckpoint returns an error unless a note after the last record of a checkpoint holds its
// hash. Notes from before a recovery count no more: what was recovered is checked as a whole.
func proveCheckpoint(c *conn, path string, state *chain.State, last uint64, sum string) error {
	notes, err := state.Notes(ledger.CheckpointNotes(state.Era()))
	if err != nil {
		return err
	}
	for _, n := range slices.Backward(notes) {
		if n <= last {
			break
		}
		_, note, err := readProven(c, path, state, n)
		if err != nil {
			return err
		}
		if len(note) > ledger.NoteSalt && string(note[ledger.NoteSalt:]) == entry(last, sum) {
			return nil
		}
	}
	return errors.New("the chain does not know the checkpoint")
}

// readProven reads a record, and what is stored with it, and checks both against the chain.
func readProven(c *conn, path string, state *chain.State, sequence uint64) (*ledger.Record, []byte, error) {
	var body, hash string
	var answer []byte
	where := fmt.Sprintf("record %d cannot be read", sequence)
	if err := c.QueryRowContext(background, selectRecord, int64(sequence)).Scan(&body, &hash, &answer); err != nil {
		return nil, nil, corrupt(path, where, err)
	}
	record := new(ledger.Record)
	err := record.Read(body, hash, hashOf(answer))
	if err == nil && record.Sequence != sequence {
		err = fmt.Errorf("it is record %d", record.Sequence)
	}
	if err == nil {
		err = new(prover).prove(c, state, sequence, hash)
	}
	if err != nil {
		return nil, nil, &ledger.CorruptError{Path: path, Where: where, Err: err}
	}
	return record, answer, nil
}

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

// claim reads which record a checkpoint claims to stand for.
func claim(name string) (uint64, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, errors.Join(err, errors.New("it is not a regular file"))
	}
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

// fromCheckpoint returns what follows from a ledger by the latest checkpoint that the chain proves
// and by the records after it, and the slot of that; or nil where there is none.
//
// What is believed, and why. The records after the checkpoint are checked like all of a ledger
// without one, and each holds the hash of the one before. One of them is a note with the hash of
// the checkpoint, made by the process that had checked everything before. So the last hash of the
// chain covers the checkpoint as it covers every record: a checkpoint that was changed, or made by
// somebody, is not the noted one, and whoever writes another note has to write all records after it
// anew, which receipts and the anchor tell as ever. A checkpoint that is not proven is as good as
// none, and the ledger is checked from its first record on.
func fromCheckpoint(c *conn, path string) (*chain.State, int) {
	for _, k := range candidates(path) {
		if k.last > uint64(expected(c)) {
			continue
		}
		state, sum, err := readCheckpoint(k.name)
		if err == nil {
			err = checkFirst(c)
		}
		if err == nil {
			err = follow(c, path, state)
		}
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
			return state, k.slot
		}
	}
	return nil, -1
}

// checkFirst returns an error where something stands before the first record.
func checkFirst(c *conn) error {
	var first int64
	err := c.QueryRowContext(background, "SELECT min(sequence) FROM records").Scan(&first)
	if err == nil && first != 0 {
		err = errors.New("it does not begin with its first record")
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

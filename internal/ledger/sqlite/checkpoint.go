package sqlite

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/checkpoint"
	"github.com/discreet-dp/discreet/ledger"
)

// checkpointLeast is how many records come between two checkpoints at least.
var checkpointLeast = uint64(1 << 17)

// checkpoints are the files of a ledger's checkpoints. There are two, so that the last good one is
// there while the next is written: a file that was not finished, or whose note was not, proves
// nothing.
func checkpoints(path string) [2]string {
	return [2]string{path + ".checkpoint0", path + ".checkpoint1"}
}

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

// fromCheckpoint returns what follows from a ledger by the latest checkpoint that the chain proves
// and by the records after it, and which one that is; or nil where there is none.
func fromCheckpoint(c *conn, path string, believe checkpoint.Believe, tell func(done, of uint64)) (*chain.State, chosen) {
	head := uint64(expected(c))
	for _, k := range candidates(path) {
		if checkpoint.Far(k.last, head, checkpointLeast) || checkQuick(c) != nil {
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
			err = checkpoint.Prove(state, k.last, sum, func(sequence uint64) (*ledger.Record, []byte, error) {
				return readProven(c, path, state, sequence)
			})
		}
		if err == nil {
			return state, chosen{k.slot, sum}
		}
	}
	return nil, noneChosen
}

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
		err = new(checkpoint.Prover).Prove(state, sequence, hash, c.hashes)
	}
	if err != nil {
		return nil, nil, &ledger.CorruptError{Path: path, Where: where, Err: err}
	}
	return record, answer, nil
}

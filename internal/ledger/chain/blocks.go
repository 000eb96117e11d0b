package chain

import (
	"crypto/sha256"
	"errors"
	"fmt"
)

// blockRecords is how many records a block has. To prove one record takes the hashes of all of its
// block, so a block is small.
const blockRecords = 16

// blocks are hashes over the hashes of records, block by block: what proves a single record to be
// the one that was checked, in two bytes a record.
type blocks struct {
	whole [][sha256.Size]byte
	open  []string // the hashes of the last records, which make no whole block yet
}

func (b *blocks) add(hash string) {
	if b.open = append(b.open, hash); len(b.open) == blockRecords {
		b.whole = append(b.whole, blockHash(b.open))
		b.open = make([]string, 0, blockRecords)
	}
}

func blockHash(hashes []string) [sha256.Size]byte {
	h := sha256.New()
	for _, text := range hashes {
		h.Write([]byte(text))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Block returns the first and the last record of the block that a record is in.
func (s *State) Block(sequence uint64) (first, last uint64) {
	first = sequence / blockRecords * blockRecords
	return first, min(first+blockRecords-1, s.sequence)
}

// CheckBlock returns an error unless these are the hashes of the records of the block that begins
// with a record.
func (s *State) CheckBlock(first uint64, hashes []string) error {
	same := false
	if n := first / blockRecords; n < uint64(len(s.blocks.whole)) {
		same = len(hashes) == blockRecords && blockHash(hashes) == s.blocks.whole[n]
	} else if n == uint64(len(s.blocks.whole)) && len(hashes) == len(s.blocks.open) {
		same = blockHash(hashes) == blockHash(s.blocks.open)
	}
	if !same {
		return fmt.Errorf("records %d to %d: %w", first, first+uint64(max(len(hashes), 1))-1, errOther)
	}
	return nil
}

var errOther = errors.New("they are not those of the chain that the ledger ends with")

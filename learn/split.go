package learn

import (
	"crypto/sha256"
	"encoding/binary"
)

// splitter divides rows into parts.
//
// The part of a row is a hash of what is in it and of its number among the rows that are equal to
// it. Equal rows cannot be told apart, so in what order they come does not matter, and the table is
// a set of pairs (row, number). A person who adds m rows adds m pairs and changes no other; one who
// takes others' place takes m away at most and adds m at most. So every row of everybody else is in
// the same part in both databases, as the theorem on candidates of package calibrate needs. (By a
// hash of the row alone all equal rows would be in one part, and no part would look like the
// whole.) It rests on nobody finding two different rows with the same SHA-256.
type splitter struct {
	parts  uint64
	copies map[[sha256.Size]byte]uint64 // how many rows with a hash there were
	text   []byte
}

func newSplitter(parts int) *splitter {
	return &splitter{parts: uint64(parts), copies: map[[sha256.Size]byte]uint64{}}
}

func (s *splitter) part(codes []int64) uint8 {
	s.text = s.text[:0]
	for _, c := range codes {
		s.text = binary.BigEndian.AppendUint64(s.text, uint64(c))
	}
	row := sha256.Sum256(s.text)
	n := s.copies[row]
	s.copies[row] = n + 1
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(row[:], n))
	return uint8(binary.BigEndian.Uint64(sum[:]) % s.parts)
}

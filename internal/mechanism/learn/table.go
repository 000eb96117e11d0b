package learn

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
	"github.com/discreet-dp/discreet/internal/sealed"
)

// Table collects training rows. Nothing in it can be printed. It is for one goroutine at a time.
type Table struct {
	// A function and not a struct, because fmt looks into structs.
	inside func() *collected
}

type collected struct {
	encoding *Encoding
	builder  *solve.Builder
	rows     *solve.Rows // what was built, once it is
	room     []float64
	split    *splitter
	parts    []uint8 // of the rows, where there are candidates
}

// NewTable returns an empty table for the rows of a plan.
func (p *Plan) NewTable() *Table {
	d := p.Encoding.Dim()
	c := &collected{encoding: p.Encoding, builder: solve.NewBuilder(d, p.task.radius), room: make([]float64, d)}
	if n := p.candidates(); n > 1 {
		c.split = newSplitter(n + 1)
	}
	return &Table{func() *collected { return c }}
}

// Add takes a row of codes: one for each feature in order, and the target's at the end. It is
// total: whatever the codes are, a row adds at most what the plan says. A row without a target, or
// with another number of codes, is left out.
func (t *Table) Add(codes []int64) {
	c := t.inside()
	if c.rows != nil || len(codes) != len(c.encoding.Features)+1 {
		return
	}
	target, ok := c.encoding.TargetOf(codes[len(codes)-1])
	if !ok {
		return
	}
	c.encoding.Encode(codes, c.room)
	c.builder.Add(c.room, float32(target))
	if c.split != nil {
		c.parts = append(c.parts, c.split.part(codes))
	}
}

// Collector hands rows from an engine to the table.
func (t *Table) Collector() sealed.Collector { return sealed.NewCollector(t.Add) }

// open ends the collection.
func (t *Table) open() *collected {
	c := t.inside()
	if c.rows == nil {
		c.rows = c.builder.Rows()
	}
	return c
}

const hiddenRows = "[rows]"

func (Table) String() string             { return hiddenRows }
func (Table) Format(f fmt.State, _ rune) { fmt.Fprint(f, hiddenRows) }

// MarshalJSON refuses: rows in a document are a bug, not a format.
func (Table) MarshalJSON() ([]byte, error) {
	return nil, errors.New("training rows cannot be encoded")
}

func (Table) GobEncode() ([]byte, error) { return nil, errors.New("training rows cannot be encoded") }

// splitter divides rows into parts.
//
// The part of a row is a hash of what is in it and of its number among the rows that are equal to
// it. Equal rows cannot be told apart, so in what order they come does not matter, and the table is
// a set of pairs (row, number). A person who adds m rows adds m pairs and changes no other; one who
// takes others' place takes m away at most and adds m at most. So every row of everybody else is in
// the same part in both databases, as the theorem on candidates of calibrate.go needs. (By a
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

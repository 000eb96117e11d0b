package learn

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/learn/rows"
)

// Table collects training rows. Nothing in it can be printed. It is for one goroutine at a time.
type Table struct {
	// A function and not a struct, because fmt looks into structs.
	inside func() *collected
}

type collected struct {
	encoding *Encoding
	builder  *rows.Builder
	rows     *rows.Rows // what was built, once it is
	room     []float64
	split    *splitter
	parts    []uint8 // of the rows, where there are candidates
}

// NewTable returns an empty table for the rows of a plan.
func (p *Plan) NewTable() *Table {
	c := &collected{encoding: p.Encoding, builder: rows.NewBuilder(p.Encoding.dim(), p.radius), room: make([]float64, p.Encoding.dim())}
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
	target, ok := c.encoding.target(codes[len(codes)-1])
	if !ok {
		return
	}
	c.encoding.features(codes, c.room)
	c.builder.Add(c.room, float32(target))
	if c.split != nil {
		c.parts = append(c.parts, c.split.part(codes))
	}
}

// Collector hands rows from an engine to the table.
func (t *Table) Collector() exact.Collector { return exact.NewCollector(t.Add) }

// open ends the collection.
func (t *Table) open() *collected {
	c := t.inside()
	if c.rows == nil {
		c.rows = c.builder.Rows()
	}
	return c
}

const sealed = "[rows]"

// String hides the rows.
func (Table) String() string { return sealed }

// Format hides the rows from every verb.
func (Table) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

// MarshalJSON refuses: rows in a document are a bug, not a format.
func (Table) MarshalJSON() ([]byte, error) {
	return nil, errors.New("training rows cannot be encoded")
}

// GobEncode refuses for the same reason.
func (Table) GobEncode() ([]byte, error) { return nil, errors.New("training rows cannot be encoded") }

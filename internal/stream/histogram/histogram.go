// Package histogram holds how many people are in each cell of a domain, sealed, and answers linear
// queries on it exactly, sealed: it is the engine of a stream. Memory goes with the cells that have
// people.
//
// An answer never fails and moves by at most the steps of its query when one person comes, goes or
// is exchanged. So counts that are no counts of people are brought into bounds, one by one and in
// silence, because an error would speak of the data: below 0 is 0, above [MaxCount] is MaxCount,
// and a cell that the domain does not have is left out. Each of these moves two neighbours no
// further apart. An answer that does not fit is the nearest number that does.
//
// How long an answer takes goes with the query, and with the number of cells that have people,
// which is private. Whoever can measure the time of an answer to a fraction of a millisecond may
// learn something about that number; noise on an answer does not hide it.
package histogram

import (
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/stream/linear"
)

// MaxCount is the most people that a cell can have. A sum over all cells of the largest domain fits
// into an integer.
const MaxCount = 1 << 36

// ErrTable is returned when a table is not made of what it has to be made of.
var ErrTable = errors.New("not a histogram of this domain")

// Table is a sealed histogram. It does not change and is safe for concurrent use.
type Table struct {
	domain *linear.Domain
	// A function, because neither fmt nor reflection can look into one.
	open func() *people
}

// Dense takes one count per cell, and Sparse the counts of some cells, in any order, a cell being
// allowed more than once.
func Dense(d *linear.Domain, counts exact.Vector) (*Table, error) {
	all := counts.Open()
	if len(all) != d.Cells() {
		return nil, fmt.Errorf("%w: there are %d counts for %d cells", ErrTable, len(all), d.Cells())
	}
	var entries []entry
	for i, c := range all {
		if c > 0 {
			entries = append(entries, entry{i, c})
		}
	}
	return seal(d, entries), nil
}

// Sparse is described with [Dense].
func Sparse(d *linear.Domain, cells, counts exact.Vector) (*Table, error) {
	where, many := cells.Open(), counts.Open()
	if len(where) != len(many) {
		// Both have an entry for each cell that was counted, so this is a mistake of the program
		// and says nothing about data.
		return nil, fmt.Errorf("%w: cells and counts are not of one length", ErrTable)
	}
	entries := make([]entry, 0, len(where))
	for i, c := range where {
		if c >= 0 && c < int64(d.Cells()) && many[i] > 0 {
			entries = append(entries, entry{int(c), many[i]})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return a.cell - b.cell })
	return seal(d, entries), nil
}

// Domain is what the table is over.
func (t *Table) Domain() *linear.Domain { return t.domain }

// Answer is the sum over people of the weights of a query of the same domain, sealed: a vector of
// one.
func (t *Table) Answer(q *linear.Query) exact.Vector {
	return exact.Seal([]int64{t.open().answer(q)})
}

const sealed = "[exact]"

// String hides the counts.
func (t *Table) String() string { return sealed }

// Format hides them from every verb.
func (t *Table) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

// MarshalJSON refuses: an exact value in a document is a bug, not a format.
func (t *Table) MarshalJSON() ([]byte, error) {
	return nil, errors.New("an exact histogram cannot be encoded")
}

package policy

import "strings"

// StreamColumn is a column of a stream, cut into bins. Every row falls into one of them, or is
// NULL, by the value that a question sees in it: cast, rounded to the lattice and moved into the
// bounds.
//
//   - A value below the bounds is the lowest to every question, also in WHERE, so it falls into the
//     first range; and one above them into the last.
//   - A listed key has a bin of its own. All values that are not listed fall into one bin, which is
//     Other, so that a total counts everybody. A question that tells one of them from another
//     cannot be answered from bins.
//   - What cannot be read as the column's type is NULL. Where the column is not nullable there is
//     no cell for it, and a row that breaks this promise of the owner's falls into no cell.
type StreamColumn struct {
	Name string
	// Bins are at least one, without NULL.
	Bins []Bin
	// Null says that there is a cell for NULL, which comes after all bins.
	Null bool
}

// Bin is some values of a column, which a stream does not tell apart.
type Bin struct {
	// Label is different in all bins of a column.
	Label string
	// Range says that the bin holds the lattice points from Lo to Hi, both included. They are what
	// Value.Int holds: steps, days or microseconds.
	Range  bool
	Lo, Hi int64
	// Value is the only value, where the bin is neither a range nor Other.
	Value Value
	// Other says that the bin holds all values that are in no other bin of the column.
	Other bool
}

// Cells returns how many cells the column has: its bins, and one for NULL.
func (c StreamColumn) Cells() int {
	if c.Null {
		return len(c.Bins) + 1
	}
	return len(c.Bins)
}

// Labels returns the labels of all cells in order. The last is that of NULL, where there is one.
func (c StreamColumn) Labels() []string {
	labels := make([]string, 0, c.Cells())
	for _, b := range c.Bins {
		labels = append(labels, b.Label)
	}
	if c.Null {
		labels = append(labels, unusedLabel("(null)", c.Bins))
	}
	return labels
}

// unusedLabel puts a label into brackets until no bin has it.
func unusedLabel(label string, bins []Bin) string {
	taken := map[string]bool{}
	for _, b := range bins {
		taken[b.Label] = true
	}
	for taken[label] {
		label = "(" + label + ")"
	}
	return label
}

// Cell returns the place of the cell that a value falls into, as a question sees the value, or -1
// where there is none.
func (c StreamColumn) Cell(v Value) int {
	if v.Null {
		if c.Null {
			return len(c.Bins)
		}
		return -1
	}
	other := -1
	for i, b := range c.Bins {
		switch {
		case b.Other:
			other = i
		case b.Range && b.Lo <= v.Int && v.Int <= b.Hi:
			return i
		case !b.Range && b.Value == v:
			return i
		}
	}
	return other
}

// rangeLabel names a range as a reader writes it.
func rangeLabel(c *Column, lo, hi int64) string {
	if lo == hi {
		return c.Show(lo)
	}
	return strings.Join([]string{c.Show(lo), c.Show(hi)}, "..")
}

// Package publictime says how long a question may take, from what everybody may know: its finished
// tree, the sizes of the tables, declared or rounded up, and how fast the machine is. Answers leave
// when that time is over, and not when the work happens to be done, so that what one row switches
// on or off cannot be read from a clock.
//
// The time is a sum over the operators of the tree: so many rows, times what a row costs there and
// what is computed for it. All that a row could switch on is on:
//
//   - every row passes every condition, every branch of a CASE and every term of an OR is computed,
//     every text that could be a number is one;
//   - no side of a join is empty. Which of them a table of hashes is made of follows from public
//     sizes where the printer decides it, and is the larger one where the database does;
//   - no vector is constant and no column a dictionary; rows are stored in no order;
//   - people are as many, and a person's rows as many, as the sizes and the cuts of the tree allow,
//     and package contribution reads as often as its memory may make it.
//
// What cannot be bounded closely is estimated: how many rows meet where a person's rows are joined
// with the same person's. A question that is made to take longer than its time fails as one that
// reaches its time limit does; what is here decides how often honest ones do.
//
// The constants are nanoseconds of one thread. They were chosen so that questions of the corpora,
// probes that do one thing, questions with switches and made-up ones take about a third to a half
// of their time, as processor time (docs/time.md says how they are tested).
package publictime

import (
	"math/bits"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Sizes are what everybody may know of how large the data is: what the policy declares, or what was
// counted, and then each is rounded up; see [Round].
type Sizes struct {
	Tables map[string]Table // by the policy's name of the table; private and public ones
	People int64            // of the unit
	// Fanout is how many public rows a private one may meet in a question, as the policy says; 0
	// where that is not known.
	Fanout int64
}

// Table is how large one table is.
type Table struct {
	Rows    int64
	Lengths map[string]int64 // of text columns: the mean length of a text in bytes
	// Values is, for columns with private keys, how many different ones there are, about.
	Values map[string]int64
	// Most is, for columns of a public table, how many rows have one value of the column at most.
	Most map[string]int64
}

// What is smaller is not told: the fewest rows, people or values, and the shortest mean of texts.
// Half-octaves of small numbers stand so close that one row would move them.
const (
	MinCount  = 1 << 10
	MinLength = 1 << 3
)

// NameLength is how many bytes the name of a person or of a row counts as, in a column of texts
// that only paths use, where sizes are declared and that of this column is not.
const NameLength = 40

// Round rounds up to a half-octave: the next power of the square root of two, as an integer.
//
// A row moves a number that is rounded only where it stands next to such a power. Neighbours of
// which that is true are told apart by their time, as they are by the tick.
func Round(n int64) int64 {
	if n <= 1 {
		return max(n, 0)
	}
	top := bits.Len64(uint64(n - 1)) // n <= 2^top
	if top > 62 {
		return 1<<63 - 1
	}
	if half := halfOctave(top); n <= half {
		return half
	}
	return 1 << top
}

// halfOctave is the half-octave below 2^top, rounded up: 2^(top-1/2).
func halfOctave(top int) int64 {
	// The square of it is 2^(2 top - 1), of which the root is found bit by bit, exactly.
	low, high := uint64(1)<<(top-1), uint64(1)<<top // low^2 < it <= high^2
	for low+1 < high {
		mid := (low + high) / 2
		if h, l := bits.Mul64(mid, mid); comparePower(h, l, 2*top-1) < 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return int64(high)
}

// comparePower compares a number of 128 bits with 2^power.
func comparePower(hi, lo uint64, power int) int {
	wantHi, wantLo := uint64(0), uint64(0)
	if power >= 64 {
		wantHi = 1 << (power - 64)
	} else {
		wantLo = 1 << power
	}
	switch {
	case hi < wantHi || hi == wantHi && lo < wantLo:
		return -1
	case hi == wantHi && lo == wantLo:
		return 0
	}
	return 1
}

// people is how many people there may be.
func (s Sizes) people() float64 { return max(1, float64(s.People)) }

// rowsOf is how many rows a table has. One that is not known is taken to be as large as the unit.
func (s Sizes) rowsOf(name string) float64 {
	t, ok := s.Tables[name]
	if !ok {
		return s.people()
	}
	return float64(t.Rows)
}

// textLength is how long a text of a column is in the mean.
func (s Sizes) textLength(scan *tree.Scan, f tree.Field) float64 {
	n, ok := s.Tables[scan.Table.Name].Lengths[f.Name]
	if !ok {
		if f.Type.Kind == tree.Identity {
			return 0
		}
		return usualLength
	}
	return float64(n)
}

// largestTable is how many rows the largest table of a relation has.
func (s Sizes) largestTable(r tree.Relation) (rows float64) {
	r.EachTable(func(t *policy.Table) { rows = max(rows, s.rowsOf(t.Name)) })
	return rows
}

// mayMeet is how many public rows each of some rows meets of as many as there are: the planner
// refuses a question in which it could be more in all.
func (s Sizes) mayMeet(met float64, private load) float64 {
	if s.Fanout > 0 {
		met = min(met, float64(s.Fanout)/max(1, private.met))
	}
	return max(1, met)
}

// pairsOfPeople is how many pairs of rows of one person there are.
func (s Sizes) pairsOfPeople(j *tree.Join, l, r load) float64 {
	if j.Fans == countFanouts(j.L)+countFanouts(j.R) { // at most one row of a side fits
		return max(l.rows, r.rows)
	}
	return s.pairsOf(l, r)
}

// pairsOf is how many pairs there are of a person's rows on two sides.
func (s Sizes) pairsOf(l, r load) float64 {
	n := pairSkew * l.rows * r.rows / s.people()
	return max(min(n, l.rows*r.person, r.rows*l.person), l.rows, r.rows)
}

// fanout is how many rows of a public relation one row beside it meets, and whether there is an
// equality by which they are found.
func (s Sizes) fanout(r tree.Relation, l load, on tree.Expr, offset int) (met float64, equal bool) {
	met = max(1, l.rows)
	for _, c := range conjuncts(on) {
		eq, ok := c.(*tree.Compare)
		if !ok || eq.Op != tree.Eq && eq.Op != tree.NotDistinct {
			continue
		}
		for _, pair := range [][2]tree.Expr{{eq.L, eq.R}, {eq.R, eq.L}} {
			if !namesField(pair[0], offset, len(r.Fields())) || namesField(pair[1], offset, len(r.Fields())) {
				continue
			}
			equal = true
			if column, ok := withoutRescale(pair[0]).(*tree.Column); ok {
				met = min(met, s.rowsOfOneValue(r, column.Index-offset, l.rows))
			}
		}
	}
	return max(1, met), equal
}

// rowsOfOneValue is how many rows of a public relation have one value of a field at most.
func (s Sizes) rowsOfOneValue(r tree.Relation, field int, rows float64) float64 {
	switch r := r.(type) {
	case *tree.Scan:
		if r.Row[field].Key {
			return 1
		}
		if n, ok := s.Tables[r.Table.Name].Most[r.Row[field].Name]; ok {
			return float64(n)
		}
	case *tree.Select:
		if c, ok := r.Columns[field].(*tree.Column); ok {
			return s.rowsOfOneValue(r.From, c.Index, rows)
		}
	}
	return rows
}

// valuesOf is how many values an expression has, at most.
func (s Sizes) valuesOf(e tree.Expr, from load) float64 {
	n := 1.0
	tree.WalkRow(e, func(x tree.Expr) {
		if c, ok := x.(*tree.Column); ok {
			n *= s.valuesOfField(c.Field, from)
		}
	})
	return min(n, from.rows)
}

// valuesOfField is how many values a field has: a column's of the policy, wherever it comes from.
func (s Sizes) valuesOfField(f tree.Field, from load) float64 {
	if f.Source == nil {
		return from.rows
	}
	found := 0.0
	for _, t := range s.Tables {
		if n, ok := t.Values[f.Source.Name]; ok {
			found = max(found, float64(n))
		}
	}
	if found == 0 {
		return from.rows
	}
	return found
}

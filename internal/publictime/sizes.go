package publictime

import "math/bits"

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
	Fewest   = 1 << 10
	Shortest = 1 << 3
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
	if half := between(top); n <= half {
		return half
	}
	return 1 << top
}

// between is the half-octave below 2^top, rounded up: 2^(top-1/2).
func between(top int) int64 {
	// The square of it is 2^(2 top - 1), of which the root is found bit by bit, exactly.
	low, high := uint64(1)<<(top-1), uint64(1)<<top // low^2 < it <= high^2
	for low+1 < high {
		mid := (low + high) / 2
		if h, l := bits.Mul64(mid, mid); compare(h, l, 2*top-1) < 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return int64(high)
}

// compare compares a number of 128 bits with 2^power.
func compare(hi, lo uint64, power int) int {
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

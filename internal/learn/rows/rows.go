// Package rows holds training rows: features as float32, each row clipped to a radius, and a target
// for each. What is in them stays in them: they cannot be printed or encoded, and a test in
// internal/architecture names the packages that may hold them.
//
// # What is proven
//
// Every row x that [Builder.Add] keeps has |x| <= radius, as real numbers. Its numbers are float32,
// so their squares are exact as float64 (48 bits, and no exponent is out of range), and adding d of
// them in any order gives at least (1-u)^d of the sum, u = 2^-53. A row is kept as it is only if
// what was computed, times 1 + 4(d+4)u, is at most radius^2 (1-4u), both as computed: then the sum
// itself is at most radius^2. Otherwise it is made shorter, rounded to float32 and looked at again;
// after a few times that it did not help it is 0. What becomes of a row depends on the row and on
// nothing else.
package rows

import (
	"errors"
	"fmt"
)

// Rows are training rows. They do not change once they are built.
type Rows struct {
	// A function and not a struct, because fmt looks into structs.
	inside func() *store
}

// store has the rows in pieces of a size that is a power of two, so that a million of them grow
// without being copied.
type store struct {
	n, dim  int
	radius  float64
	shift   int         // a piece has 1 << shift rows
	x       [][]float32 // piece by piece, row by row
	targets []float32   // a class by its number, or a number from -1 to 1
}

func (r *Rows) open() *store {
	if r == nil || r.inside == nil {
		return &store{}
	}
	return r.inside()
}

// Len is the number of rows. It is private.
func (r *Rows) Len() int { return r.open().n }

// Dim is the number of features.
func (r *Rows) Dim() int { return r.open().dim }

// Radius is what no row is longer than.
func (r *Rows) Radius() float64 { return r.open().radius }

// Row is the features of a row, for reading.
func (r *Rows) Row(i int) []float32 {
	s := r.open()
	at := (i & (1<<s.shift - 1)) * s.dim
	return s.x[i>>s.shift][at : at+s.dim : at+s.dim]
}

// Target is the target of a row.
func (r *Rows) Target(i int) float32 { return r.open().targets[i] }

const sealed = "[rows]"

// String hides the rows.
func (Rows) String() string { return sealed }

// Format hides the rows from every verb.
func (Rows) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

var errEncoded = errors.New("training rows cannot be encoded")

// MarshalJSON refuses: rows in a document are a bug, not a format.
func (Rows) MarshalJSON() ([]byte, error) { return nil, errEncoded }

// GobEncode refuses for the same reason.
func (Rows) GobEncode() ([]byte, error) { return nil, errEncoded }

package solve

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/mechanism/learn/vector"
)

// Training rows are features as float32, each row clipped to a radius, and a target for each. What
// is in them stays in them: they cannot be printed or encoded, and a test in
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

func (r *Rows) Dim() int { return r.open().dim }

// Radius is what no row is longer than.
func (r *Rows) Radius() float64 { return r.open().radius }

// Row is the features of a row, for reading.
func (r *Rows) Row(i int) []float32 {
	s := r.open()
	at := (i & (1<<s.shift - 1)) * s.dim
	return s.x[i>>s.shift][at : at+s.dim : at+s.dim]
}

func (r *Rows) Target(i int) float32 { return r.open().targets[i] }

const sealed = "[rows]"

func (Rows) String() string             { return sealed }
func (Rows) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

var errEncoded = errors.New("training rows cannot be encoded")

// MarshalJSON refuses: rows in a document are a bug, not a format.
func (Rows) MarshalJSON() ([]byte, error) { return nil, errEncoded }

func (Rows) GobEncode() ([]byte, error) { return nil, errEncoded }

// Builder collects rows.
type Builder struct {
	inside func() *store
	row    func() []float32 // room for one
}

// pieceSize is about how many numbers a piece has.
const pieceSize = 1 << 18

// NewBuilder returns a builder of rows with dim features that are at most radius long. With a
// radius that is no positive number all rows are 0.
func NewBuilder(dim int, radius float64) *Builder {
	s := &store{dim: max(0, dim), radius: radius}
	for s.shift < 16 && s.dim<<(s.shift+1) <= pieceSize {
		s.shift++
	}
	room := make([]float32, s.dim)
	return &Builder{func() *store { return s }, func() []float32 { return room }}
}

// Add adds a row, clipped. Features that are missing at the end of x are 0, those that are too many
// are left out, and so is what is no number.
func (b *Builder) Add(x []float64, target float32) { add(b, x, target) }

// Add32 is Add for features that are float32 already.
func (b *Builder) Add32(x []float32, target float32) { add(b, x, target) }

func add[N vector.Number](b *Builder, x []N, target float32) {
	s := b.inside()
	row := b.row()
	vector.ClipInto(row, x, s.radius)
	if s.n>>s.shift == len(s.x) {
		// The first piece grows, because there are small tables; the others have their size at
		// once.
		size := 0
		if len(s.x) > 0 {
			size = s.dim << s.shift
		}
		s.x = append(s.x, make([]float32, 0, size))
	}
	last := &s.x[len(s.x)-1]
	*last = append(*last, row...)
	s.targets = append(s.targets, target)
	s.n++
}

// Rows returns the rows. The builder is empty afterwards.
func (b *Builder) Rows() *Rows {
	s := b.inside()
	*b = *NewBuilder(s.dim, s.radius)
	return &Rows{func() *store { return s }}
}

func (Builder) String() string               { return sealed }
func (Builder) Format(f fmt.State, _ rune)   { fmt.Fprint(f, sealed) }
func (Builder) MarshalJSON() ([]byte, error) { return nil, errEncoded }
func (Builder) GobEncode() ([]byte, error)   { return nil, errEncoded }

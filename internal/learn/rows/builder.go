package rows

import (
	"fmt"
	"math"
)

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

// Number is what features are given as.
type Number interface{ ~float32 | ~float64 }

// Add adds a row, clipped. Features that are missing at the end of x are 0, those that are too many
// are left out, and so is what is no number.
func (b *Builder) Add(x []float64, target float32) { add(b, x, target) }

// Add32 is Add for features that are float32 already.
func (b *Builder) Add32(x []float32, target float32) { add(b, x, target) }

func add[N Number](b *Builder, x []N, target float32) {
	s := b.inside()
	row := b.row()
	clip(row, x, s.radius)
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

// Clip returns what Add would keep of a row.
func Clip(x []float64, radius float64) []float32 {
	row := make([]float32, len(x))
	clip(row, x, radius)
	return row
}

// Rows returns the rows. The builder is empty afterwards.
func (b *Builder) Rows() *Rows {
	s := b.inside()
	*b = *NewBuilder(s.dim, s.radius)
	return &Rows{func() *store { return s }}
}

// String hides what was collected.
func (Builder) String() string { return sealed }

// Format hides it from every verb.
func (Builder) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

// MarshalJSON refuses.
func (Builder) MarshalJSON() ([]byte, error) { return nil, errEncoded }

// GobEncode refuses.
func (Builder) GobEncode() ([]byte, error) { return nil, errEncoded }

// huge is what features are brought below: their squares and sums of these are far from the end of
// float64, and they are float32.
const huge = 0x1p100

// clip sets row to x, made shorter where it is longer than radius.
func clip[N Number](row []float32, x []N, radius float64) {
	length := 0.0
	for j := range row {
		v := 0.0
		if j < len(x) {
			v = tame(float64(x[j]))
		}
		row[j] = float32(v)
		length += v * v
	}
	if fits(row, radius) {
		return
	}
	// What is lost to rounding is looked for afterwards, so nothing is proven here. The first try
	// is 2^-20 too short, which float32 does not undo unless numbers are near the smallest there
	// are.
	factor := radius / math.Sqrt(length)
	for range 3 {
		factor *= 1 - 0x1p-20
		for j := range row {
			v := 0.0
			if j < len(x) {
				v = tame(float64(x[j])) * factor
			}
			row[j] = float32(tame(v))
		}
		if fits(row, radius) {
			return
		}
	}
	clear(row)
}

func tame(v float64) float64 {
	if v != v {
		return 0
	}
	return max(-huge, min(huge, v))
}

// fits says, with proof, that a row is at most radius long.
func fits(row []float32, radius float64) bool {
	const u = 0x1p-53
	sum := 0.0
	for _, v := range row {
		sum += float64(v) * float64(v)
	}
	if sum == 0 {
		return true // every square is: the least is 2^-298
	}
	return radius > 0 && sum*(1+4*float64(len(row)+4)*u) <= radius*radius*(1-4*u)
}

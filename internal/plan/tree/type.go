package tree

import (
	"fmt"
	"math/big"
)

// Kind is what a value is.
type Kind int

const (
	// Number is an exact number on a lattice: a whole number of steps.
	Number Kind = iota + 1
	// Real is a floating-point number. It is compared, or rounded to a Number
	// row by row, and is never in a sum itself.
	Real
	// Text is a string, compared byte by byte.
	Text
	// Boolean is true or false.
	Boolean
	// Date is a day.
	Date
	// Timestamp is a moment, in microseconds since 1970 in UTC.
	Timestamp
	// Identity says who or what a row is about, as it is stored. It is equal to another or not, and
	// nothing else can be done with it.
	Identity
)

func (k Kind) String() string {
	return [...]string{"unknown", "number", "real number", "text", "boolean", "date", "timestamp", "identity"}[k]
}

// Type is a kind and, for numbers, the lattice and the interval that the value
// is proven to lie in. Interval arithmetic carries the interval through every
// operation, and that is the proof that nothing overflows.
type Type struct {
	Kind Kind
	Step *big.Rat // Number: the size of one step
	// Lo and Hi are the smallest and the largest value: of a Number in steps, of a Date in
	// days, of a Timestamp in microseconds. A time without them is any that can be stored.
	Lo, Hi *big.Int
	// Declared says that the interval follows from bounds of the policy and
	// literals alone, so that a sum can be calibrated to it. The interval of a
	// column without bounds is its storage type's.
	Declared bool
	// Exponent bounds a Real: its absolute value is below 2^Exponent.
	Exponent int
	// Range bounds a Real more closely, where it is known.
	Range *Range
	// MaxLength is how many characters a Text has at most; 0 where nothing is known.
	MaxLength int
	// loDeclared and hiDeclared say the same as Declared of one end alone.
	LoDeclared, HiDeclared bool
}

// The widest interval an expression may have. A result is checked before it is
// ever computed, so every number fits in 128 bits with room to spare.
var Widest = new(big.Int).Lsh(big.NewInt(1), 120)

// MaxExponent keeps doubles far from infinity.
const MaxExponent = 900

// AnyExponent is that of a stored double, which may be as large as doubles are:
// it can be compared, but not computed with.
const AnyExponent = 1024

func NumberType(step *big.Rat, lo, hi *big.Int, declared bool) Type {
	return Type{Kind: Number, Step: step, Lo: lo, Hi: hi, Declared: declared}
}

// Wide reports whether the number needs more than 64 bits.
func (t Type) Wide() bool {
	return t.Kind == Number && (t.Lo.BitLen() > 62 || t.Hi.BitLen() > 62)
}

// TooWide reports whether the interval or the step is beyond what can be computed
// with. The step is checked too, because 1e-300 is a single step of a lattice that
// no engine has a number for.
func (t Type) TooWide() bool {
	return t.Kind == Number && (t.Lo.CmpAbs(Widest) > 0 || t.Hi.CmpAbs(Widest) > 0 ||
		t.Step.Num().CmpAbs(Widest) > 0 || t.Step.Denom().CmpAbs(Widest) > 0)
}

// Integer reports whether the lattice is the integers.
func (t Type) Integer() bool { return t.Kind == Number && t.Step.Cmp(One) == 0 }

var One = big.NewRat(1, 1)

func (t Type) String() string {
	if t.Kind == Number {
		return fmt.Sprintf("number[%v..%v by %v]", t.Lo, t.Hi, t.Step.RatString())
	}
	return t.Kind.String()
}

// CountDecimals returns how many digits after the point multiples of a step have.
func CountDecimals(step *big.Rat) (int, bool) {
	n, exact := step.FloatPrec()
	return n, exact && n <= MaxDigits
}

// Decimals returns how many digits after the point a Number has that is cast to text.
func (t Type) Decimals() int { n, _ := CountDecimals(t.Step); return n }

// Functions whose value is an exact number: abs, sign, roundings, mod, width_bucket.

// MaxDigits is how many digits a rounding can name, on both sides of the point.
const MaxDigits = 12

// Power10 is 10^n, also below the point.
func Power10(n int) *big.Rat {
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, -n))), nil)
	if n < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// RoundingRatio returns how many new steps an old step is, as a fraction.
func (t Type) RoundingRatio(step *big.Rat) (p, q *big.Int) {
	ratio := new(big.Rat).Quo(t.Step, step)
	return ratio.Num(), ratio.Denom()
}

// LoIsDeclared and to report whether the lower and the upper end follow from the policy and literals.
func (t Type) LoIsDeclared() bool { return t.Declared || t.LoDeclared }

func (t Type) HiIsDeclared() bool { return t.Declared || t.HiDeclared }

// TimeType is the type of a Date or a Timestamp between two ends.
func TimeType(k Kind, lo, hi *big.Int, declared bool) Type {
	return Type{Kind: k, Lo: lo, Hi: hi, Declared: declared}
}

// Span returns the interval of a time, which is that of its storage where nothing else is known.
func (t Type) Span() (lo, hi *big.Int) {
	switch {
	case t.Lo != nil:
		return t.Lo, t.Hi
	case t.Kind == Date:
		return big.NewInt(-1 << 31), big.NewInt(1<<31 - 1)
	}
	return MinInt64, MaxInt64
}

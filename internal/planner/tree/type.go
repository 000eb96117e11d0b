package tree

import (
	"math"
	"math/big"
	"time"

	"github.com/discreet-dp/discreet/policy"
)

type Kind int

const (
	// Number is an exact number on a lattice: a whole number of steps.
	Number Kind = iota + 1
	// Real is a floating-point number. It is compared, or rounded to a Number
	// row by row, and is never in a sum itself.
	Real
	// Text is a string, compared byte by byte.
	Text
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
	// Declared says that the interval follows from bounds of the policy and literals alone, so that
	// a sum can be calibrated to it. The interval of a column without bounds is its storage type's.
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
func (t Type) Wide() bool { return t.Kind == Number && (t.Lo.BitLen() > 62 || t.Hi.BitLen() > 62) }

// TooWide reports whether the interval or the step is beyond what can be computed with. The step is
// checked too, because 1e-300 is a single step of a lattice that no engine has a number for.
func (t Type) TooWide() bool {
	return t.Kind == Number && (t.Lo.CmpAbs(Widest) > 0 || t.Hi.CmpAbs(Widest) > 0 ||
		t.Step.Num().CmpAbs(Widest) > 0 || t.Step.Denom().CmpAbs(Widest) > 0)
}

func (t Type) Integer() bool { return t.Kind == Number && t.Step.Cmp(One) == 0 }

var One = big.NewRat(1, 1)

func (t Type) String() string {
	if t.Kind == Number {
		return "number[" + t.Lo.String() + ".." + t.Hi.String() + " by " + t.Step.RatString() + "]"
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

// LoIsDeclared and to report whether the lower and the upper end follow from the policy and
// literals.
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

// Range is the interval that a Real is proven to lie in. Sums, products, quotients and
// square roots are rounded in one way by every machine, and rounding keeps
// order, so the ends of a result are the results at the ends. Logarithms and powers
// may differ in the last bits between machines; their ends are moved outward by far more.
type Range struct{ Low, High float64 }

func (r Range) Holds(x float64) bool { return r.Low <= x && x <= r.High }
func (r Range) Inside(s Range) bool  { return s.Low <= r.Low && r.High <= s.High }
func (r Range) Hull(s Range) Range   { return Range{min(r.Low, s.Low), max(r.High, s.High)} }
func (r Range) Largest() float64     { return max(math.Abs(r.Low), math.Abs(r.High)) }

func EveryReal() Range { return Range{-math.MaxFloat64, math.MaxFloat64} }

func (t Type) RealRange() Range {
	switch {
	case t.Range != nil:
		return *t.Range
	case t.Exponent >= AnyExponent:
		return EveryReal()
	}
	return Range{-math.Ldexp(1, t.Exponent), math.Ldexp(1, t.Exponent)}
}

// Value is the value of an expression: nil for NULL, *big.Int steps for a
// Number, float64 for a Real, string, bool, Day or Moment.
type Value any

// Day is a date in days since 1970-01-01.
type Day int64

func (d Day) String() string { return policy.FormatDate(int64(d)) }

func (e *Literal) Value() Value {
	switch {
	case e.Number != nil:
		return e.Number
	case e.Text != nil:
		return *e.Text
	case e.Bool != nil:
		return *e.Bool
	case e.Days != nil:
		return Day(*e.Days)
	case e.Micros != nil:
		return Moment(*e.Micros)
	}
	return nil
}

// Moment is a timestamp in microseconds since 1970-01-01 00:00:00 UTC.
type Moment int64

func (m Moment) String() string { return policy.FormatTimestamp(int64(m)) }

const (
	DayMicros = 24 * 60 * 60 * 1_000_000
	// FirstDay and lastDay are 0001-01-01 and 9999-12-31. Functions of times outside are NULL.
	FirstDay, LastDay       = -719162, 2932896
	FirstMicros, LastMicros = FirstDay * DayMicros, (LastDay+1)*DayMicros - 1
)

func (m Moment) Day() Day {
	d := int64(m) / DayMicros
	if int64(m)%DayMicros < 0 {
		d--
	}
	return Day(d)
}

func (d Day) Time() time.Time { return time.Unix(int64(d)*(DayMicros/1_000_000), 0).UTC() }
func (d Day) Start() Moment   { return Moment(int64(d) * DayMicros) }

func NewDay(t time.Time) Day { return Day(t.Unix() / (DayMicros / 1_000_000)) }

func (m Moment) TimeOfDay() int64 { return int64(m) - int64(m.Day())*DayMicros }

func CivilDate(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }

// AddMonths moves a day by months; a day that the month has not becomes its last one.
func (d Day) AddMonths(n int) Day {
	t := d.Time()
	first := CivilDate(t.Year(), int(t.Month())+n, 1)
	last := CivilDate(first.Year(), int(first.Month())+1, 0).Day()
	return NewDay(first) + Day(min(t.Day(), last)-1)
}

// ConstantFactor splits a number into an expression and what it is multiplied by: x is y times f.
// The number of steps of x is then f times that of y.
func ConstantFactor(x Expr) (y Expr, f *big.Int) {
	f = big.NewInt(1)
	for {
		switch e := x.(type) {
		case *Rescale:
			x, f = e.X, new(big.Int).Mul(f, e.Factor)
			continue
		case *Arith:
			if l, ok := e.R.(*Literal); ok && e.Op == Mul && l.Number != nil && e.Typ.Kind == Number {
				x, f = e.L, new(big.Int).Mul(f, l.Number)
				continue
			}
		}
		return x, f
	}
}

// Factored splits a number into an expression and the whole number that its steps are multiplied
// by, so that an engine that multiplies by another one has one constant to write.
func Factored(x Expr) (y Expr, f *big.Int) {
	if y, f = ConstantFactor(x); IsZero(y) {
		f = new(big.Int)
	}
	return y, f
}

// IsZero reports whether a number is 0 or NULL, whatever the row.
func IsZero(x Expr) bool {
	t := x.Type()
	return t.Kind == Number && t.Lo.Sign() == 0 && t.Hi.Sign() == 0
}

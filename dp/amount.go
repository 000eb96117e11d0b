package dp

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Amount is a non-negative amount of privacy loss in units of 2^-40: an epsilon, a rho or a delta.
type Amount uint64

const (
	// One is the amount 1.
	One Amount = 1 << 40
	// Unbounded is the amount of a claim that a mechanism cannot make, such as
	// the pure epsilon of Gaussian noise. Nothing admits it.
	Unbounded Amount = math.MaxUint64
	// maxAmount bounds what a person can ask for. Sums of far more charges
	// than a ledger can hold stay below Unbounded.
	maxAmount = One << 20
)

// ErrAmount is returned when a text or number is not an amount of privacy.
var ErrAmount = errors.New("not an amount of privacy: write a positive decimal number such as 0.5 or 1e-6")

// Floor returns the largest amount that is not above r. Use it for limits and
// for what somebody asks for.
func Floor(r *big.Rat) (Amount, error) { return fromRat(r, false) }

// Ceil returns the smallest amount that is not below r. Use it for what a mechanism costs.
func Ceil(r *big.Rat) (Amount, error) { return fromRat(r, true) }

func fromRat(r *big.Rat, up bool) (Amount, error) {
	if r.Sign() < 0 {
		return 0, fmt.Errorf("%w; it is negative", ErrAmount)
	}
	n := new(big.Int).Lsh(r.Num(), 40)
	q, rem := n.QuoRem(n, r.Denom(), new(big.Int))
	if up && rem.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	if !q.IsUint64() || Amount(q.Uint64()) > maxAmount {
		return 0, fmt.Errorf("%w; the largest is %d", ErrAmount, maxAmount/One)
	}
	return Amount(q.Uint64()), nil
}

// FloorFloat is [Floor] of a finite float64.
func FloorFloat(f float64) (Amount, error) { return fromFloat(f, Floor) }

// CeilFloat is [Ceil] of a finite float64.
func CeilFloat(f float64) (Amount, error) { return fromFloat(f, Ceil) }

func fromFloat(f float64, round func(*big.Rat) (Amount, error)) (Amount, error) {
	r := new(big.Rat)
	if r.SetFloat64(f) == nil {
		return 0, fmt.Errorf("%w; it is not finite", ErrAmount)
	}
	return round(r)
}

// Parse reads a decimal number such as "0.1" or "1e-6", exactly, and rounds it
// down. It refuses everything that is not a decimal number, negative numbers, and numbers
// above 2^20 or, but for 0 itself, below 2^-40.
func Parse(text string) (Amount, error) {
	r, err := ParseDecimal(text)
	if err != nil {
		return 0, fmt.Errorf("%q is %w", text, ErrAmount)
	}
	a, err := Floor(r)
	if err != nil {
		return 0, fmt.Errorf("%q is %w", text, err)
	}
	if a == 0 && r.Sign() > 0 {
		// Rounded down it would be nothing, which some take for "the default".
		return 0, fmt.Errorf("%q is %w; the smallest is 2^-40, about 1e-12", text, ErrAmount)
	}
	return a, nil
}

// ParseDecimal reads a decimal number exactly. Unlike [big.Rat.SetString] it takes no
// fractions, no other bases, and no exponent that would not fit in memory.
func ParseDecimal(text string) (*big.Rat, error) {
	bad := errors.New("not a decimal number")
	if text == "" || len(text) > 64 || strings.Trim(text, "0123456789.eE+-") != "" {
		return nil, bad
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(text[i+1:]); err != nil || e > 400 || e < -400 {
			return nil, bad
		}
	}
	// big.Rat takes a leading 0 as an octal prefix only for integers with a base
	// prefix such as 0b or 0x, which the character set above excludes, but it
	// would read 010 as decimal: what we want.
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, bad
	}
	return r, nil
}

// Add returns a + b, or Unbounded where that does not fit.
func (a Amount) Add(b Amount) Amount {
	if a > Unbounded-b {
		return Unbounded
	}
	return a + b
}

// Sub returns a - b, or 0 where b is larger. What is left of something unbounded stays unbounded.
func (a Amount) Sub(b Amount) Amount {
	switch {
	case a == Unbounded:
		return Unbounded
	case b > a:
		return 0
	}
	return a - b
}

// Mul returns n times a, or Unbounded where that does not fit. Nothing, however often, is nothing,
// and so is none of something unbounded.
func (a Amount) Mul(n uint64) Amount {
	high, low := bits.Mul64(uint64(a), n)
	if high > 0 {
		return Unbounded
	}
	return Amount(low)
}

// Rat returns the exact value. It panics for Unbounded, which has none.
func (a Amount) Rat() *big.Rat {
	if a == Unbounded {
		panic("dp: an unbounded amount has no value")
	}
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(uint64(a)), big.NewInt(int64(One)))
}

// Float returns the value as a float64, for reading and never for deciding.
func (a Amount) Float() float64 {
	if a == Unbounded {
		return math.Inf(1)
	}
	return math.Ldexp(float64(a), -40)
}

// String returns the shortest decimal within one unit of the amount, so that
// what was asked for as 0.1 is shown as 0.1, or else ten significant digits.
func (a Amount) String() string {
	if a == Unbounded {
		return "unbounded"
	}
	f := a.Float()
	for p := 1; p < 10; p++ {
		s := strconv.FormatFloat(f, 'g', p, 64)
		if g, _ := strconv.ParseFloat(s, 64); math.Abs(g-f) <= math.Ldexp(1, -40) {
			return plain(g)
		}
	}
	g, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 10, 64), 64)
	return plain(g)
}

// Short returns at most five significant digits and nothing below 1e-10, for
// tables and messages: what ten charges of a tenth leave of 1 is shown as 0.
func (a Amount) Short() string {
	if a == Unbounded {
		return "-"
	}
	f, _ := strconv.ParseFloat(strconv.FormatFloat(a.Float(), 'g', 5, 64), 64)
	if f < 1e-10 {
		f = 0
	}
	return plain(f)
}

// plain writes numbers of everyday size without an exponent.
func plain(f float64) string {
	if f == 0 || (f >= 1e-4 && f < 1e9) {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// MarshalJSON writes the number that String shows, and null for Unbounded.
func (a Amount) MarshalJSON() ([]byte, error) {
	if a == Unbounded {
		return []byte("null"), nil
	}
	return []byte(a.String()), nil
}

func (a *Amount) UnmarshalJSON(text []byte) (err error) {
	if string(text) == "null" {
		*a = Unbounded
		return nil
	}
	r, err := ParseDecimal(string(text))
	if err != nil {
		return fmt.Errorf("%.40q is %w", text, ErrAmount)
	}
	*a, err = Floor(r)
	return err
}

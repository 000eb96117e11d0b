package datum

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Numeric is a decimal number with the digits after its point that it is written with, or NaN or an
// infinity.
type Numeric struct {
	digits  *big.Int // the number times 10 to the scale; nil is 0
	scale   int
	special int8
}

// The numbers that are none.
var (
	NaN      = Numeric{special: 2}
	Infinite = Numeric{special: 1}
)

// MaxDigits is how many digits a Numeric has at most. PostgreSQL's have up to 147,455.
const MaxDigits = 1000

func (Numeric) value() {}

func (n Numeric) number() *big.Int {
	if n.digits == nil {
		return new(big.Int)
	}
	return n.digits
}

// NewNumeric is a whole number.
func NewNumeric(n int64) Numeric { return Numeric{digits: big.NewInt(n)} }

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, 0))), nil)
}

// Fits reports whether a number is not too long.
func (n Numeric) Fits() bool { return n.number().BitLen() < MaxDigits*10/3 && n.scale <= MaxDigits }

// ParseNumeric reads a number such as -1.50 or 2e-3.
func ParseNumeric(text string) (n Numeric, ok bool) {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "nan":
		return NaN, true
	case "inf", "infinity", "+inf", "+infinity":
		return Infinite, true
	case "-inf", "-infinity":
		return Infinite.Negated(), true
	}
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		e, err := strconv.Atoi(text[i+1:])
		if err != nil || e > MaxDigits || e < -MaxDigits {
			return n, false
		}
		mantissa, exponent = text[:i], e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if len(text) > 2*MaxDigits || strings.TrimLeft(whole, "+-")+fraction == "" || strings.Trim(fraction, "0123456789") != "" {
		return n, false
	}
	digits, ok := new(big.Int).SetString(whole+fraction, 10)
	n = Numeric{digits: digits, scale: len(fraction) - exponent}
	if ok && n.scale < 0 {
		n.digits.Mul(n.digits, powerOfTen(-n.scale))
		n.scale = 0
	}
	return n, ok && n.Fits()
}

// FromFloat is a double as a Numeric, in the 15 digits that it is sure of.
func FromFloat(f float64) Numeric {
	switch {
	case math.IsNaN(f):
		return NaN
	case math.IsInf(f, 1):
		return Infinite
	case math.IsInf(f, -1):
		return Infinite.Negated()
	}
	n, _ := ParseNumeric(strconv.FormatFloat(f, 'e', 14, 64))
	return n.Trimmed()
}

func (n Numeric) String() string {
	switch n.special {
	case 2:
		return "NaN"
	case 1:
		return "Infinity"
	case -1:
		return "-Infinity"
	}
	s := new(big.Int).Abs(n.number()).String()
	if n.scale > 0 {
		if len(s) <= n.scale {
			s = strings.Repeat("0", n.scale-len(s)+1) + s
		}
		s = s[:len(s)-n.scale] + "." + s[len(s)-n.scale:]
	}
	if n.number().Sign() < 0 {
		return "-" + s
	}
	return s
}

// Float is the nearest double.
func (n Numeric) Float() float64 {
	switch n.special {
	case 2:
		return math.NaN()
	case 1, -1:
		return math.Inf(int(n.special))
	}
	f, _ := strconv.ParseFloat(n.String(), 64)
	return f
}

// Finite reports whether it is a number.
func (n Numeric) Finite() bool { return n.special == 0 }

// Scale is how many digits are after the point.
func (n Numeric) Scale() int { return n.scale }

// Sign is -1, 0 or 1.
func (n Numeric) Sign() int {
	if n.special != 0 {
		return int(n.special)
	}
	return n.number().Sign()
}

// Int64 is a whole number of this size, where it is one that fits.
func (n Numeric) Int64() (int64, bool) {
	r := n.Round(0)
	return r.number().Int64(), n.special == 0 && r.number().IsInt64()
}

// Compare orders numbers; NaN is above all others.
func (n Numeric) Compare(o Numeric) int {
	if n.special != 0 || o.special != 0 {
		return cmp.Compare(n.special, o.special)
	}
	a, b := n.aligned(o)
	return a.Cmp(b)
}

// aligned are the digits of two numbers at the same scale.
func (n Numeric) aligned(o Numeric) (*big.Int, *big.Int) {
	a, b := n.number(), o.number()
	if n.scale < o.scale {
		a = new(big.Int).Mul(a, powerOfTen(o.scale-n.scale))
	} else if o.scale < n.scale {
		b = new(big.Int).Mul(b, powerOfTen(n.scale-o.scale))
	}
	return a, b
}

// Negated is -n.
func (n Numeric) Negated() Numeric {
	switch n.special {
	case 2:
		return n
	case 1, -1:
		return Numeric{special: -n.special}
	}
	return Numeric{digits: new(big.Int).Neg(n.number()), scale: n.scale}
}

// Plus is n + o.
func (n Numeric) Plus(o Numeric) Numeric {
	switch {
	case n.special == 2 || o.special == 2 || n.special*o.special < 0:
		return NaN
	case n.special != 0:
		return n
	case o.special != 0:
		return o
	}
	a, b := n.aligned(o)
	return Numeric{digits: new(big.Int).Add(a, b), scale: max(n.scale, o.scale)}
}

// Times is n * o.
func (n Numeric) Times(o Numeric) Numeric {
	if n.special != 0 || o.special != 0 {
		sign := n.Sign() * o.Sign()
		if n.special == 2 || o.special == 2 || sign == 0 {
			return NaN
		}
		return Numeric{special: int8(sign)}
	}
	return Numeric{digits: new(big.Int).Mul(n.number(), o.number()), scale: n.scale + o.scale}
}

// leading is the place of the first group of four digits, as PostgreSQL keeps them, and the group.
func (n Numeric) leading() (weight int, digit int64) {
	if n.number().Sign() == 0 {
		return 0, 0
	}
	s := new(big.Int).Abs(n.number()).String()
	first := len(s) - n.scale // digits before the point; 0 or less where the first is behind it
	weight = int(math.Floor(float64(first-1) / 4))
	width := first - 4*weight
	group := s[:min(width, len(s))]
	digit, _ = strconv.ParseInt(group+strings.Repeat("0", width-len(group)), 10, 64)
	return weight, digit
}

// Over is n / o, where o is not 0: with at least 16 digits, as PostgreSQL chooses them.
func (n Numeric) Over(o Numeric) Numeric {
	switch {
	case n.special == 2 || o.special == 2 || n.special != 0 && o.special != 0:
		return NaN
	case n.special != 0:
		return Numeric{special: n.special * int8(o.Sign())}
	case o.special != 0:
		return Numeric{}
	}
	w1, d1 := n.leading()
	w2, d2 := o.leading()
	weight := w1 - w2
	if d1 <= d2 {
		weight--
	}
	scale := min(max(16-4*weight, n.scale, o.scale, 0), 1000)
	// One digit more, which rounds.
	top := new(big.Int).Mul(n.number(), powerOfTen(scale+1+o.scale))
	bottom := new(big.Int).Mul(o.number(), powerOfTen(n.scale))
	return Numeric{digits: top.Quo(top, bottom), scale: scale + 1}.Round(scale)
}

// Remainder is what is left of n after division by o, which is not 0.
func (n Numeric) Remainder(o Numeric) Numeric {
	switch {
	case n.special != 0 || o.special == 2:
		return NaN
	case o.special != 0:
		return n
	}
	a, b := n.aligned(o)
	return Numeric{digits: new(big.Int).Rem(a, b), scale: max(n.scale, o.scale)}
}

// Truncated is n without the digits after the first places behind the point, or before it where
// places is negative; Round rounds there, halves away from 0.
func (n Numeric) Truncated(places int) Numeric { return n.cut(places, false) }

// Round is n rounded.
func (n Numeric) Round(places int) Numeric { return n.cut(places, true) }

func (n Numeric) cut(places int, round bool) Numeric {
	places = max(min(places, MaxDigits), -MaxDigits)
	switch {
	case n.special != 0:
		return n
	case places >= n.scale:
		return Numeric{digits: new(big.Int).Mul(n.number(), powerOfTen(places-n.scale)), scale: places}
	}
	unit := powerOfTen(n.scale - places)
	q, r := new(big.Int).QuoRem(n.number(), unit, new(big.Int))
	if round && new(big.Int).Lsh(r.Abs(r), 1).Cmp(unit) >= 0 {
		q.Add(q, big.NewInt(int64(n.number().Sign())))
	}
	if places < 0 {
		q.Mul(q, powerOfTen(-places))
	}
	return Numeric{digits: q, scale: max(places, 0)}
}

// Trimmed is n without zeros at its end behind the point.
func (n Numeric) Trimmed() Numeric {
	if n.special != 0 || n.scale == 0 {
		return n
	}
	s := n.number().String()
	zeros := min(len(s)-len(strings.TrimRight(s, "0")), n.scale)
	if n.number().Sign() == 0 {
		zeros = n.scale
	}
	return n.Truncated(n.scale - zeros)
}

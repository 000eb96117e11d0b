package interpret

import (
	"math"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
)

// mathFunctions are the functions on doubles.
var mathFunctions = []Function{
	{"sqrt|dsqrt(float8) float8", root},
	{"cbrt|dcbrt(float8) float8", mapFloat(math.Cbrt)},
	{"exp|dexp(float8) float8", finite(math.Exp)},
	{"ln|dlog1(float8) float8", logarithm(math.Log)},
	{"log|log10|dlog10(float8) float8", logarithm(math.Log10)},
	{"sign(float8) float8", mapFloat(func(f float64) float64 {
		switch {
		case f > 0:
			return 1
		case f < 0:
			return -1
		}
		return f
	})},
	{"degrees(float8) float8", finite(func(f float64) float64 { return f / (math.Pi / 180) })},
	{"radians(float8) float8", finite(func(f float64) float64 { return f * (math.Pi / 180) })},
	{"sin(float8) float8", ofAngle(math.Sin)}, {"cos(float8) float8", ofAngle(math.Cos)},
	{"tan(float8) float8", ofAngle(math.Tan)},
	{"cot(float8) float8", ofAngle(func(f float64) float64 { return 1 / math.Tan(f) })},
	{"asin(float8) float8", within(-1, 1, math.Asin)}, {"acos(float8) float8", within(-1, 1, math.Acos)},
	{"atan(float8) float8", mapFloat(math.Atan)},
	{"sinh(float8) float8", mapFloat(math.Sinh)}, {"cosh(float8) float8", mapFloat(math.Cosh)},
	{"tanh(float8) float8", mapFloat(math.Tanh)}, {"asinh(float8) float8", mapFloat(math.Asinh)},
	{"acosh(float8) float8", within(1, math.Inf(1), math.Acosh)}, {"atanh(float8) float8", within(-1, 1, math.Atanh)},
	{"atan2(float8,float8) float8", func(c *Call) (datum.Value, error) {
		return datum.Float(math.Atan2(float(c.Args[0]), float(c.Args[1]))), nil
	}},
	{"power|pow|dpow(float8,float8) float8", func(c *Call) (datum.Value, error) { return power(float(c.Args[0]), float(c.Args[1])) }},
	{"pi() float8", func(*Call) (datum.Value, error) { return datum.Float(math.Pi), nil }},
	{"dround(float8) float8", mapFloat(math.RoundToEven)}, {"dtrunc(float8) float8", mapFloat(math.Trunc)},
	{"factorial(int8) numeric", factorial},
	{"gcd(int4,int4) int4", func(c *Call) (datum.Value, error) { return checkRange(datum.Int(gcd(c.Int(0), c.Int(1))), c.Types[0]) }},
	{"gcd(int8,int8) int8", func(c *Call) (datum.Value, error) {
		if n := gcd(c.Int(0), c.Int(1)); n >= 0 {
			return datum.Int(n), nil
		}
		return nil, Fail("22003", "bigint out of range")
	}},
	{"lcm(int4,int4) int4", lcm}, {"lcm(int8,int8) int8", lcm},
	{"to_hex(int4) text", func(c *Call) (datum.Value, error) { return c.NewText(hexadecimal(uint64(uint32(c.Int(0))))) }},
	{"to_hex(int8) text", func(c *Call) (datum.Value, error) { return c.NewText(hexadecimal(uint64(c.Int(0)))) }},
	{"width_bucket(float8,float8,float8,int4) int4", widthBucket},
}

func overflow() error { return Fail("22003", "value out of range: overflow") }

// finite makes a function of one that may overflow.
func finite(f func(float64) float64) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		x := float(c.Args[0])
		y := f(x)
		switch {
		case math.IsInf(y, 0) && !math.IsInf(x, 0):
			return nil, overflow()
		case y == 0 && x != 0 && !math.IsInf(x, 0):
			return nil, Fail("22003", "value out of range: underflow")
		}
		return datum.Float(y), nil
	}
}

func root(c *Call) (datum.Value, error) {
	x := float(c.Args[0])
	if x < 0 {
		return nil, Fail("2201F", "cannot take square root of a negative number")
	}
	return datum.Float(math.Sqrt(x)), nil
}

func logarithm(f func(float64) float64) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		switch x := float(c.Args[0]); {
		case x == 0:
			return nil, Fail("2201E", "cannot take logarithm of zero")
		case x < 0:
			return nil, Fail("2201E", "cannot take logarithm of a negative number")
		default:
			return datum.Float(f(x)), nil
		}
	}
}

// ofAngle makes a function of an angle, which is finite.
func ofAngle(f func(float64) float64) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		x := float(c.Args[0])
		if math.IsInf(x, 0) {
			return nil, Fail("22003", "input is out of range")
		}
		return datum.Float(f(x)), nil
	}
}

// within makes a function of a number between two others.
func within(lo, hi float64, f func(float64) float64) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		x := float(c.Args[0])
		if x < lo || x > hi {
			return nil, Fail("22003", "input is out of range")
		}
		return datum.Float(f(x)), nil
	}
}

func power(x, y float64) (datum.Value, error) {
	switch {
	case x == 0 && y < 0:
		return nil, Fail("2201F", "zero raised to a negative power is undefined")
	case x < 0 && !math.IsInf(x, 0) && y != math.Trunc(y) && !math.IsNaN(y):
		return nil, Fail("2201F", "a negative number raised to a non-integer power yields a complex result")
	}
	z := math.Pow(x, y)
	switch given := math.IsInf(x, 0) || math.IsInf(y, 0); {
	case math.IsInf(z, 0) && !given:
		return nil, overflow()
	case z == 0 && x != 0 && !given:
		return nil, Fail("22003", "value out of range: underflow")
	}
	return datum.Float(z), nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		if b == -1 {
			return 1
		}
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}

func lcm(c *Call) (datum.Value, error) {
	a, b := c.Int(0), c.Int(1)
	if a == 0 || b == 0 {
		return datum.Int(0), nil
	}
	n, err := computeInt("*", datum.Int(a/gcd(a, b)), datum.Int(b), c.Types[0])
	if err != nil {
		return nil, err
	}
	if n := n.(datum.Int); n < 0 {
		return computeInt("-", 0, n, c.Types[0])
	}
	return n, nil
}

func hexadecimal(n uint64) string {
	const digits = "0123456789abcdef"
	out := []byte{}
	for {
		out = append([]byte{digits[n&15]}, out...)
		if n >>= 4; n == 0 {
			return string(out)
		}
	}
}

func widthBucket(c *Call) (datum.Value, error) {
	x, lo, hi, n := float(c.Args[0]), float(c.Args[1]), float(c.Args[2]), c.Int(3)
	switch {
	case n <= 0:
		return nil, Fail("2201G", "count must be greater than zero")
	case math.IsNaN(x) || math.IsNaN(lo) || math.IsNaN(hi):
		return nil, Fail("2201G", "operand, lower bound, and upper bound cannot be NaN")
	case math.IsInf(lo, 0) || math.IsInf(hi, 0):
		return nil, Fail("2201G", "lower and upper bounds must be finite")
	case lo == hi:
		return nil, Fail("2201G", "lower bound cannot equal upper bound")
	}
	if lo > hi {
		x, lo, hi = -x, -lo, -hi
	}
	switch {
	case x < lo:
		return datum.Int(0), nil
	case x >= hi:
		return checkRange(datum.Int(n+1), c.Types[3])
	}
	return datum.Int(min(n-1, int64(float64(n)*(x/(hi-lo)-lo/(hi-lo)))) + 1), nil
}

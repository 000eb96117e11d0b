package pgtext

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Float writes a float8, or a float4 of 32 bits, as float8out and float4out do: the shortest digits
// that read back as the number, with an exponent where it is below -4 or has as many digits as the
// type holds (15 and 6).
func Float(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	s := shortest(f, bits)
	_, written, _ := strings.Cut(s, "e")
	most := 15
	if bits == 32 {
		most = 6
	}
	if exponent, err := strconv.Atoi(written); err == nil && exponent >= -4 && exponent < most {
		return strconv.FormatFloat(f, 'f', -1, bits)
	}
	return s
}

// shortest writes the fewest digits that are closer to a number than to any other. Go also takes
// those that lie halfway to the next one and read back as this one by the rule for ties; only large
// whole numbers have such short ones.
func shortest(f float64, bits int) string {
	s := strconv.FormatFloat(f, 'e', -1, bits)
	if math.Abs(f) < 1<<24 || bits == 64 && math.Abs(f) < 1<<53 {
		return s
	}
	for digits := 0; isHalfway(s, f, bits) && digits < 17; digits++ {
		s = strconv.FormatFloat(f, 'e', digits, bits)
	}
	return s
}

// isHalfway reports whether a text lies in the middle between a number and one beside it, or
// beyond.
func isHalfway(s string, f float64, bits int) bool {
	written, ok := new(big.Rat).SetString(s)
	if !ok {
		return false
	}
	off := new(big.Rat).Sub(written, new(big.Rat).SetFloat64(f))
	next := math.Nextafter(f, math.Inf(off.Sign()))
	if bits == 32 {
		next = float64(math.Nextafter32(float32(f), float32(math.Inf(off.Sign()))))
	}
	if off.Sign() == 0 || math.IsInf(next, 0) {
		return false
	}
	step := new(big.Rat).Sub(new(big.Rat).SetFloat64(next), new(big.Rat).SetFloat64(f))
	return off.Mul(off, big.NewRat(2, 1)).Abs(off).Cmp(step.Abs(step)) >= 0
}

// Limits of numeric: digits before and after the point.
const (
	maxNumericDigits = 131072
	maxNumericScale  = 16383
)

// plainNumber writes a number of JSON as numeric does, without an exponent and with the digits
// after the point that it was given. It reports whether numeric holds it.
func plainNumber(s string) (string, bool) {
	negative := strings.HasPrefix(s, "-")
	mantissa, written, scientific := strings.Cut(strings.ToLower(strings.TrimPrefix(s, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent := 0
	if scientific {
		n, err := strconv.Atoi(written)
		if err != nil || n > maxNumericDigits || n < -maxNumericScale {
			return "", false
		}
		exponent = n
	}
	digits, scale := whole+fraction, len(fraction)-exponent
	if scale < 0 {
		if strings.Trim(digits, "0") != "" {
			digits += strings.Repeat("0", -scale)
		}
		scale = 0
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	if scale > maxNumericScale {
		return "", false
	}
	before := strings.TrimLeft(digits[:len(digits)-scale], "0")
	if len(before) > maxNumericDigits {
		return "", false
	}
	if before == "" {
		before = "0"
	}
	out := before
	if scale > 0 {
		out += "." + digits[len(digits)-scale:]
	}
	if negative && strings.Trim(digits, "0") != "" {
		out = "-" + out
	}
	return out, true
}

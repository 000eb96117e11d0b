package pgtext

import (
	"math"
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
	s := strconv.FormatFloat(f, 'e', -1, bits)
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

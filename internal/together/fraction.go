package together

import (
	"errors"
	"math"
	"math/big"
	"strings"
)

var errFraction = errors.New("this is no fraction such as 1/100")

// readFraction reads a fraction of whole numbers, as servers write them. It takes no exponents, which
// could be numbers larger than the memory.
func readFraction(text string) (*big.Rat, error) {
	above, below, divided := strings.Cut(text, "/")
	if len(text) > 400 || !allDigits(strings.TrimPrefix(above, "-")) || divided && !allDigits(below) {
		return nil, errFraction
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || r.Sign() != 0 && (bitSize(r) > maxFractionBits || bitSize(r) < -maxFractionBits) { // it divides by zero, or is out of reach
		return nil, errFraction
	}
	return r, nil
}

// maxFractionBits is how large a fraction may be, and its reciprocal, in bits: products of three and an
// int64 are still real numbers.
const maxFractionBits = 250

func bitSize(r *big.Rat) int { return r.Num().BitLen() - r.Denom().BitLen() }

func allDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// roundUp is a float64 that is not below r.
func roundUp(r *big.Rat) float64 {
	f, exact := r.Float64()
	if back := new(big.Rat).SetFloat64(f); !exact && back != nil && back.Cmp(r) < 0 {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// greatestCommonFraction is the largest fraction that all are whole multiples of; all are above 0.
func greatestCommonFraction(all []*big.Rat) *big.Rat {
	out := new(big.Rat).Set(all[0])
	for _, r := range all[1:] {
		// gcd(a/b, c/d) is gcd(a d, c b)/(b d).
		x, y := new(big.Int).Mul(out.Num(), r.Denom()), new(big.Int).Mul(r.Num(), out.Denom())
		out.SetFrac(new(big.Int).GCD(nil, nil, x, y), new(big.Int).Mul(out.Denom(), r.Denom()))
	}
	return out
}

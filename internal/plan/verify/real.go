package verify

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Sums, products, quotients and square roots of doubles are rounded correctly by every machine, and a correct rounding keeps the order
// of numbers. So the extremes of a result are the results at the extremes. Of logarithms and powers libraries
// say that they are off by a few of the last bits at most: their ends are moved outward by many more.

// margin is how far, in proportion, the ends of logarithms and powers are moved here: 256 times the last bit.
const margin = 0x1p-44

func outward(low, high float64) (float64, float64) {
	return low - margin*math.Abs(low), high + margin*math.Abs(high)
}

// asDouble is a number of steps as a double, in the two roundings of an engine.
func asDouble(n *big.Int, step *big.Rat) float64 {
	f := func(n *big.Int) float64 { x, _ := new(big.Float).SetInt(n).Float64(); return x }
	return f(n) * f(step.Num()) / f(step.Denom())
}

// toReal is a number on a lattice as a double.
func (c *checker) toReal(x fact, e *tree.ToReal) fact {
	c.must(x.kind == tree.Number, "%v is turned into a real number", x.kind)
	out := fact{kind: tree.Real, never: x.never, derived: x.derived}
	if x.never {
		return out
	}
	out.low, out.high = asDouble(x.lo, x.step), asDouble(x.hi, x.step)
	if x.lo.CmpAbs(narrow) > 0 || x.hi.CmpAbs(narrow) > 0 {
		// The digits of 128 bits are rounded by a library.
		if x.lo.Sign() != 0 {
			out.low = math.Nextafter(out.low, math.Inf(-1))
		}
		if x.hi.Sign() != 0 {
			out.high = math.Nextafter(out.high, math.Inf(1))
		}
	}
	return out
}

// realArith derives an operation on doubles. None is near infinity, and no divisor is near zero without being zero.
func (c *checker) realArith(e *tree.Arith, l, r fact) fact {
	out := fact{kind: tree.Real, never: l.never || r.never}
	if out.never {
		return out
	}
	for _, f := range []fact{l, r} {
		c.must(max(math.Abs(f.low), math.Abs(f.high)) < largestReal, "a real number that can be near infinity is computed with")
	}
	switch e.Op {
	case tree.Add:
		out.low, out.high = l.low+r.low, l.high+r.high
	case tree.Sub:
		out.low, out.high = l.low-r.high, l.high-r.low
	case tree.Mul:
		out.low, out.high = extremes(l, []float64{r.low, r.high}, func(x, y float64) float64 { return x * y })
	case tree.Div:
		by := c.divisors(e.R, r)
		if len(by) == 0 { // by zero, in every row
			out.never = true
			return out
		}
		out.low, out.high = extremes(l, by, func(x, y float64) float64 { return x / y })
	default:
		c.fail("no operation of real numbers that is known here")
	}
	c.must(max(math.Abs(out.low), math.Abs(out.high)) < largestReal, "a real number can come near infinity")
	return out
}

// divisors are the extremes of a divisor without zero. One that comes of a lattice is at least one step away from zero where it is not zero.
func (c *checker) divisors(e tree.Expr, r fact) []float64 {
	if r.low > 0 || r.high < 0 {
		return []float64{r.low, r.high}
	}
	exact, ok := e.(*tree.ToReal)
	c.must(ok, "a divisor that could be as close to zero as numbers are")
	least := asDouble(unit, exact.X.Type().Step)
	c.must(least > 0, "a divisor that could be as close to zero as numbers are")
	var by []float64
	if r.high > 0 {
		by = append(by, min(least, r.high), r.high)
	}
	if r.low < 0 {
		by = append(by, r.low, max(-least, r.low))
	}
	return by
}

func extremes(l fact, ys []float64, f func(x, y float64) float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, x := range []float64{l.low, l.high} {
		for _, y := range ys {
			z := f(x, y)
			low, high = min(low, z), max(high, z)
		}
	}
	return low, high
}

// transcendental derives sqrt, ln, log10 and exp, where they are defined.
func (c *checker) transcendental(fn string, x fact) fact {
	c.must(x.kind == tree.Real, "%s of %v", fn, x.kind)
	out := fact{kind: tree.Real, never: x.never}
	if x.never {
		return out
	}
	switch fn {
	case "sqrt":
		c.must(x.low >= 0, "the root of a negative number")
		out.low, out.high = math.Sqrt(x.low), math.Sqrt(x.high)
	case "ln":
		c.must(x.low > 0, "the logarithm of a number that is not positive")
		out.low, out.high = outward(math.Log(x.low), math.Log(x.high))
	case "log10":
		c.must(x.low > 0, "the logarithm of a number that is not positive")
		out.low, out.high = outward(math.Log10(x.low), math.Log10(x.high))
	case "exp":
		c.must(x.high <= 600, "an exponential that can be near infinity")
		out.low, out.high = outward(math.Exp(x.low), math.Exp(x.high))
	}
	return out
}

// power is x to a constant, where that is defined.
func (c *checker) power(x, exponent fact) fact {
	c.must(x.kind == tree.Real && exponent.kind == tree.Real, "a power of what is no real number")
	out := fact{kind: tree.Real, never: x.never || exponent.never}
	if out.never {
		return out
	}
	y := exponent.low
	c.must(exponent.high == y && math.Abs(y) <= 1000, "an exponent that is no constant, or too large")
	c.must(y >= 0 || x.low > 0, "a negative power of zero or below")
	c.must(x.low >= 0 || y == math.Trunc(y), "a root of a negative number")
	a, b := math.Pow(x.low, y), math.Pow(x.high, y)
	out.low, out.high = outward(min(a, b), max(a, b))
	if x.low < 0 && x.high > 0 && y > 0 && math.Mod(y, 2) == 0 {
		out.low = 0 // an even power, in between
	}
	c.must(max(math.Abs(out.low), math.Abs(out.high)) < largestReal, "a power can come near infinity")
	return out
}

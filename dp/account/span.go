package account

import "math"

const maxFloat = math.MaxFloat64

// A span encloses a number that is not negative. Every operation rounds its ends outward, so that
// what comes out encloses the exact result for every choice of numbers inside the operands: no
// error analysis is needed where a formula is written in spans.
//
// The four operations and the square root of IEEE 754 are within half a unit in the last place, so
// one step outward is enough for them. Of Go's functions Log, Log1p and Expm1 are within one unit;
// Exp, which is assembly on some machines, was seen to err by 1.6. All four are allowed four units.
type span struct{ lo, hi float64 }

func exactly(x float64) span { return span{x, x} }

// up is the next float64 above x >= 0.
func up(x float64) float64 {
	if x >= maxFloat {
		return math.Inf(1)
	}
	return math.Float64frombits(math.Float64bits(x+0) + 1)
}

// down is the next float64 below x, and 0 at 0 and below.
func down(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return math.Float64frombits(math.Float64bits(x) - 1)
}

// upper is the next float64 above x where x is above 0, and 0 where it is not.
func upper(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return up(x)
}

// addUp and mulUp round a sum and a product of numbers that are not negative upward, and are exact
// where the result is a float64: half and half is one. What is added or multiplied exactly must
// stay so, or a budget that is divided by a power of two would not add up again.
func addUp(a, b float64) float64 {
	s := a + b
	v := s - a
	if (a-(s-v))+(b-v) <= 0 { // what s lacks: Knuth's exact addition
		return s
	}
	return up(s)
}

func mulUp(a, b float64) float64 {
	p := a * b
	// The residue of a product this small would itself be rounded to zero.
	if a == 0 || b == 0 || p > 0x1p-960 && math.FMA(a, b, -p) <= 0 {
		return p
	}
	return up(p)
}

func (a span) add(b span) span { return span{down(a.lo + b.lo), up(a.hi + b.hi)} }
func (a span) mul(b span) span { return span{down(a.lo * b.lo), up(a.hi * b.hi)} }
func (a span) div(b span) span { return span{down(a.lo / b.hi), up(a.hi / b.lo)} }

// sub is a - b where that is not negative, and 0 where it is.
func (a span) sub(b span) span {
	s := span{down(a.lo - b.hi), 0}
	if a.hi > b.lo {
		s.hi = up(a.hi - b.lo)
	}
	return s
}

func (a span) sqrt() span { return span{down(math.Sqrt(a.lo)), up(math.Sqrt(a.hi))} }

// atMost cuts the span off at x, for a number known to be at most x.
func (a span) atMost(x float64) span { return span{math.Min(a.lo, x), math.Min(a.hi, x)} }

const fourUnits = 0x1p-50

// roundExpDown and above allow for a function that errs by four units in the last place.
func roundExpDown(y float64) float64 {
	if y < 0x1p-1000 {
		return 0 // Functions may flush what is smaller to zero, or err by more.
	}
	return y * (1 - 2*fourUnits)
}

func roundExpUp(y float64) float64 { return math.Max(y*(1+2*fourUnits), 0x1p-1000) }

// The functions take and give what is not negative: exp(-x), 1 - exp(-x), exp(x)
// - 1, -ln(1 - x), -ln x.

func (a span) expMinus() span {
	return span{roundExpDown(math.Exp(-a.hi)), roundExpUp(math.Exp(-a.lo))}.atMost(1)
}

func (a span) oneMinusExpMinus() span {
	s := span{roundExpDown(-math.Expm1(-a.lo)), roundExpUp(-math.Expm1(-a.hi))}.atMost(1)
	if a.hi == 0 {
		s.hi = 0
	}
	return s
}

func (a span) expm1() span {
	s := span{roundExpDown(math.Expm1(a.lo)), roundExpUp(math.Expm1(a.hi))}
	if a.hi == 0 {
		s.hi = 0
	}
	return s
}

func (a span) minusLog1pMinus() span {
	s := span{roundExpDown(-math.Log1p(-math.Min(1, a.lo))), roundExpUp(-math.Log1p(-math.Min(1, a.hi)))}
	if a.hi == 0 {
		s.hi = 0
	}
	return s
}

func (a span) minusLog() span {
	return span{roundExpDown(-math.Log(math.Min(1, a.hi))), roundExpUp(-math.Log(math.Min(1, a.lo)))}
}

// roundoff is the relative error of one rounded operation.
const roundoff = 0x1p-53

// binomialLog returns the logarithm of the probability that of n trials j
// succeed, and a bound on its error, by the saddle-point expansion of Loader 2000
// (Fast and Accurate Computation of Binomial Probabilities):
//
//	sqrt(n/(2 pi j (n-j))) exp(S(n) - S(j) - S(n-j) - D(j, n q) - D(n-j, n p)),
//
// where S is the error of Stirling's formula and D the deviance. Differences of
// ln n!, which lose six digits at n = 10^6, do not occur. The caller gives q,
// the probability of success, and p = 1 - q, each within 8 roundoff, relative.
//
// The error has three parts. The operations on terms: 8 roundoff of their sizes, with the caller's
// one of adding the bound. The errors of q and p: the derivative of D(j, m) in m is 1 - j/m, so 9
// roundoff in m are worth 9 roundoff |j - m|, twice. And what deviance says of itself.
func binomialLog(n, j, q, p float64) (value, bound float64) {
	off := math.Abs(j - n*q)
	switch {
	case j == 0:
		value = n * math.Log1p(-q)
		if q > 0.5 {
			value = n * math.Log(p)
		}
		return value, roundoff * (16*math.Abs(value) + 32*off)
	case j == n:
		value = n * math.Log(q)
		if p < 0.5 {
			value = n * math.Log1p(-p)
		}
		return value, roundoff * (16*math.Abs(value) + 32*off)
	}
	left, leftBound := deviance(j, n*q)
	right, rightBound := deviance(n-j, n*p)
	stirling := stirlingError(n) - stirlingError(j) - stirlingError(n-j)
	root := 0.5 * math.Log(n/(2*math.Pi*j*(n-j)))
	value = root + (stirling - left - right)
	bound = roundoff*(8*(math.Abs(root)+left+right+1)+32*off) + leftBound + rightBound
	return value, bound
}

// deviance returns x ln(x/m) + m - x >= 0 and a bound on its error.
func deviance(x, m float64) (value, bound float64) {
	if m <= 0 {
		return math.Inf(1), 0
	}
	d := x - m // exact where the series is used
	if math.Abs(d) >= 0.1*(x+m) {
		value = x*math.Log(x/m) - d
		return value, roundoff * (8*value + 16*(x+m))
	}
	// With v = (x-m)/(x+m) the logarithm is 2 atanh(v) = 2 (v + v^3/3 + ...), and the first term
	// and -d make d v. All terms have one sign, or the first, the largest, is positive.
	v := d / (x + m)
	sum, power := d*v, 2*x*v
	for i := 3.0; ; i += 2 {
		power *= v * v
		next := sum + power/i
		if next == sum {
			return sum, roundoff * 16 * sum
		}
		sum = next
	}
}

// stirlingError returns ln n! - ln(sqrt(2 pi n) (n/e)^n) for n >= 1.
func stirlingError(n float64) float64 {
	if n < float64(len(stirlingErrors)) {
		return stirlingErrors[int(n)]
	}
	// Stirling's series; the first term left out, 691/(360360 n^11), is below 2e-16.
	nn := n * n
	return (1./12 - (1./360-(1./1260-(1./1680-1./1188/nn)/nn)/nn)/nn) / n
}

// stirlingErrors are values of the definition, to 17 digits; the first is not used.
var stirlingErrors = [...]float64{
	0,
	0.081061466795327258,
	0.041340695955409294,
	0.027677925684998339,
	0.020790672103765093,
	0.016644691189821192,
	0.013876128823070748,
	0.01189670994589177,
	0.010411265261972096,
	0.0092554621827127329,
	0.0083305634333628713,
	0.0075736754879518408,
	0.0069428401072095299,
	0.0064089941880042071,
	0.0059513701127588477,
	0.0055547335519628014,
}

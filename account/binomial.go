package account

import "math"

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
// The error has three parts. The operations on terms: 8 roundoff of their sizes, with
// the caller's one of adding the bound. The
// errors of q and p: the derivative of D(j, m) in m is 1 - j/m, so 9 roundoff in
// m are worth 9 roundoff |j - m|, twice. And what deviance says of itself.
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
	// With v = (x-m)/(x+m) the logarithm is 2 atanh(v) = 2 (v + v^3/3 + ...), and
	// the first term and -d make d v. All terms have one sign, or the first, the
	// largest, is positive.
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

package loss

import "math"

// Go's Exp, Expm1, Log, Log1p, Sincos, Atan2 and Hypot are within about one unit in
// the last place, except for Log of subnormal numbers on amd64, which nothing here
// takes. The bounds below leave room for more.

// turn returns exp(-(2z+1) e), which the two-sided laws are made of, and a bound
// on its absolute error, where e and the imaginary part may be off by 4 units.
func turn(z complex128, e float64) (w complex128, slack float64) {
	size := math.Exp(-(2*real(z) + 1) * e)
	angle := 2 * imag(z) * e
	sin, cos := math.Sincos(angle)
	return complex(size*cos, -size*sin), size * unit * (8 + 8*(2*real(z)+1)*e + 16*math.Abs(angle))
}

// logOnePlus returns ln(1 + w) for |w| <= 1 and a bound on its error, when w is
// known up to slack.
func logOnePlus(w complex128, slack float64) (complex128, float64) {
	re, im := real(w), imag(w)
	size := math.Hypot(1+re, im)
	if !(size > 0.5 && size < 2) {
		return logOf(complex(1+re, im), slack+2*unit)
	}
	log := 0.5 * math.Log1p(re*(2+re)+im*im)
	return complex(log, math.Atan2(im, 1+re)), 8*unit*(1+math.Abs(log)) + 2*(slack+4*unit*(math.Abs(re)+math.Abs(im)))/size
}

// logOf returns ln w and a bound on its error, when w is known up to slack.
//
// With |w' - w| <= slack < |w| the ratio w'/w is within slack/|w| of 1. If slack is
// the larger, nothing is known of the angle: the logarithm of slack itself is
// returned, which w' exceeds at most twice, so that the ratio is within 3 of 1.
func logOf(w complex128, slack float64) (complex128, float64) {
	size := math.Hypot(real(w), imag(w))
	if size <= slack {
		log := math.Log(slack)
		return complex(log, 0), math.Log(4) + 8*unit*(1+math.Abs(log))
	}
	log := math.Log(size)
	return complex(log, math.Atan2(imag(w), real(w))), 8*unit*(1+math.Abs(log)) + 2*slack/size
}

// expm1 returns exp(w) - 1 for Re w <= 0 and a bound on its absolute error, where
// both parts of w may be off by 6 units.
func expm1(w complex128) (complex128, float64) {
	a, b := real(w), imag(w)
	sin, cos := math.Sincos(b)
	half := math.Sin(b / 2)
	grow := math.Expm1(a)
	re := grow*cos - 2*half*half
	im := (1 + grow) * sin
	return complex(re, im),
		8 * unit * (math.Abs(grow) + 2*half*half + math.Abs(im) + math.Abs(a)*(1+grow) + min(1, math.Abs(b))*(1+math.Abs(b)))
}

func size(z complex128) float64 { return math.Hypot(real(z), imag(z)) }

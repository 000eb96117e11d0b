package loss

import "math"

// turn returns exp(-(2z+1) e), which the two-sided laws are made of, and a bound
// on its absolute error. Go's Exp and Sincos are within one unit in the last
// place; the argument adds its own rounding.
func turn(z complex128, e float64) (w complex128, slack float64) {
	size := math.Exp(-(2*real(z) + 1) * e)
	angle := 2 * imag(z) * e
	sin, cos := math.Sincos(angle)
	return complex(size*cos, -size*sin), size * unit * (8 + 4*(2*real(z)+1)*e + 4*math.Abs(angle))
}

// logOnePlus returns ln(1 + w) for |w| <= 1 and a bound on its error, when w is
// known up to slack.
func logOnePlus(w complex128, slack float64) (complex128, float64) {
	re, im := real(w), imag(w)
	size := math.Hypot(1+re, im)
	log := math.Log(size)
	if size > 0.5 && size < 2 {
		log = 0.5 * math.Log1p(re*(2+re)+im*im)
	}
	return complex(log, math.Atan2(im, 1+re)), 8*unit*(1+math.Abs(log)) + 2*(slack+4*unit*(math.Abs(re)+math.Abs(im)))/size
}

// logOf returns ln w and a bound on its error, when w is known up to slack.
func logOf(w complex128, slack float64) (complex128, float64) {
	size := math.Hypot(real(w), imag(w))
	log := math.Log(size)
	return complex(log, math.Atan2(imag(w), real(w))), 8*unit*(1+math.Abs(log)) + 2*slack/size
}

// expm1 returns exp(w) - 1 for Re w <= 0 and a bound on its absolute error.
func expm1(w complex128) (complex128, float64) {
	a, b := real(w), imag(w)
	sin, cos := math.Sincos(b)
	half := math.Sin(b / 2)
	re := math.Expm1(a)*cos - 2*half*half
	im := math.Exp(a) * sin
	return complex(re, im), 8 * unit * (math.Abs(math.Expm1(a)) + 2*half*half + math.Abs(im) + math.Abs(a)*math.Exp(a) + min(1, math.Abs(b))*(1+math.Abs(b)))
}

func size(z complex128) float64 { return math.Hypot(real(z), imag(z)) }

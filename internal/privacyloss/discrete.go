package privacyloss

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
)

type discreteGaussian struct {
	variance float64 // the parameter sigma^2
	steps    int
}

// DiscreteGaussian is the loss of discrete Gaussian noise, P(k) ~ exp(-k^2/(2 sigma^2)), for an
// integer sensitivity D of one number. The loss at k is (D^2 - 2kD)/(2 sigma^2), so that with
// theta(s) = sum over k of exp(-(k+s)^2/(2 sigma^2)),
//
//	M(z) = exp(D^2 z(z+1)/(2 sigma^2)) theta(zD)/theta(0).
func DiscreteGaussian(variance float64, steps int) (Law, error) {
	if !(variance >= 1e-4 && variance <= 1e18) || steps < 1 || steps > 1e9 {
		return nil,
			fmt.Errorf("%w: discrete Gaussian noise of sigma^2 %v for a sensitivity of %v: sigma^2 must be between 1e-4 and 1e18, the "+
				"sensitivity a whole number from 1 to 1e9", errParameter, variance, steps)
	}
	if mu := float64(steps) / math.Sqrt(variance); mu > 1e4 || mu < 1e-9 {
		return nil, fmt.Errorf("%w: the sensitivity over sigma is %v, but must be between 1e-9 and 1e4", errParameter, mu)
	}
	return discreteGaussian{variance, steps}, nil
}

func (g discreteGaussian) infinite() float64 { return 0 }
func (g discreteGaussian) top() float64      { return math.Inf(1) }

func (g discreteGaussian) cumulant(z complex128) (complex128, float64) {
	d, t := float64(g.steps), real(z)
	// The losses are D^2/(2 s2) minus multiples of D/s2, so M(t+iy) repeats, up to
	// the sign (-1)^D, when y grows by 2 pi s2/D.
	period := 2 * math.Pi * g.variance / d
	turns := math.Round(imag(z) / period)
	y := imag(z) - turns*period
	slip := 12 * unitRoundoff * math.Abs(imag(z)) // of y, by the reduction
	sum := g.wave
	if g.variance < 1 {
		sum = g.direct
	}
	value, slack := sum(t, y, slip)
	if g.steps%2 == 1 && math.Mod(turns, 2) != 0 {
		value += complex(0, math.Pi)
		slack += 4 * unitRoundoff
	}
	return value, slack
}

// wave sums theta as a series of waves, by Poisson's formula: with s = zD
//
//	theta(s) = sigma sqrt(2 pi) sum over m of exp(-2 pi^2 s2 m^2 + 2 pi i m s).
//
// As |y D| <= pi s2, the term at m is at most exp(-2 pi^2 s2 (m^2 - |m|)) in size;
// with s2 >= 1 those beyond |m| = 2 are below exp(-118).
func (g discreteGaussian) wave(t, y, slip float64) (complex128, float64) {
	d, s2 := float64(g.steps), g.variance
	c := d * d / (2 * s2)
	value := complex((t*(t+1)-y*y)*c, (2*t+1)*y*c)
	loose := 16*unitRoundoff*c*(t*(t+1)+y*y+(2*t+1)*math.Abs(y)) + slip*c*(2*math.Abs(y)+2*t+1)
	sum, slack := complex(1, 0), 8*unitRoundoff
	phase := 2 * math.Pi * math.Mod(t*d, 1)
	for _, m := range [...]float64{-2, -1, 1, 2} {
		exponent := -2*math.Pi*math.Pi*s2*m*m - 2*math.Pi*m*d*y
		if exponent < -60 {
			continue // exp(-60) is far below the slack of 8 units
		}
		e := math.Exp(exponent)
		sin, cos := math.Sincos(m * phase)
		sum += complex(e*cos, e*sin)
		// The exponent is a difference of parts that are twice as large at most.
		slack += e * (unitRoundoff*(16+16*2*math.Pi*math.Pi*s2*m*m+16*math.Abs(m)*(1+t*d)) + 2*math.Pi*math.Abs(m)*d*slip)
	}
	log, slack := logOf(sum, slack)
	norm := math.Log1p(2 * math.Exp(-2*math.Pi*math.Pi*s2))
	return value + log - complex(norm, 0), loose + slack + 8*unitRoundoff
}

// direct sums theta around its largest term, which is at k = -tD.
func (g discreteGaussian) direct(t, y, slip float64) (complex128, float64) {
	d, s2 := float64(g.steps), g.variance
	loss := func(k float64) float64 { return (d*d - 2*k*d) / (2 * s2) }
	lead := func(k float64) float64 { return t*loss(k) - k*k/(2*s2) }
	parts := func(k float64) float64 { return t*math.Abs(loss(k)) + k*k/(2*s2) }
	centre := math.Round(-t * d)
	top := lead(centre)
	sum, slack := complex(0, 0), 0.0
	// What is beyond 14 steps is below exp(-14^2/2) of the largest term, as s2 < 1.
	for i := -14; i <= 14; i++ {
		k := centre + float64(i)
		e := math.Exp(lead(k) - top)
		angle := y * loss(k)
		sin, cos := math.Sincos(angle)
		sum += complex(e*cos, e*sin)
		slack += e * (unitRoundoff*(16+8*parts(k)+8*parts(centre)+8*math.Abs(angle)) + slip*math.Abs(loss(k)))
	}
	log, slack := logOf(sum, slack)
	return log + complex(top-math.Log(thetaZero(s2)), 0), slack + 8*unitRoundoff*(1+parts(centre))
}

// thetaZero is theta(0) for s2 < 1.
func thetaZero(s2 float64) float64 {
	sum := 1.0
	for k := 1.0; k < 14; k++ {
		sum += 2 * math.Exp(-k*k/(2*s2))
	}
	return sum
}

func (g discreteGaussian) decay(_, _ float64) float64 { return 0 }

func (g discreteGaussian) lattice() (spacing, bool) {
	return spacing{float64(g.steps), g.variance}, g.steps%2 == 1
}

// fade: by Jacobi's triple product |M| is, up to what does not depend on y, the
// product over n of |1 + r w||1 + r'/w|, for positive r and r' and w = exp(i y
// D/s2). Each factor decreases on the half period.
func (g discreteGaussian) fade(t, y float64) float64 { return falling(g, t, y) }

type discreteLaplace struct {
	scale float64
	steps int
}

// DiscreteLaplace is the loss of discrete Laplace noise, P(k) ~ exp(-|k|/scale),
// for one number with an integer sensitivity. With a = 1/scale, q = exp(-a), v = exp(-(2z+1)a)
// and D the sensitivity,
//
//	M(z) = exp(z a D) ((1 + v^D)/(1+q) + (1-q)/(1+q) (v - v^D)/(1-v)):
//
// the noise is beyond one of the two centres, or at k = 1 .. D-1 steps between
// them, where the loss is a(D - 2k).
func DiscreteLaplace(scale float64, steps int) (Law, error) {
	if !(scale > 0) || math.IsInf(scale, 0) || steps < 1 {
		return nil,
			fmt.Errorf("%w: discrete Laplace noise of scale %v for a sensitivity of %v: the scale must be above 0, the sensitivity a "+
				"whole number of at least 1", errParameter, scale, steps)
	}
	if err := checkEpsilon(float64(steps) / scale); err != nil {
		return nil, err
	}
	return discreteLaplace{scale, steps}, nil
}

func (l discreteLaplace) epsilon() float64 { return float64(l.steps) / l.scale }

// curve is P(noise <= m) - exp(e) P(noise <= m - D), m being the last step whose loss is above e.
func (l discreteLaplace) curve(epsilon float64) dp.Bracket {
	if epsilon >= l.epsilon() {
		return dp.Bracket{}
	}
	a, d := 1/l.scale, float64(l.steps)
	// The loss a(D - 2k) is above epsilon for k <= m. Where rounding decides
	// between two values of m, the term in question is zero up to rounding.
	m := math.Ceil((d-epsilon*l.scale)/2) - 1
	q := math.Exp(-a)
	// P(noise <= m) = 1 - q^(m+1)/(1+q) for m >= 0, and for the other centre
	// q^(D-m)/(1+q), as m < D.
	p := 1 - math.Exp(-a*(m+1))/(1+q)
	other := math.Exp(epsilon-a*(d-m)) / (1 + q)
	slack := 16 * unitRoundoff * (1 + l.epsilon() + epsilon) * (p + other)
	return bracket(p-other, slack)
}

func (l discreteLaplace) infinite() float64 { return 0 }
func (l discreteLaplace) top() float64      { return l.epsilon() * (1 + 2*unitRoundoff) }

func (l discreteLaplace) cumulant(z complex128) (complex128, float64) {
	e := l.epsilon()
	w, slack := twoSidedExp(z, e)
	q := math.Exp(-1 / l.scale)
	sum := (1 + w) / complex(1+q, 0)
	if l.steps > 1 {
		// (1-q)/(1-v) is at most 1 in size: |1-v| >= 1-|v| >= 1-q.
		one, slackOne := expm1(-(2*z + 1) * complex(1/l.scale, 0))
		v := 1 + one
		share := complex(math.Expm1(-1/l.scale)/(1+q), 0) / one
		sum += share * (v - w)
		slack = 2*slack + 4*slackOne/size(one) + 16*unitRoundoff
	}
	log, slack := logOf(sum, slack+8*unitRoundoff)
	return z*complex(e, 0) + log, slack + 8*unitRoundoff*size(z)*e
}

func (l discreteLaplace) decay(_, _ float64) float64 { return 0 }

// lattice: the losses are a(D - 2k).
func (l discreteLaplace) lattice() (spacing, bool) { return spacing{2, l.scale}, l.steps%2 == 1 }

// fade takes the sizes of the terms of M one by one. |1 - v| increases with the
// angle of v up to pi, which is reached at the half of the period.
func (l discreteLaplace) fade(t, y float64) float64 {
	if l.steps == 1 {
		return falling(l, t, y)
	}
	e, a := l.epsilon(), 1/l.scale
	one, slack := expm1(-complex((2*t+1)*a, 2*y*a))
	q, w := math.Exp(-a), math.Exp(-(2*t+1)*e)
	most := (1 + w - math.Expm1(-a)*(1+w)/max(size(one)-slack, -math.Expm1(-(2*t+1)*a))) / (1 + q)
	zero, wrong := l.cumulant(complex(t, 0))
	return min(0, math.Log(most)-(real(zero)-t*e)+wrong+64*unitRoundoff*(1+t*e))
}

// Go's Exp, Expm1, Log, Log1p, Sincos, Atan2 and Hypot are within about one unit in
// the last place, except for Log of subnormal numbers on amd64, which nothing here
// takes. The bounds below leave room for more.

// twoSidedExp returns exp(-(2z+1) e), which the two-sided laws are made of, and a bound
// on its absolute error, where e and the imaginary part may be off by 4 units.
func twoSidedExp(z complex128, e float64) (w complex128, slack float64) {
	size := math.Exp(-(2*real(z) + 1) * e)
	angle := 2 * imag(z) * e
	sin, cos := math.Sincos(angle)
	return complex(size*cos, -size*sin), size * unitRoundoff * (8 + 8*(2*real(z)+1)*e + 16*math.Abs(angle))
}

// logOnePlus returns ln(1 + w) for |w| <= 1 and a bound on its error, when w is known up to slack.
func logOnePlus(w complex128, slack float64) (complex128, float64) {
	re, im := real(w), imag(w)
	size := math.Hypot(1+re, im)
	if !(size > 0.5 && size < 2) {
		return logOf(complex(1+re, im), slack+2*unitRoundoff)
	}
	log := 0.5 * math.Log1p(re*(2+re)+im*im)
	return complex(log, math.Atan2(im, 1+re)), 8*unitRoundoff*(1+math.Abs(log)) + 2*(slack+4*unitRoundoff*(math.Abs(re)+math.Abs(im)))/size
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
		return complex(log, 0), math.Log(4) + 8*unitRoundoff*(1+math.Abs(log))
	}
	log := math.Log(size)
	return complex(log, math.Atan2(imag(w), real(w))), 8*unitRoundoff*(1+math.Abs(log)) + 2*slack/size
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
		8 * unitRoundoff * (math.Abs(grow) + 2*half*half + math.Abs(im) + math.Abs(a)*(1+grow) + min(1, math.Abs(b))*(1+math.Abs(b)))
}

func size(z complex128) float64 { return math.Hypot(real(z), imag(z)) }

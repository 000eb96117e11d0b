package loss

import (
	"fmt"
	"math"
)

type discreteGaussian struct {
	variance float64 // the parameter sigma^2
	steps    int
}

// DiscreteGaussian is the loss of discrete Gaussian noise, P(k) ~
// exp(-k^2/(2 sigma^2)), for an integer sensitivity D of one number. The loss at k
// is (D^2 - 2kD)/(2 sigma^2), so that with theta(s) = sum over k of
// exp(-(k+s)^2/(2 sigma^2)),
//
//	M(z) = exp(D^2 z(z+1)/(2 sigma^2)) theta(zD)/theta(0).
func DiscreteGaussian(variance float64, steps int) (Law, error) {
	if !(variance >= 1e-4 && variance <= 1e18) || steps < 1 || steps > 1e9 {
		return nil,
			fmt.Errorf("%w: discrete Gaussian noise of sigma^2 %v for a sensitivity of %v: sigma^2 must be between 1e-4 and 1e18, the "+
				"sensitivity a whole number from 1 to 1e9", ErrParameter, variance, steps)
	}
	if mu := float64(steps) / math.Sqrt(variance); mu > 1e4 || mu < 1e-9 {
		return nil, fmt.Errorf("%w: the sensitivity over sigma is %v, and must be between 1e-9 and 1e4", ErrParameter, mu)
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
	slip := 12 * unit * math.Abs(imag(z)) // of y, by the reduction
	sum := g.wave
	if g.variance < 1 {
		sum = g.direct
	}
	value, slack := sum(t, y, slip)
	if g.steps%2 == 1 && math.Mod(turns, 2) != 0 {
		value += complex(0, math.Pi)
		slack += 4 * unit
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
	loose := 16*unit*c*(t*(t+1)+y*y+(2*t+1)*math.Abs(y)) + slip*c*(2*math.Abs(y)+2*t+1)
	sum, slack := complex(1, 0), 8*unit
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
		slack += e * (unit*(16+16*2*math.Pi*math.Pi*s2*m*m+16*math.Abs(m)*(1+t*d)) + 2*math.Pi*math.Abs(m)*d*slip)
	}
	log, slack := logOf(sum, slack)
	norm := math.Log1p(2 * math.Exp(-2*math.Pi*math.Pi*s2))
	return value + log - complex(norm, 0), loose + slack + 8*unit
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
		slack += e * (unit*(16+8*parts(k)+8*parts(centre)+8*math.Abs(angle)) + slip*math.Abs(loss(k)))
	}
	log, slack := logOf(sum, slack)
	return log + complex(top-math.Log(thetaZero(s2)), 0), slack + 8*unit*(1+parts(centre))
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

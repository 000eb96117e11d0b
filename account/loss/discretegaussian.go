package loss

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
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
		return nil, fmt.Errorf("%w: discrete Gaussian noise of sigma^2 %v for a sensitivity of %v: sigma^2 must be between 1e-4 and 1e18, the sensitivity a whole number of at least 1", ErrParameter, variance, steps)
	}
	g := discreteGaussian{variance, steps}
	if mu := float64(steps) / math.Sqrt(variance); mu > 1e4 || mu < 1e-9 {
		return nil, fmt.Errorf("%w: the sensitivity over sigma is %v, and must be between 1e-9 and 1e4", ErrParameter, mu)
	}
	return g, nil
}

func (g discreteGaussian) infinite() float64 { return 0 }
func (g discreteGaussian) top() float64      { return math.Inf(1) }

// curve sums P(k) - exp(e) Q(k) over the k whose loss is above e, from the
// largest term down.
func (g discreteGaussian) curve(epsilon float64) dp.Bracket {
	d, s2 := float64(g.steps), g.variance
	// Loss above epsilon: k < D/2 - epsilon sigma^2/D.
	edge := math.Ceil(d/2-epsilon*s2/d) - 1
	// Relative to the first term, so that nothing underflows.
	sum, size := 0.0, 0.0
	for k := edge; ; k-- {
		lead := -(k*k - edge*edge) / (2 * s2)
		if edge > 0 && k > 0 {
			lead = -k * k / (2 * s2)
		} else if edge > 0 {
			lead = -k * k / (2 * s2)
		}
		over := (d*d-2*k*d)/(2*s2) - epsilon
		if over < 0 {
			continue
		}
		term := math.Exp(lead) * -math.Expm1(-over)
		sum += term
		size += math.Exp(lead) * (1 + math.Abs(lead) + epsilon + (d*d+2*math.Abs(k)*d)/(2*s2))
		if k < 0 && math.Exp(lead) < 1e-20*sum*min(1, 1/math.Sqrt(s2)) || lead < -800 {
			break
		}
	}
	base := 0.0
	if edge <= 0 {
		base = -edge * edge / (2 * s2)
	}
	scale := math.Exp(base) / thetaZero(s2)
	slack := scale * (16*unit*size*(1+math.Abs(base)) + 1e-15*sum)
	return clampUnit(dp.Bracket{Lower: scale*sum - slack, Upper: scale*sum + slack})
}

// thetaZero is the sum of exp(-k^2/(2 s2)) over the integers.
func thetaZero(s2 float64) float64 {
	if s2 >= 1 {
		// By Poisson summation; the next term is below exp(-78).
		return math.Sqrt(2*math.Pi*s2) * (1 + 2*math.Exp(-2*math.Pi*math.Pi*s2))
	}
	sum := 1.0
	for k := 1.0; ; k++ {
		term := 2 * math.Exp(-k*k/(2*s2))
		sum += term
		if term < 1e-18 {
			return sum
		}
	}
}

func (g discreteGaussian) cumulant(z complex128) (complex128, float64) {
	d, s2 := float64(g.steps), g.variance
	// The losses are D^2/(2 s2) minus multiples of D/s2, so M(t+iy) repeats, up to
	// a sign, when y grows by 2 pi s2/D.
	period := 2 * math.Pi * s2 / d
	turns := math.Round(imag(z) / period)
	y := imag(z) - turns*period
	t := real(z)
	slip := 4 * unit * math.Abs(imag(z)) // of y, by the reduction
	sign := complex(0, math.Pi*math.Mod(turns*d, 2))
	if s2 >= 1 {
		// Poisson: theta(s) = sigma sqrt(2 pi) sum over m of exp(-2 pi^2 s2 m^2 + 2 pi i m s).
		// With |y D| <= pi s2 the terms at |m| <= 2 are at most exp(-2 pi^2 s2 (m^2 -
		// |m|)), those beyond below exp(-118).
		c := d * d / (2 * s2)
		value := complex((t*(t+1)-y*y)*c, (2*t+1)*y*c)
		slack := 8*unit*c*(t*(t+1)+y*y+(2*t+1)*math.Abs(y)) + slip*c*(2*math.Abs(y)+2*t+1)
		sum := complex(1, 0)
		phase := 2 * math.Pi * math.Mod(t*d, 1)
		for m := -2; m <= 2; m++ {
			if m == 0 {
				continue
			}
			exponent := -2*math.Pi*math.Pi*s2*float64(m*m) - 2*math.Pi*float64(m)*d*y
			if exponent < -60 {
				continue
			}
			e := math.Exp(exponent)
			sin, cos := math.Sincos(float64(m) * phase)
			sum += complex(e*cos, e*sin)
			slack += e * (unit*(16+8*math.Abs(exponent)+8*t*d) + 8*d*slip)
		}
		norm := 1 + 2*math.Exp(-2*math.Pi*math.Pi*s2)
		log, slack := logOf(sum, slack+8*unit)
		// The slack of value was carried through the logarithm, which only enlarges
		// it where |sum| <= 2, as here.
		return value + log - complex(math.Log(norm), 0) + sign, slack*2 + 8*unit
	}
	// A direct sum around the largest term at k = -tD.
	centre := math.Round(-t * d)
	sum := complex(0, 0)
	reach := math.Ceil(12*math.Sqrt(s2)) + 2
	lead := func(k float64) float64 { return (-k*k + t*(d*d-2*k*d)) / (2 * s2) }
	top := lead(centre)
	slack := 0.0
	for k := centre - reach; k <= centre+reach; k++ {
		e := math.Exp(lead(k) - top)
		angle := y * (d*d - 2*k*d) / (2 * s2)
		sin, cos := math.Sincos(angle)
		sum += complex(e*cos, e*sin)
		slack += e * (unit*(16+8*math.Abs(lead(k))+8*math.Abs(top)+8*math.Abs(angle)) + slip*math.Abs(d*d-2*k*d)/(2*s2))
	}
	log, slack := logOf(sum, slack)
	return log + complex(top-math.Log(thetaZero(s2)), 0) + sign, slack + 8*unit*(1+math.Abs(top))
}

func (g discreteGaussian) decay(_, _ float64) float64 { return 1 }

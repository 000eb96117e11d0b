package utility

import "math"

// DiscreteGaussian is noise on the integers, P(k) proportional to exp(-k^2/(2
// Sigma2)). Sigma2 is the parameter; the variance is slightly smaller.
type DiscreteGaussian struct{ Sigma2 float64 }

// summed is the standard deviation up to which tails are summed term by term.
// There are some 40 terms to a standard deviation.
const summed = 4096

// Alpha returns the smallest integer with P(|noise| > alpha) <= beta.
func (g DiscreteGaussian) Alpha(beta float64) (int64, error) {
	if err := firstOf(onIntegers("sigma^2", g.Sigma2, widest*widest), probability(beta)); err != nil {
		return 0, err
	}
	s := math.Sqrt(g.Sigma2)
	// P(|noise| > k) <= 2 exp(-(k+1)^2/(2 Sigma2)), because the discrete Gaussian
	// is subgaussian (Canonne, Kamath, Steinke 2020): enough always.
	enough := int64(math.Ceil(s * math.Sqrt(2*(math.Ln2-math.Log(beta))) * up))
	switch {
	case beta < tiny:
		return enough, nil
	case s <= summed:
		return g.summedAlpha(beta, enough), nil
	}
	low, high := int64(-1), enough
	for high-low > 1 {
		if mid := low + (high-low)/2; g.wideTail(float64(mid)) <= beta {
			high = mid
		} else {
			low = mid
		}
	}
	return high, nil
}

func (g DiscreteGaussian) weight(k float64) float64 { return math.Exp(-k * k / (2 * g.Sigma2)) }

// last is an integer beyond which all weights together are below 1e-290.
func (g DiscreteGaussian) last() int64 { return int64(37*math.Sqrt(g.Sigma2)) + 1 }

// total is the sum of all weights, a theta function.
func (g DiscreteGaussian) total() float64 {
	if g.Sigma2 >= 64 {
		// Poisson summation: sqrt(2 pi Sigma2) (1 + 2 exp(-2 pi^2 Sigma2) + ...), and
		// the correction is below 1e-500.
		return math.Sqrt(2 * math.Pi * g.Sigma2)
	}
	sum := 0.0
	for k := g.last(); k >= 1; k-- {
		sum += g.weight(float64(k))
	}
	return 2*sum + 1
}

// summedAlpha adds up the tail from its far end, small terms first, until it is
// above beta. The exponents are below 700 and within 2^-51 of themselves, so a
// weight is within 4e-13, and 1e-12 is more than all errors together.
func (g DiscreteGaussian) summedAlpha(beta float64, enough int64) int64 {
	z, sum := g.total(), 0.0
	for k := g.last(); k >= 1; k-- {
		sum += g.weight(float64(k))
		if 2*sum/z*(1+1e-12)+1e-289 > beta {
			return min(k, enough)
		}
	}
	return 0
}

// wideTail bounds P(|noise| > k) from above for wide noise. With w the weight and
// a = k + 1/2, Taylor's formula around each integer, twice, gives
//
//	sum of w(j), j > k  =  integral of w from a  +  w'(a)/24  +  E,
//	|E| <= (1/576 + 1/1920) * sum over the cells of the largest fourth derivative,
//
// and with u = x/s the fourth derivative is at most M = (u^4 + 6u^2 + 3)
// exp(-u^2/2)/s^4 in absolute value; the largest of a cell is at most M's mean and
// its variation there, so the sum is at most the integrals of M and of |M'| from
// a. Relative to the tail E is about (u/s)^4/440, which is below 2e-11 for all u
// up to 37 and s above 4096.
func (g DiscreteGaussian) wideTail(k float64) float64 {
	s := math.Sqrt(g.Sigma2)
	u := (k + 0.5) / s
	e := math.Exp(-u * u / 2)
	// Integrals of u^n exp(-u^2/2) from u on.
	i0 := math.Sqrt(math.Pi/2) * math.Erfc(u/math.Sqrt2)
	i2 := u*e + i0
	i4 := u*u*u*e + 3*i2
	j1 := e
	j3 := (u*u + 2) * e
	j5 := (u*u*u*u + 4*u*u + 8) * e
	sum := s*i0 - u/s*e/24
	bound := (1.0/576 + 1.0/1920) * ((i4+6*i2+3*i0)/(s*g.Sigma2) + (j5+10*j3+15*j1)/(g.Sigma2*g.Sigma2))
	return 2 * (sum + bound) / g.total() * (1 + (8+u*u)*0x1p-49)
}

// Variance returns the exact variance. By Poisson summation it differs from
// Sigma2 by less than 1e-300 of itself from Sigma2 = 64 on.
func (g DiscreteGaussian) Variance() (float64, error) {
	if err := onIntegers("sigma^2", g.Sigma2, widest*widest); err != nil {
		return 0, err
	}
	if g.Sigma2 >= 64 {
		return g.Sigma2, nil
	}
	sum := 0.0
	for k := g.last(); k >= 1; k-- {
		sum += float64(k) * float64(k) * g.weight(float64(k))
	}
	return 2 * sum / g.total(), nil
}

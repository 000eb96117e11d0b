package account

import "math"

// The curves below are evaluated without cancellation, so a few roundoffs are
// all there is; they are rounded up by 2^-46, which is 128 of them.
func outward(r float64) float64 {
	if r < 0x1p-900 {
		return r + 0x1p-900
	}
	return r * (1 + 0x1p-46)
}

// GaussianRDP returns the curve of Gaussian noise with sensitivity over deviation
// mu: alpha mu^2/2 (Mironov 2017, Corollary 3).
func GaussianRDP(mu float64) (RDP, error) { return GDP{mu}.RDP() }

// LaplaceRDP returns the curve of Laplace noise with sensitivity over scale epsilon
// (Mironov 2017, Proposition 6).
func LaplaceRDP(epsilon float64) (RDP, error) {
	if err := nonNegative("epsilon", epsilon); err != nil {
		return RDP{}, err
	}
	return NewRDP(func(alpha float64) float64 { return laplaceCurve(epsilon, alpha) }), nil
}

// ExponentialRDP returns the curve of the exponential mechanism with epsilon. It
// has bounded range epsilon, and so is epsilon^2/8-zCDP (Cesar, Rogers 2021),
// and it is epsilon-private; the smaller curve holds.
func ExponentialRDP(epsilon float64) (RDP, error) {
	if err := nonNegative("epsilon", epsilon); err != nil {
		return RDP{}, err
	}
	return NewRDP(func(alpha float64) float64 {
		if epsilon == 0 {
			return 0
		}
		return math.Min(outward(alpha*epsilon*epsilon/8), pureCurve(epsilon, alpha))
	}), nil
}

// pureCurve is the curve of randomized response (Mironov 2017, Proposition 5; Bun, Steinke
// 2016, Proposition 3.3), ln((sinh(a e) - sinh((a-1) e))/sinh e)/(a-1). By the
// addition theorems the fraction is
//
//	cosh((a - 1/2) e)/cosh(e/2) = 1 + 2 sinh(a e/2) sinh((a-1) e/2)/cosh(e/2),
//
// where nothing cancels.
func pureCurve(e, a float64) float64 {
	t := a - 1
	switch {
	case e == 0:
		return 0
	case a*e < 30:
		return math.Min(e, outward(math.Log1p(2*math.Sinh(a*e/2)*math.Sinh(t*e/2)/math.Cosh(e/2))/t))
	default:
		// The two logarithms differ by at most ln 2 = 0.7 where (a-1) e, or e, is 15.
		return math.Min(e, outward(e+(math.Log1p(math.Exp(-(a+t)*e))-math.Log1p(math.Exp(-e)))/t))
	}
}

// laplaceCurve is ln(M)/(a-1) with the moment
//
//	M = a/(2a-1) exp((a-1) e) + (a-1)/(2a-1) exp(-a e).
//
// Where a e is large, exp((a-1) e) is taken out. Where it is small the linear
// terms of the exponentials cancel, and are cancelled here by hand:
//
//	M - 1 = a (a-1) e^2 ((a-1) g((a-1) e) + a g(-a e))/(2a-1), g(x) = (exp(x) - 1 - x)/x^2.
func laplaceCurve(e, a float64) float64 {
	t := a - 1
	switch {
	case e == 0:
		return 0
	case a*e < 1:
		m := a * t * (e * e) * (t*secondRest(t*e) + a*secondRest(-a*e)) / (a + t)
		return math.Min(e, outward(math.Log1p(m)/t))
	default:
		return math.Min(e, outward(e+math.Log1p(t/(a+t)*math.Expm1(-(a+t)*e))/t))
	}
}

// secondRest returns (exp(x) - 1 - x)/x^2.
func secondRest(x float64) float64 {
	if math.Abs(x) > 0.5 {
		return (math.Expm1(x) - x) / (x * x)
	}
	sum, term := 0.0, 0.5
	for i := 3.0; sum+term != sum; i++ {
		sum += term
		term *= x / i
	}
	return sum
}

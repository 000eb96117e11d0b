package enumerate

import "math"

// Radial is the law of an integer with radial noise of scale s in one dimension, where it is
// Laplace noise on the reals, rounded to the nearest integer: the integral of exp(-|x|/s)/(2s)
// from k - 1/2 to k + 1/2.
func Radial(s float64, value int64) Law {
	logs := map[int64]float64{value: math.Log(-math.Expm1(-1 / (2 * s)))}
	reach := laplaceReach(s)
	for k := int64(1); k <= reach; k++ {
		v := math.Log(math.Sinh(1/(2*s))) - float64(k)/s
		logs[value+k], logs[value-k] = v, v
	}
	return NewLaw(logs, math.Exp(-(float64(reach)+0.5)/s))
}

// RadialPair is the law of two integers with radial noise of scale s, as the outcomes Both(a, b):
// the integral of exp(-|x|/s)/(2 pi s^2) over the unit square around each (Hardt, Talwar 2010, for
// the Euclidean norm). It has the closed form of no function, so it is integrated with Gauss's
// rule, which is right to the last digits where the square does not hold the origin; around the
// origin it is integrated in polar coordinates.
func RadialPair(s float64, first, second int64) Law {
	logs := map[int64]float64{}
	reach := int64(math.Ceil(20 * s))
	for j := int64(0); j <= reach; j++ {
		for k := int64(0); k <= j; k++ {
			v := math.Log(squareProbability(s, float64(j), float64(k)))
			for _, p := range [][2]int64{{j, k}, {-j, k}, {j, -k}, {-j, -k}, {k, j}, {-k, j}, {k, -j}, {-k, -j}} {
				logs[Both(first+p[0], second+p[1])] = v
			}
		}
	}
	// What is not listed is farther than this from the origin, and P(|x| > t) = (1 + t/s)
	// exp(-t/s).
	t := (float64(reach) + 0.5) / s
	return NewLaw(logs, (1+t)*math.Exp(-t))
}

// squareProbability is the probability of the unit square around (a, b).
func squareProbability(s, a, b float64) float64 {
	sum := 0.0
	if a == 0 && b == 0 {
		// Eight triangles; up to the distance t the integral of r exp(-r/s) is s^2 (1 - (1 + t/s)
		// exp(-t/s)).
		for i, x := range gaussNodes {
			t := 1 / (2 * math.Cos(math.Pi/8*(1+x))) / s
			sum += gaussWeights[i] * (-math.Expm1(-t) - t*math.Exp(-t))
		}
		return sum / 2
	}
	for i, x := range gaussNodes {
		for j, y := range gaussNodes {
			sum += gaussWeights[i] * gaussWeights[j] * math.Exp(-math.Hypot(a+x/2, b+y/2)/s)
		}
	}
	return sum / (4 * 2 * math.Pi * s * s)
}

// gaussNodes and gaussWeights are Gauss's rule on [-1, 1]: the roots of a Legendre
// polynomial, by Newton's method.
var gaussNodes, gaussWeights = gaussRule(24)

func gaussRule(n int) (nodes, weights []float64) {
	for i := range n {
		x := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		var slope float64
		for range 20 {
			p, q := 1.0, 0.0 // the polynomials of degree j and j-1
			for j := range n {
				p, q = (float64(2*j+1)*x*p-float64(j)*q)/float64(j+1), p
			}
			slope = float64(n) * (x*p - q) / (x*x - 1)
			x -= p / slope
		}
		nodes, weights = append(nodes, x), append(weights, 2/((1-x*x)*slope*slope))
	}
	return nodes, weights
}

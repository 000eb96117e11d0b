package enumerate

import "math"

// laplaceReachScales is how many scales of Laplace noise are listed: what lies beyond has a
// probability below exp(-44).
const laplaceReachScales = 44

// laplaceAt is P(N = k) for discrete Laplace noise of scale b, in logarithms: (1-q)/(1+q) q^|k|
// with q = exp(-1/b), and (1-q)/(1+q) = tanh(1/(2b)) (Ghosh, Roughgarden, Sundararajan 2009).
func laplaceAt(b float64, k int64) float64 {
	return math.Log(math.Tanh(1/(2*b))) - math.Abs(float64(k))/b
}

// laplaceFrom is P(N >= m), accurate relative to itself.
func laplaceFrom(b float64, m int64) float64 {
	q := math.Exp(-1 / b)
	if m >= 1 {
		return math.Exp(-float64(m)/b) / (1 + q)
	}
	return 1 - math.Exp(-float64(1-m)/b)/(1+q)
}

// laplaceTo is P(N <= m): the noise is symmetric.
func laplaceTo(b float64, m int64) float64 { return laplaceFrom(b, -m) }

func laplaceReach(b float64) int64 { return int64(math.Ceil(laplaceReachScales * b)) }

// Laplace is the law of an integer with discrete Laplace noise of scale b. Outside of the values of
// two neighbours the ratio of their laws is constant, so no loss is left out with the tails.
func Laplace(b float64, value int64) Law {
	logs := map[int64]float64{}
	reach := laplaceReach(b)
	for k := -reach; k <= reach; k++ {
		logs[value+k] = laplaceAt(b, k)
	}
	return NewLaw(logs, 2*laplaceFrom(b, reach+1))
}

// LaplacePair is the law of two integers with independent noise, as the outcomes Both(a, b).
func LaplacePair(b float64, first, second int64) Law {
	logs := map[int64]float64{}
	reach := int64(math.Ceil(16 * b))
	for j := -reach; j <= reach; j++ {
		for k := -reach; k <= reach; k++ {
			logs[PairOutcome(first+j, second+k)] = laplaceAt(b, j) + laplaceAt(b, k)
		}
	}
	return NewLaw(logs, 4*laplaceFrom(b, reach+1))
}

// Sharpened is the law of an integer that is released with noise of scale from and then of scale
// to, as the outcomes Both(first, second): the second has noise of its own scale, and the first
// is the second plus nothing, with some probability, or else noise of its own scale.
func Sharpened(from, to float64, value int64) Law {
	a1, a2 := math.Exp(-1/from), math.Exp(-1/to)
	none := a2 / a1 * math.Pow((1-a1)/(1-a2), 2)
	logs := map[int64]float64{}
	reach := int64(math.Ceil(16 * from))
	for second := -reach; second <= reach; second++ {
		for m := -reach; m <= reach; m++ {
			p := math.Log1p(-none) + laplaceAt(from, m)
			if m == 0 {
				p = math.Log(none + math.Exp(p))
			}
			logs[PairOutcome(value+second+m, value+second)] = laplaceAt(to, second) + p
		}
	}
	return NewLaw(logs, 4*laplaceFrom(from, reach+1))
}

// PairOutcome numbers a pair of integers that are far from the ends of 32 bits.
func PairOutcome(a, b int64) int64 { return a<<32 + b }

// Gaussian is the law of an integer with discrete Gaussian noise, P(k) ~
// exp(-k^2/(2 sigma^2)) (Canonne, Kamath, Steinke 2020, Definition 1). It lists 40
// deviations to each side: moments of order 32 have their weight far out.
func Gaussian(sigma2 float64, value int64) Law {
	reach := int64(math.Ceil(40*math.Sqrt(sigma2))) + 1
	sum := 1.0
	for k := reach; k > 0; k-- { // the small ones first
		sum += 2 * math.Exp(-float64(k)*float64(k)/(2*sigma2))
	}
	total := math.Log(sum)
	logs := map[int64]float64{}
	for k := -reach; k <= reach; k++ {
		logs[value+k] = -float64(k)*float64(k)/(2*sigma2) - total
	}
	// exp(-800) is zero to a float64, and a rest of zero would call the outcomes beyond impossible.
	return NewLaw(logs, math.SmallestNonzeroFloat64)
}

// Averaged is the law of the average, with weights and rounded, of an integer with Gaussian noise
// of one variance and of the same integer with another noise of another.
func Averaged(sigma2, more float64, weights [2]int64, value int64) Law {
	first, second := Gaussian(sigma2, 0), Gaussian(more, 0)
	whole := weights[0] + weights[1]
	a, b := float64(weights[0])/float64(whole), float64(weights[1])/float64(whole)
	reach := int64(math.Ceil(40 * math.Sqrt(a*a*sigma2+b*b*more))) // beyond, some of what adds up is not listed
	logs := map[int64]float64{}
	for i, y := range first.outcomes {
		for j, w := range second.outcomes {
			at := int64(math.Floor(float64(2*(weights[0]*y+weights[1]*w)+whole) / float64(2*whole)))
			if at < -reach || at > reach {
				continue
			}
			at += value
			p := first.logs[i] + second.logs[j]
			if before, ok := logs[at]; ok {
				p = max(p, before) + math.Log1p(math.Exp(-math.Abs(p-before)))
			}
			logs[at] = p
		}
	}
	return NewLaw(logs, math.SmallestNonzeroFloat64)
}

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
				logs[PairOutcome(first+p[0], second+p[1])] = v
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

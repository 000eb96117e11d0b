package enumerate

import "math"

// laplaceReachScales is how many scales of Laplace noise are listed: what lies beyond has a
// probability below exp(-44).
const laplaceReachScales = 44

// laplaceAt is P(N = k) for discrete Laplace noise of scale b, in logarithms: (1-q)/(1+q)
// q^|k| with q = exp(-1/b), and (1-q)/(1+q) = tanh(1/(2b)) (Ghosh, Roughgarden,
// Sundararajan 2009).
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

// Laplace is the law of an integer with discrete Laplace noise of scale b. Outside of
// the values of two neighbours the ratio of their laws is constant, so no loss is left
// out with the tails.
func Laplace(b float64, value int64) Law {
	logs := map[int64]float64{}
	reach := laplaceReach(b)
	for k := -reach; k <= reach; k++ {
		logs[value+k] = laplaceAt(b, k)
	}
	return NewLaw(logs, 2*laplaceFrom(b, reach+1))
}

// LaplacePair is the law of two integers with independent noise, as the outcomes
// Both(a, b).
func LaplacePair(b float64, first, second int64) Law {
	logs := map[int64]float64{}
	reach := int64(math.Ceil(16 * b))
	for j := -reach; j <= reach; j++ {
		for k := -reach; k <= reach; k++ {
			logs[Both(first+j, second+k)] = laplaceAt(b, j) + laplaceAt(b, k)
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
			logs[Both(value+second+m, value+second)] = laplaceAt(to, second) + p
		}
	}
	return NewLaw(logs, 4*laplaceFrom(from, reach+1))
}

// Both numbers a pair of integers that are far from the ends of 32 bits.
func Both(a, b int64) int64 { return a<<32 + b }

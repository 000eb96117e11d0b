package enumerate

import "math"

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
	// exp(-800) is zero to a float64, and a rest of zero would call the outcomes beyond
	// impossible.
	return NewLaw(logs, math.SmallestNonzeroFloat64)
}

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

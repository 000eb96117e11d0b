package enumerate

import "math"

// Above is one round of AboveThreshold (Dwork, Roth 2014, Algorithm 1) on the integers: questions
// until the first "above". Both noises are discrete Laplace or, one-sided, geometric on 0, 1, 2,
// ...
type Above struct {
	Threshold, Question float64 // scales
	OneSided            bool
}

// Law is that of the whole transcript, for questions whose values are compared to thresholds of 0.
// The outcome is the number that Transcript gives to the answers.
func (a Above) Law(values []int64) Law {
	p := map[int64]float64{}
	reach := laplaceReach(a.Threshold)
	for z := a.least(reach); z <= reach; z++ {
		w := math.Exp(a.at(z))
		answers := make([]bool, 0, len(values)+1)
		for _, d := range values {
			p[Transcript(append(answers, true))] += w * a.above(z-d)
			answers = append(answers, false)
			w *= a.below(z - d)
		}
		p[Transcript(answers)] += w
	}
	logs := map[int64]float64{}
	for k, v := range p {
		if v > 0 {
			logs[k] = math.Log(v)
		}
	}
	return NewLaw(logs, a.rest(reach))
}

// least is where the noise of the threshold begins, and rest what lies beyond its reach.
func (a Above) least(reach int64) int64 {
	if a.OneSided {
		return 0
	}
	return -reach
}

func (a Above) rest(reach int64) float64 {
	if a.OneSided {
		return math.Exp(-float64(reach+1) / a.Threshold)
	}
	return 2 * laplaceFrom(a.Threshold, reach+1)
}

// at is ln P(Z = z) where that is not 0: (1-q) q^z one-sided, with q = exp(-1/b).
func (a Above) at(z int64) float64 {
	if a.OneSided {
		return math.Log(-math.Expm1(-1/a.Threshold)) - float64(z)/a.Threshold
	}
	return laplaceAt(a.Threshold, z)
}

// above is P(N >= m) and below is P(N < m).
func (a Above) above(m int64) float64 {
	if a.OneSided {
		return math.Exp(-float64(max(0, m)) / a.Question)
	}
	return laplaceFrom(a.Question, m)
}

func (a Above) below(m int64) float64 {
	if a.OneSided {
		return -math.Expm1(-float64(max(0, m)) / a.Question)
	}
	return laplaceTo(a.Question, m-1)
}

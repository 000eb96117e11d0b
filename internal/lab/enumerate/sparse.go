package enumerate

import "math"

// Sparse is the sparse vector technique as Algorithm 7 of Lyu, Su, Li 2017 has it, on the integers:
// one noise for the threshold, one for each question, and an end after so many answers "above".
type Sparse struct {
	Threshold, Question float64 // scales; 0 is no noise
	Above               int     // 0 is no end
}

// Law is that of the whole transcript, for questions whose values are compared to
// thresholds of 0. Given the threshold's noise the answers are independent, so it is a
// sum over that noise. The outcome is the number that Transcript gives to the answers.
func (s Sparse) Law(values []int64) Law {
	p := map[int64]float64{}
	reach, rest := int64(0), 0.0
	if s.Threshold > 0 {
		reach = laplaceReach(s.Threshold)
		rest = 2 * laplaceFrom(s.Threshold, reach+1)
	}
	for z := -reach; z <= reach; z++ {
		w := 1.0
		if s.Threshold > 0 {
			w = math.Exp(laplaceAt(s.Threshold, z))
		}
		s.walk(p, values, nil, z, w)
	}
	logs := map[int64]float64{}
	for k, v := range p {
		logs[k] = math.Log(v)
	}
	return NewLaw(logs, rest)
}

func (s Sparse) walk(p map[int64]float64, values []int64, answers []bool, z int64, weight float64) {
	above := 0
	for _, a := range answers {
		if a {
			above++
		}
	}
	if len(answers) == len(values) || s.Above > 0 && above == s.Above {
		p[TranscriptOutcome(answers)] += weight
		return
	}
	d := values[len(answers)]
	for _, a := range []bool{false, true} {
		if w := weight * s.answer(d, z, a); w > 0 {
			s.walk(p, values, append(answers[:len(answers):len(answers)], a), z, w)
		}
	}
}

// answer is the probability of an answer given the threshold's noise: "above" is d + N >= z.
func (s Sparse) answer(d, z int64, above bool) float64 {
	switch {
	case s.Question == 0 && above == (d >= z):
		return 1
	case s.Question == 0:
		return 0
	case above:
		return laplaceFrom(s.Question, z-d)
	}
	return laplaceTo(s.Question, z-d-1)
}

// TranscriptOutcome numbers a sequence of answers of any length up to 62.
func TranscriptOutcome(answers []bool) int64 {
	n := int64(1)
	for _, a := range answers {
		n <<= 1
		if a {
			n++
		}
	}
	return n
}

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
			p[TranscriptOutcome(append(answers, true))] += w * a.above(z-d)
			answers = append(answers, false)
			w *= a.below(z - d)
		}
		p[TranscriptOutcome(answers)] += w
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

package enumerate

import "math"

// Chooser gives the probability of every candidate.
type Chooser func(scores []int64) []float64

// Law numbers the candidates.
func (c Chooser) Law(scores []int64) Law {
	p := map[int64]float64{}
	for i, v := range c(scores) {
		p[int64(i)] = v
	}
	return FromMap(p)
}

func highestScore(scores []int64) int64 {
	top := scores[0]
	for _, s := range scores {
		top = max(top, s)
	}
	return top
}

// Exponential is the exponential mechanism, P(i) ~ exp(s_i/b) (McSherry, Talwar 2007).
func Exponential(b float64) Chooser {
	return func(scores []int64) []float64 {
		top, sum := highestScore(scores), 0.0
		p := make([]float64, len(scores))
		for i, s := range scores {
			p[i] = math.Exp(float64(s-top) / b)
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
}

// PermuteAndFlip is uniform among those that win a coin of probability exp((s_i -
// max)/b) (McKenna, Sheldon 2020). It walks through all ways the coins of the others
// can fall, by how many are heads.
func PermuteAndFlip(b float64) Chooser {
	return func(scores []int64) []float64 {
		top := highestScore(scores)
		p := make([]float64, len(scores))
		for i, s := range scores {
			heads := []float64{1} // heads[n] is the probability of n heads among the others
			for j, o := range scores {
				if j == i {
					continue
				}
				c := math.Exp(float64(o-top) / b)
				next := make([]float64, len(heads)+1)
				for n, w := range heads {
					next[n] += w * (1 - c)
					next[n+1] += w * c
				}
				heads = next
			}
			for n, w := range heads {
				p[i] += w / float64(n+1)
			}
			p[i] *= math.Exp(float64(s-top) / b)
		}
		return p
	}
}

// NoisyMaxLaplace is the first of the highest scores after discrete Laplace noise of
// scale b: over all noises z of candidate i, those before it stay below and those
// behind it at or below.
func NoisyMaxLaplace(b float64) Chooser {
	reach := laplaceReach(b)
	return noisyMax(-reach, reach, func(k int64) float64 { return math.Exp(laplaceAt(b, k)) },
		func(m int64) float64 { return laplaceTo(b, m) })
}

// NoisyMaxGeometric is the same with one-sided noise, P(k) ~ exp(-k/b) for k >= 0.
func NoisyMaxGeometric(b float64) Chooser {
	return noisyMax(0, laplaceReach(b), func(k int64) float64 { return -math.Expm1(-1/b) * math.Exp(-float64(k)/b) },
		func(m int64) float64 {
			if m < 0 {
				return 0
			}
			return -math.Expm1(-float64(m+1) / b)
		})
}

func noisyMax(from, to int64, at, upTo func(int64) float64) Chooser {
	return func(scores []int64) []float64 {
		p := make([]float64, len(scores))
		for i, s := range scores {
			for z := from; z <= to; z++ {
				w := at(z)
				for j, o := range scores {
					switch {
					case j < i:
						w *= upTo(s + z - o - 1)
					case j > i:
						w *= upTo(s + z - o)
					}
				}
				p[i] += w
			}
		}
		return p
	}
}

// Top is the law of k choices one after the other, each among what is left; the
// outcome is the number that Order gives to the choices.
func Top(k int, each Chooser, scores []int64) Law {
	p := map[int64]float64{}
	var walk func(left []int64, names []int, chosen []int, weight float64)
	walk = func(left []int64, names, chosen []int, weight float64) {
		if len(chosen) == k {
			p[Order(chosen)] += weight
			return
		}
		for i, w := range each(left) {
			walk(without(left, i), without(names, i), append(chosen[:len(chosen):len(chosen)], names[i]), weight*w)
		}
	}
	names := make([]int, len(scores))
	for i := range names {
		names[i] = i
	}
	walk(scores, names, nil, 1)
	return FromMap(p)
}

func without[T any](s []T, i int) []T { return append(append([]T(nil), s[:i]...), s[i+1:]...) }

// Order numbers a sequence of up to seven candidates out of 256.
func Order(chosen []int) int64 {
	n := int64(1)
	for _, c := range chosen {
		n = n<<8 + int64(c)
	}
	return n
}

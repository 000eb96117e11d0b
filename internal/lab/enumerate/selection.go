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

// PermuteAndFlip is uniform among those that win a coin of probability exp((s_i - max)/b) (McKenna,
// Sheldon 2020). It walks through all ways the coins of the others can fall, by how many are heads.
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

// NoisyMaxLaplace is the first of the highest scores after discrete Laplace noise of scale b: over
// all noises z of candidate i, those before it stay below and those behind it at or below.
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
			p[OrderOutcome(chosen)] += weight
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

// OrderOutcome numbers a sequence of up to seven candidates out of 256.
func OrderOutcome(chosen []int) int64 {
	n := int64(1)
	for _, c := range chosen {
		n = n<<8 + int64(c)
	}
	return n
}

// Hidden is the outcome that a group is not released.
const Hidden = math.MinInt64

// KeyThreshold is the law of one group of so many units: its noisy number, with Laplace noise of
// scale b, where that is at the threshold or above, and else Hidden. A group of none is not known
// and is Hidden for certain (Korolova, Kenthapadi, Mishra, Ntoulas 2009).
func KeyThreshold(b float64, threshold, units int64) Law { return KeyEdge(b, threshold, 0, units) }

// KeyEdge is that of a threshold at which one less is released too, with a probability.
func KeyEdge(b float64, threshold int64, edge float64, units int64) Law {
	if units == 0 {
		return FromMap(map[int64]float64{Hidden: 1})
	}
	logs := map[int64]float64{Hidden: math.Log(laplaceTo(b, threshold-units-1))}
	if edge > 0 {
		at := laplaceAt(b, threshold-1-units)
		logs[threshold-1] = math.Log(edge) + at
		logs[Hidden] = math.Log(laplaceTo(b, threshold-units-2) + (1-edge)*math.Exp(at))
	}
	end := max(threshold, units) + laplaceReach(b)
	for v := threshold; v <= end; v++ {
		logs[v] = laplaceAt(b, v-units)
	}
	return NewLaw(logs, laplaceFrom(b, end-units+1))
}

// KeySelection is the law of which of several groups are kept, each by itself with the
// probability that keep gives to its number of units; the outcome is the number that
// Transcript gives to the decisions.
func KeySelection(keep func(units int64) float64, units ...int64) Law {
	p := map[int64]float64{}
	for set := range 1 << len(units) {
		w, kept := 1.0, make([]bool, len(units))
		for i, n := range units {
			if kept[i] = set>>i&1 == 1; kept[i] {
				w *= keep(n)
			} else {
				w *= 1 - keep(n)
			}
		}
		p[TranscriptOutcome(kept)] = w
	}
	return FromMap(p)
}

// Direct is the law of a report of k-ary randomized response: the own value with probability p, and
// each other one with q (Warner 1965 for two values; Kairouz, Bonawitz, Ramage 2016).
func Direct(p, q float64, size int, value int64) Law {
	out := map[int64]float64{}
	for i := range int64(size) {
		out[i] = q
		if i == value {
			out[i] = p
		}
	}
	return FromMap(out)
}

// Unary is the law of a report of unary encoding: a bit for each value, 1 with
// probability p for the own one and with q for another (Wang, Blocki, Li, Jha 2017).
// The outcome is the bits as a number.
func Unary(p, q float64, size int, value int64) Law {
	out := map[int64]float64{}
	for bits := range int64(1) << size {
		w := 1.0
		for i := range int64(size) {
			one := q
			if i == value {
				one = p
			}
			if bits>>i&1 == 0 {
				one = 1 - one
			}
			w *= one
		}
		out[bits] = w
	}
	return FromMap(out)
}

// Hashed is the law of which of two values a report of local hashing into g buckets supports: bit 0
// for the value 0 and bit 1 for the value 1. They share a bucket for one hash function in g, and
// then the report tells nothing about which it was; otherwise it is direct encoding of the bucket.
// What a report supports is all that it tells about the two.
func Hashed(p float64, g int, value int64) Law {
	same := 1 / float64(g)
	lie := (1 - p) / float64(g-1) // each of the other buckets
	own, other := int64(1)<<value, int64(2)>>value
	return FromMap(map[int64]float64{
		3: same * p, own: (1 - same) * p, other: (1 - same) * lie, 0: same*(1-p) + (1-same)*lie*float64(g-2),
	})
}

// Hadamard is the law of a row out of so many, drawn uniformly, and the sign that the
// value has in it, turned with probability 1-p (Acharya, Sun, Zhang 2019). The outcome
// is twice the row plus the sign.
func Hadamard(p float64, rows, value int64) Law {
	out := map[int64]float64{}
	for row := range rows {
		sign := parity(row & value)
		out[2*row+sign] = p / float64(rows)
		out[2*row+1-sign] = (1 - p) / float64(rows)
	}
	return FromMap(out)
}

func parity(x int64) (sign int64) {
	for ; x > 0; x &= x - 1 {
		sign ^= 1
	}
	return sign
}

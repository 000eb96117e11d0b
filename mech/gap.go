package mech

import (
	"math"
	"math/big"
)

// Gap of the exponential mechanism: P[s <= max - b (ln n + t)] <= exp(-t) (McSherry,
// Talwar 2007, with one best candidate, the worst case), so ln n + t = ln(n/beta).
func (m *Exponential) Gap(candidates int, beta float64) int64 { return gap(m.b, candidates, beta, 0) }

// Gap of permute-and-flip is at most that of the exponential mechanism, at every
// set of scores (McKenna, Sheldon 2020).
func (m *PermuteAndFlip) Gap(candidates int, beta float64) int64 {
	return gap(m.b, candidates, beta, 0)
}

// Gap of report noisy max. The chosen one has s + z >= max + z', so it is at most z
// - z' below. Geometric noise has z' >= 0 and P(z > h) = exp(-(h+1)/b), Laplace
// noise P(|z| > h) = 2 exp(-(h+1)/b)/(1 + exp(-1/b)); no candidate's is beyond h with
// probability 1 - beta, by the union bound.
func (m *NoisyMax) Gap(candidates int, beta float64) int64 {
	if m.form == GeometricNoise {
		return gap(m.b, candidates, beta, 0)
	}
	b, _ := m.b.Float64()
	h := gap(m.b, candidates, beta, math.Log(2/(1+math.Exp(-1/b))))
	if h > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return 2 * h
}

// gap returns b (ln(n/beta) + more), rounded up with a margin for the rounding of
// floating point, and the largest int64 where nothing satisfies beta.
func gap(width *big.Rat, candidates int, beta, more float64) int64 {
	if !(beta > 0) || candidates < 1 {
		return math.MaxInt64
	}
	b, _ := width.Float64()
	g := math.Ceil(b * max(0, math.Log(float64(candidates)/beta)+more) * (1 + 0x1p-40))
	if !(g < math.MaxInt64/2) {
		return math.MaxInt64
	}
	return int64(g)
}

package account

import (
	"math"
	"sync"
)

// largestOrder is the largest order at which subsampled curves are computed. Above
// it they are +Inf, which costs accuracy where epsilon is below some hundredths.
const largestOrder = 1024

// SubsampledGaussianRDP returns the curve of Gaussian noise with sensitivity over
// deviation mu on a Poisson sample: every unit is in it with probability rate,
// independently; neighbours by adding or removing a unit.
func SubsampledGaussianRDP(mu, rate float64) (RDP, error) {
	g, err := GaussianRDP(mu)
	if err != nil {
		return RDP{}, err
	}
	return subsampled(g, rate)
}

// SubsampledLaplaceRDP returns the curve of Laplace noise on one number, with
// sensitivity over scale epsilon, on a Poisson sample.
func SubsampledLaplaceRDP(epsilon, rate float64) (RDP, error) {
	l, err := LaplaceRDP(epsilon)
	if err != nil {
		return RDP{}, err
	}
	return subsampled(l, rate)
}

// subsampled returns the curve of a Poisson sample of rate q from the curve of
// noise Q and its shift P. Removing a unit compares (1-q) Q + q P with Q. For
// noise that a reflection carries into its shift, as all symmetric noise, that
// divergence is at least the one of adding a unit (Mironov, Talwar, Zhang 2019,
// Theorem 5), so it is the only one to compute. At a whole order a, with B
// binomial with a trials of probability q,
//
//	E_Q[((1-q) + q P/Q)^a] = E[M(B)], M(j) = E_Q[(P/Q)^j] = exp((j-1) r(j)),
//
// and since M(0) = M(1) = 1 it is 1 + sum over j >= 2 of P(B = j) (M(j) - 1): positive
// parts, summed as logarithms. M grows with r, so an upper bound of r will do.
//
// Between whole orders (a-1) r(a), a cumulant generating function, is convex, so the chord
// is above it.
func subsampled(base RDP, rate float64) (RDP, error) {
	if err := probability("the sampling rate", rate); err != nil {
		return RDP{}, err
	}
	switch rate {
	case 0:
		return NewRDP(func(float64) float64 { return 0 }), nil
	case 1:
		return base, nil
	}
	s := &sample{base: base, rate: rate, known: map[int]float64{1: 0}}
	return NewRDP(func(alpha float64) float64 {
		if alpha > largestOrder {
			return math.Inf(1)
		}
		low := math.Floor(alpha)
		left := s.cumulant(int(low))
		if low == alpha {
			return outward(left / (alpha - 1))
		}
		right := s.cumulant(int(low) + 1)
		part := alpha - low
		return outward(((1-part)*left + part*right) / (alpha - 1))
	}), nil
}

// sample remembers what it has computed, for several goroutines.
type sample struct {
	base RDP
	rate float64

	mutex sync.Mutex
	known map[int]float64
}

// cumulant returns (a-1) r(a) at a whole order, rounded up.
func (s *sample) cumulant(a int) float64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if v, ok := s.known[a]; ok {
		return v
	}
	logs := make([]float64, 0, a)
	most := math.Inf(-1)
	for j := 2; j <= a; j++ {
		// 1 - rate is rounded by half a unit; binomialLog allows for more.
		p, bound := binomialLog(float64(a), float64(j), s.rate, 1-s.rate)
		y := float64(j-1) * s.base.at(float64(j))
		l := p + bound + logExpm1(y)
		// The sums here, and y, are rounded by 4 roundoff of their sizes.
		l += roundoff * 16 * (math.Abs(p) + y + math.Abs(l) + 1)
		logs = append(logs, l)
		most = math.Max(most, l)
	}
	v := math.Inf(1)
	if most < v {
		sum := 0.0
		for _, l := range logs {
			sum += math.Exp(l - most)
		}
		v = logAdd1(most + math.Log(sum)*(1+0x1p-50) + roundoff*(4*float64(a)+16*math.Abs(most)+64))
	}
	s.known[a] = v
	return v
}

// logExpm1 returns ln(exp(y) - 1) for y >= 0.
func logExpm1(y float64) float64 {
	if y > 40 {
		return y // above it, by less than exp(-40)
	}
	return math.Log(math.Expm1(y))
}

// logAdd1 returns ln(1 + exp(l)), rounded up.
func logAdd1(l float64) float64 {
	if l > 40 {
		return l + 0x1p-52*l
	}
	return outward(math.Log1p(math.Exp(l)))
}

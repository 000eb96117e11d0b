package utility

import "math"

// PermuteAndFlip returns the law of permute-and-flip (McKenna, Sheldon 2020): in
// random order, accept o with probability p(o) = exp(-gap).
//
// Give every element an independent uniform time of arrival. Element o is chosen
// if it is accepted and each other j, at o's time t, either has not arrived or was
// refused, which has probability 1 - t p(j):
//
//	P(o) = p(o) * integral over t from 0 to 1 of the product over j != o of (1 - t p(j)).
//
// The integrand is a positive polynomial of degree n - 1, so Gauss's rule with n/2
// + 1 points is exact, and every term is positive: no subset is enumerated, and
// nothing cancels.
func (s Selection) PermuteAndFlip(scores []float64) (Choice, error) {
	p, err := s.gaps(scores)
	if err != nil {
		return Choice{}, err
	}
	for i, gap := range p {
		p[i] = math.Exp(-gap)
	}
	return choice(scores, firstAccepted(p)), nil
}

// firstAccepted returns p(o) times the integral from 0 to 1 of the product over j
// != o of 1 - t p(j), for all o.
func firstAccepted(p []float64) []float64 {
	out := make([]float64, len(p))
	for _, at := range gaussRule(len(p)/2 + 1) {
		t, w := (1+at.x)/2, at.w/2
		product := 1.0
		for _, q := range p {
			product *= 1 - t*q
		}
		for i, q := range p {
			out[i] += w * q * product / (1 - t*q)
		}
	}
	return out
}

// node is a point of Gauss's rule on [-1, 1] and its weight.
type node struct{ x, w float64 }

// gaussRule returns the rule with n points, exact for polynomials up to degree 2n
// - 1: the zeros of Legendre's polynomial, by Newton's method from Tricomi's
// approximation.
func gaussRule(n int) []node {
	rule := make([]node, n)
	for i := range rule {
		x := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		var slope float64
		for range 100 {
			p, before := 1.0, 0.0
			for k := 1; k <= n; k++ {
				p, before = (float64(2*k-1)*x*p-float64(k-1)*before)/float64(k), p
			}
			slope = float64(n) * (x*p - before) / (x*x - 1)
			step := p / slope
			x -= step
			if math.Abs(step) <= 1e-15 {
				break
			}
		}
		rule[i] = node{x, 2 / ((1 - x*x) * slope * slope)}
	}
	return rule
}

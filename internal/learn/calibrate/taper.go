package calibrate

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/normal"
	"github.com/discreet-dp/discreet/internal/root"
)

// tapered is the most of a price that can go into noise where a loss is straight where it is steep:
// the largest e' with, for each differing row,
//
//	beta + max over s of (beta s + ln(1 + 4 kappa s (1-s))) <= price/m,   beta = e'/(2m)
//
// where persons are substituted; without the first beta and with e'/m where they are added and
// removed. From 4 kappa <= beta on the maximum is beta, at s = 1, and all of it is noise.
func (p Problem) tapered(lambda, price float64) float64 {
	if !p.Tapered {
		return 0
	}
	m := float64(p.Rows)
	k := p.kappa(lambda) / m * Slack
	low, _ := root.Halve(0, price, 100, func(beta float64) bool {
		total := m * steepest(beta, k)
		if p.Neighbours == dp.Substitute {
			total += m * beta
		}
		return total*Slack <= price
	})
	return low * float64(p.differ())
}

// steepest is the largest beta s + ln(1 + 4 k s(1-s)) for s from 0 to 1. With u = 1-2s the
// derivative is 0 where k beta u^2 - 4 k u - beta (1+k) = 0.
func steepest(beta, k float64) float64 {
	if beta >= 4*k || k == 0 {
		return beta
	}
	u := -1.0
	if beta > 0 {
		// The root that is not positive, without a difference of numbers that are close.
		u = math.Max(-1, -beta*(1+k)/(2*k+math.Sqrt(4*k*k+k*beta*beta*(1+k))))
	} else {
		u = 0
	}
	s := (1 - u) / 2
	return (beta*s + math.Log1p(k*(1-u*u))) * Slack
}

// mostTapered is up to how many rows of a person the sums of a tapered loss are counted one by one.
const mostTapered = 6

// taperedDelta bounds delta like [Problem.delta], without a Jacobian in the term that matters. c(s)
// = ln(1 + 4 kappa s(1-s)) is concave, and so below its tangents at 0, 1/2 and 1, which meet at s =
// x and 1-x, x = ln(1+kappa)/(4 kappa), at a height of ln(1+kappa). So each of the m rows that only
// this database has adds at most the largest of 0, x g + ln(1+kappa), (1-x) g + ln(1+kappa) and g,
// g being b.v/sigma^2, and each row that only the other has the larger of 0 and g.
func (p Problem) taperedDelta(lambda, sigma, epsilon float64) float64 {
	if !p.Tapered || p.Models != 1 || p.Rows > mostTapered {
		return 1
	}
	m := p.Rows
	k := p.kappa(lambda) / float64(m) * Slack
	height := math.Log1p(k) * Slack
	x := height / (4 * k) // at most 1/4, but for the slack; rounded up where it is a length
	others := 0
	if p.Neighbours == dp.Substitute {
		others = m
	}
	unit, s := p.Slope*p.Radius*Slack/sigma, p.Gradient()/sigma
	tau := epsilon - s*s/2
	if !(tau-float64(m)*height > 0) {
		return 1
	}
	total := 0.0
	for a := range m + 1 { // rows at x
		for b := range m - a + 1 { // rows at 1-x
			for c := range m - a - b + 1 { // rows at 1
				for v := range others + 1 {
					length := float64(a)*x + float64(b)*(1-x)*Slack + float64(c+v)
					if length == 0 {
						continue
					}
					n := binomial(m, a) * binomial(m-a, b) * binomial(m-a-b, c) * binomial(others, v)
					mu := unit * length * Slack
					left := tau - float64(a+b)*height
					total += n * normal.Delta(mu, left+mu*mu/2).Upper
				}
			}
		}
	}
	return total * (1 + 1e-9)
}

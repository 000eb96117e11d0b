package workload

import (
	"math"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/account/loss"
)

// claims is what the accountants ask of a mechanism, after sampling.
type claims struct {
	pure, delta float64 // an (epsilon, delta) claim, or pure is 0
	rho         float64 // zCDP with the same delta, or 0
	mu          float64 // Gaussian-DP, or 0
	curve       func() (account.RDP, error)
	law         func(loss.Direction) (loss.Law, error)
}

func (m Mechanism) claims() (claims, error) {
	f, err := m.facts()
	if err != nil {
		return claims{}, err
	}
	c := claims{pure: f.pure, delta: f.delta, rho: f.rho, mu: f.mu, curve: f.curve}
	c.law = func(loss.Direction) (loss.Law, error) { return f.law, nil }
	if m.sample == 1 {
		return c, nil
	}
	// Sampling with rate q turns (epsilon, delta) into (ln(1 + q(exp(epsilon) - 1)), q
	// delta): Balle, Barthe, Gaboardi 2018, Theorem 8. Nothing else is known here of
	// what sampling does to rho, mu, or a curve.
	c = claims{}
	if f.pure > 0 {
		c.pure = up(math.Log1p(m.sample*math.Expm1(f.pure)) * (1 + 0x1p-50))
		c.delta = up(m.sample * f.delta * (1 + 0x1p-52))
		if f.delta == 0 {
			c.delta = 0
		}
		claim, err := account.Approx{Epsilon: c.pure, Delta: c.delta}.ApproxZCDP()
		if err != nil {
			return claims{}, err
		}
		c.rho = claim.Rho
		if c.delta == 0 {
			c.curve = account.Pure{Epsilon: c.pure}.RDP
		}
		c.law = func(loss.Direction) (loss.Law, error) { return loss.Response(c.pure, c.delta) }
	}
	if f.sample != nil {
		c.curve = func() (account.RDP, error) { return f.sample(m.sample) }
		c.law = func(d loss.Direction) (loss.Law, error) { return loss.Sampled(f.law, m.sample, d) }
	}
	return c, nil
}

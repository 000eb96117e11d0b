package workload

import (
	"math"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/account/loss"
)

// claims is what the accountants ask of a mechanism, after sampling.
type claims struct {
	pure, delta float64 // an (epsilon, delta) claim, or pure is 0
	rho         float64 // zCDP with the same delta
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
	// A sample never costs more than all of the data: its pair is a mixture of the
	// mechanism's pair with a pair of equals, and divergences are convex. So the
	// claims of before stay, next to better ones.
	c.mu = 0 // Gaussian noise on a sample is no Gaussian noise, so nothing is exact
	if f.pure > 0 {
		// (epsilon, delta) becomes (ln(1 + q(exp(epsilon) - 1)), q delta): Balle,
		// Barthe, Gaboardi 2018, Theorem 8.
		c.pure = up(math.Log1p(m.sample*math.Expm1(f.pure)) * (1 + 0x1p-50))
		if f.delta > 0 {
			c.delta = up(m.sample * f.delta)
		}
		claim, err := account.Approx{Epsilon: c.pure, Delta: c.delta}.ApproxZCDP()
		if err != nil {
			return claims{}, err
		}
		c.rho = min(f.rho, claim.Rho)
		if f.curve != nil {
			c.curve = func() (account.RDP, error) { return lower(account.Pure{Epsilon: c.pure}.RDP, f.curve) }
		}
		c.law = func(loss.Direction) (loss.Law, error) { return loss.Response(c.pure, c.delta) }
	}
	if f.sample != nil {
		c.curve = func() (account.RDP, error) {
			return lower(func() (account.RDP, error) { return f.sample(m.sample) }, f.curve)
		}
		c.law = func(d loss.Direction) (loss.Law, error) { return loss.Sampled(f.law, m.sample, d) }
	}
	return c, nil
}

// lower returns the lower of two curves that both hold.
func lower(one, two func() (account.RDP, error)) (account.RDP, error) {
	a, err := one()
	if err != nil {
		return account.RDP{}, err
	}
	b, err := two()
	if err != nil {
		return account.RDP{}, err
	}
	return account.NewRDP(func(alpha float64) float64 {
		x, errX := a.At(alpha)
		y, errY := b.At(alpha)
		if errX != nil || errY != nil {
			return math.Inf(1)
		}
		return min(x, y)
	}), nil
}

package workload

import (
	"errors"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/privacyloss"
)

// accountant is a method, prepared for one workload.
type accountant struct {
	epsilon func(delta float64) (dp.Bracket, error)
	delta   func(epsilon float64) (dp.Bracket, error)
}

// newAccountant prepares a method, or says why it does not apply.
func (w *Workload) newAccountant(m Method, d Direction) (accountant, error) {
	switch m {
	case Basic, Advanced, Optimal:
		if !w.pure() {
			return accountant{}, errors.New("a mechanism has no (epsilon, delta) of its own")
		}
	}
	switch m {
	case Basic:
		return w.basic()
	case Advanced:
		terms := w.repeated()
		return accountant{
			func(delta float64) (dp.Bracket, error) { return account.AdvancedEpsilon(terms, delta) },
			func(epsilon float64) (dp.Bracket, error) { return account.AdvancedDelta(terms, epsilon) },
		}, nil
	case Optimal:
		terms := w.repeated()
		return accountant{
			func(delta float64) (dp.Bracket, error) { return account.OptimalEpsilon(terms, delta) },
			func(epsilon float64) (dp.Bracket, error) { return account.OptimalDelta(terms, epsilon) },
		}, nil
	case ZCDP:
		return w.zcdp()
	case RDP:
		return w.rdp()
	case Gaussian:
		return w.gaussian()
	}
	return w.pld(d)
}

func (w *Workload) basic() (accountant, error) {
	total, err := account.Basic(w.repeated())
	if err != nil {
		return accountant{}, err
	}
	return accountant{
		func(delta float64) (dp.Bracket, error) {
			if delta < total.Delta {
				return dp.Bracket{}, account.ErrDeltaTooSmall
			}
			return exactBracket(total.Epsilon), nil
		},
		func(epsilon float64) (dp.Bracket, error) {
			if epsilon < total.Epsilon {
				return exactBracket(1), nil
			}
			return exactBracket(total.Delta), nil
		},
	}, nil
}

// exactBracket is the bracket of a method that is a formula.
func exactBracket(x float64) dp.Bracket { return dp.Bracket{Lower: x, Upper: x} }

// accountantOf makes an accountant of a guarantee.
func accountantOf(g account.Guarantee) accountant {
	return accountant{
		func(delta float64) (dp.Bracket, error) {
			e, err := g.EpsilonAt(delta)
			return exactBracket(e), err
		},
		func(epsilon float64) (dp.Bracket, error) {
			d, err := g.DeltaAt(epsilon)
			if d < 1e-290 {
				return dp.Bracket{Upper: d}, err // too small to be told from 0
			}
			return exactBracket(d), err
		},
	}
}

func (w *Workload) zcdp() (accountant, error) {
	var rho, delta float64
	for i, c := range w.claims {
		times := float64(w.uses[i].Times)
		rho = roundUp(rho + roundUp(times*c.rho))
		if c.delta > 0 {
			delta = roundUp(delta + roundUp(times*c.delta))
		}
	}
	if delta == 0 {
		return accountantOf(account.ZCDP{Rho: rho}), nil
	}
	return accountantOf(account.ApproxZCDP{Rho: rho, Delta: delta}), nil
}

func (w *Workload) rdp() (accountant, error) {
	var curves []account.RDP
	var times []float64
	for i, c := range w.claims {
		if c.curve == nil {
			return accountant{}, errors.New("a mechanism with a delta has no Renyi curve")
		}
		curve, err := c.curve()
		if err != nil {
			return accountant{}, err
		}
		curves, times = append(curves, curve), append(times, float64(w.uses[i].Times))
	}
	return accountantOf(account.NewRDP(func(alpha float64) float64 {
		sum := 0.0
		for i, c := range curves {
			r, err := c.At(alpha)
			if err != nil {
				return math.Inf(1)
			}
			sum = roundUp(sum + roundUp(times[i]*r))
		}
		return sum
	})), nil
}

func (w *Workload) gaussian() (accountant, error) {
	for _, c := range w.claims {
		if c.mu == 0 {
			return accountant{}, errors.New("it is only for Gaussian noise without sampling")
		}
	}
	s, err := w.sum(privacyloss.Remove)
	return accountant{s.Epsilon, s.Delta}, err
}

func (w *Workload) pld(d Direction) (accountant, error) {
	var p account.PLD
	for _, way := range []privacyloss.Direction{privacyloss.Remove, privacyloss.Add} {
		if d == Remove && way == privacyloss.Add || d == Add && way == privacyloss.Remove {
			continue
		}
		s, err := w.sum(way)
		if err != nil {
			return accountant{}, err
		}
		p.Directions = append(p.Directions, s)
		if !w.sampled() {
			break // both directions are the same
		}
	}
	return accountant{p.Epsilon, p.Delta}, nil
}

func (w *Workload) sampled() bool {
	for _, u := range w.uses {
		if u.Mechanism.sample < 1 {
			return true
		}
	}
	return false
}

// claims is what the accountants ask of a mechanism, after sampling.
type claims struct {
	pure, delta float64 // an (epsilon, delta) claim, or pure is 0
	rho         float64 // zCDP with the same delta
	mu          float64 // Gaussian-DP, or 0
	curve       func() (account.RDP, error)
	law         func(privacyloss.Direction) (privacyloss.Law, error)
}

func (m Mechanism) claims() (claims, error) {
	f, err := m.facts()
	if err != nil {
		return claims{}, err
	}
	c := claims{pure: f.pure, delta: f.delta, rho: f.rho, mu: f.mu, curve: f.curve}
	c.law = func(privacyloss.Direction) (privacyloss.Law, error) { return f.law, nil }
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
		c.pure = roundUp(math.Log1p(m.sample*math.Expm1(f.pure)) * (1 + 0x1p-50))
		if f.delta > 0 {
			c.delta = roundUp(m.sample * f.delta)
		}
		claim, err := account.Approx{Epsilon: c.pure, Delta: c.delta}.ApproxZCDP()
		if err != nil {
			return claims{}, err
		}
		c.rho = min(f.rho, claim.Rho)
		if f.curve != nil {
			c.curve = func() (account.RDP, error) { return lowerCurve(account.Pure{Epsilon: c.pure}.RDP, f.curve) }
		}
		c.law = func(privacyloss.Direction) (privacyloss.Law, error) { return privacyloss.Response(c.pure, c.delta) }
	}
	if f.sample != nil {
		c.curve = func() (account.RDP, error) {
			return lowerCurve(func() (account.RDP, error) { return f.sample(m.sample) }, f.curve)
		}
		c.law = func(d privacyloss.Direction) (privacyloss.Law, error) { return privacyloss.Sampled(f.law, m.sample, d) }
	}
	return c, nil
}

// lowerCurve returns the lower of two curves that both hold.
func lowerCurve(one, two func() (account.RDP, error)) (account.RDP, error) {
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

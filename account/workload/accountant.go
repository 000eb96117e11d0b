package workload

import (
	"errors"
	"math"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/account/loss"
	"github.com/discreet-dp/discreet/dp"
)

// accountant is a method, prepared for one workload.
type accountant struct {
	epsilon func(delta float64) (dp.Bracket, error)
	delta   func(epsilon float64) (dp.Bracket, error)
}

// accountant prepares a method, or says why it does not apply.
func (w *Workload) accountant(m Method, d Direction) (accountant, error) {
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
			return one(total.Epsilon), nil
		},
		func(epsilon float64) (dp.Bracket, error) {
			if epsilon < total.Epsilon {
				return one(1), nil
			}
			return one(total.Delta), nil
		},
	}, nil
}

// one is the bracket of a method that is a formula.
func one(x float64) dp.Bracket { return dp.Bracket{Lower: x, Upper: x} }

// single makes an accountant of a guarantee.
func single(g account.Guarantee) accountant {
	return accountant{
		func(delta float64) (dp.Bracket, error) {
			e, err := g.EpsilonAt(delta)
			return one(e), err
		},
		func(epsilon float64) (dp.Bracket, error) {
			d, err := g.DeltaAt(epsilon)
			if d < 1e-290 {
				return dp.Bracket{Upper: d}, err // too small to be told from 0
			}
			return one(d), err
		},
	}
}

func (w *Workload) zcdp() (accountant, error) {
	var rho, delta float64
	for i, c := range w.asks {
		times := float64(w.uses[i].Times)
		rho = up(rho + up(times*c.rho))
		if c.delta > 0 {
			delta = up(delta + up(times*c.delta))
		}
	}
	if delta == 0 {
		return single(account.ZCDP{Rho: rho}), nil
	}
	return single(account.ApproxZCDP{Rho: rho, Delta: delta}), nil
}

func (w *Workload) rdp() (accountant, error) {
	var curves []account.RDP
	var times []float64
	for i, c := range w.asks {
		if c.curve == nil {
			return accountant{}, errors.New("a mechanism has no Renyi curve: one with a delta has none")
		}
		curve, err := c.curve()
		if err != nil {
			return accountant{}, err
		}
		curves, times = append(curves, curve), append(times, float64(w.uses[i].Times))
	}
	return single(account.NewRDP(func(alpha float64) float64 {
		sum := 0.0
		for i, c := range curves {
			r, err := c.At(alpha)
			if err != nil {
				return math.Inf(1)
			}
			sum = up(sum + up(times[i]*r))
		}
		return sum
	})), nil
}

func (w *Workload) gaussian() (accountant, error) {
	for _, c := range w.asks {
		if c.mu == 0 {
			return accountant{}, errors.New("it is for Gaussian noise without sampling only")
		}
	}
	s, err := w.sum(loss.Remove)
	return accountant{s.Epsilon, s.Delta}, err
}

func (w *Workload) pld(d Direction) (accountant, error) {
	var p account.PLD
	for _, way := range []loss.Direction{loss.Remove, loss.Add} {
		if d == Remove && way == loss.Add || d == Add && way == loss.Remove {
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

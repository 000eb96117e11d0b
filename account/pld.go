package account

import (
	"github.com/discreet-dp/discreet/account/loss"
	"github.com/discreet-dp/discreet/dp"
)

// PLD is what is known of a mechanism from the distribution of its privacy loss: its curve of
// (epsilon, delta) claims, enclosed. That is the most that can be known where the law is that of
// the mechanism's worst pair. The exponential mechanism's worst pair depends on its scores, and its
// law here is one that dominates them all: the curve is an upper bound, and its lower end is that
// of the bound and not of the mechanism. See package loss for the laws.
//
// Without sampling the two directions of a neighbouring pair have the same law, and
// one Sum is enough. With sampling, Remove and Add differ, and the guarantee is the
// larger of both.
type PLD struct{ Directions []loss.Sum }

// Epsilon encloses the smallest epsilon at delta.
func (p PLD) Epsilon(delta float64) (dp.Bracket, error) {
	return p.largest(func(s loss.Sum) (dp.Bracket, error) { return s.Epsilon(delta) })
}

// Delta encloses the smallest delta at epsilon.
func (p PLD) Delta(epsilon float64) (dp.Bracket, error) {
	return p.largest(func(s loss.Sum) (dp.Bracket, error) { return s.Delta(epsilon) })
}

func (p PLD) largest(ask func(loss.Sum) (dp.Bracket, error)) (most dp.Bracket, err error) {
	for _, s := range p.Directions {
		b, err := ask(s)
		if err != nil {
			return dp.Bracket{}, err
		}
		most = dp.Bracket{Lower: max(most.Lower, b.Lower), Upper: max(most.Upper, b.Upper)}
	}
	return most, nil
}

// EpsilonAt returns the upper end of Epsilon.
func (p PLD) EpsilonAt(delta float64) (float64, error) {
	b, err := p.Epsilon(delta)
	if err != nil {
		return 0, err
	}
	return finite(b.Upper)
}

// DeltaAt returns the upper end of Delta.
func (p PLD) DeltaAt(epsilon float64) (float64, error) {
	b, err := p.Delta(epsilon)
	return b.Upper, err
}

// Approx returns the claim at delta; see EpsilonAt.
func (p PLD) Approx(delta float64) (Approx, error) {
	epsilon, err := p.EpsilonAt(delta)
	return Approx{Epsilon: epsilon, Delta: delta}, err
}

package loss

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/normal"
)

type gaussian struct{ mu float64 }

// Gaussian is the loss of Gaussian noise: mu is the l2 sensitivity over the
// standard deviation. The loss is normal with mean mu^2/2 and variance mu^2, and
// M(z) = exp(mu^2 z(z+1)/2).
func Gaussian(mu float64) (Law, error) {
	if !(mu >= 1e-9 && mu <= 1e6) {
		return nil, fmt.Errorf("%w: the sensitivity over sigma is %v, and must be between 1e-9 and 1e6", ErrParameter, mu)
	}
	return gaussian{mu}, nil
}

func (g gaussian) infinite() float64 { return 0 }
func (g gaussian) top() float64      { return math.Inf(1) }

// gaussians is a sum of Gaussian losses, which is one: the squares of mu add up. It
// is known up to a relative error of loose.
type gaussians struct{ square, loose float64 }

// gathered returns the terms with all Gaussian losses in one, which comes first.
func gathered(terms []term) []term {
	var all gaussians
	out := make([]term, 1, len(terms)+1)
	for _, t := range terms {
		if g, ok := t.law.(gaussian); ok {
			all.square += float64(t.times) * g.mu * g.mu
			all.loose += unit // of the addition
			continue
		}
		out = append(out, t)
	}
	if all.square == 0 {
		return out[1:]
	}
	all.loose += 4 * unit
	out[0] = term{all, 1}
	return out
}

func (g gaussians) curve(epsilon float64) dp.Bracket {
	// delta(epsilon) increases in mu.
	mu := math.Sqrt(g.square)
	return dp.Bracket{
		Lower: normal.Delta(mu*(1-g.loose-4*unit), epsilon).Lower,
		Upper: normal.Delta(mu*(1+g.loose+4*unit), epsilon).Upper,
	}
}

func (g gaussians) infinite() float64 { return 0 }
func (g gaussians) top() float64      { return math.Inf(1) }

func (g gaussians) cumulant(z complex128) (complex128, float64) {
	t, y := real(z), imag(z)
	value := complex((t*(t+1)-y*y)*g.square/2, (2*t+1)*y*g.square/2)
	return value, (8*unit + g.loose) * g.square * (t*(t+1) + y*y + (2*t+1)*math.Abs(y))
}

func (g gaussians) decay(_, y float64) float64 {
	return -g.square * y * y / 2 * (1 - g.loose - 16*unit)
}

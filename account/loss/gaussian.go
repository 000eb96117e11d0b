package loss

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/normal"
)

type gaussian struct{ square float64 } // of mu, so that composition is a sum

// Gaussian is the loss of Gaussian noise: mu is the l2 sensitivity over the
// standard deviation. The loss is normal with mean mu^2/2 and variance mu^2, and
// M(z) = exp(mu^2 z(z+1)/2).
func Gaussian(mu float64) (Law, error) {
	if !(mu > 0) || mu > 1e6 || mu < 1e-9 {
		return nil, fmt.Errorf("%w: the sensitivity over sigma is %v, and must be between 1e-9 and 1e6", ErrParameter, mu)
	}
	return gaussian{mu * mu}, nil
}

func (g gaussian) curve(epsilon float64) dp.Bracket {
	// The square was rounded, and its root is: mu is known within 2 units, and
	// delta(epsilon) increases in mu.
	mu := math.Sqrt(g.square)
	return dp.Bracket{
		Lower: normal.Delta(mu*(1-4*unit), epsilon).Lower,
		Upper: normal.Delta(mu*(1+4*unit), epsilon).Upper,
	}
}

func (g gaussian) infinite() float64 { return 0 }
func (g gaussian) top() float64      { return math.Inf(1) }

func (g gaussian) cumulant(z complex128) (complex128, float64) {
	t, y := real(z), imag(z)
	value := complex((t*(t+1)-y*y)*g.square/2, (2*t+1)*y*g.square/2)
	return value, 8 * unit * g.square * (t*(t+1) + y*y + (2*t+1)*math.Abs(y))
}

func (g gaussian) decay(_, y float64) float64 { return math.Exp(-g.square * y * y / 2 * (1 - 8*unit)) }

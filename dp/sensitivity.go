package dp

import (
	"fmt"
	"math"
	"math/big"
)

// Norm says how the distance between two vectors is measured.
type Norm int

const (
	// L1 is the sum of the absolute differences: what Laplace noise needs.
	L1 Norm = iota + 1
	// L2 is the Euclidean distance: what Gaussian noise needs.
	L2
)

func (n Norm) String() string {
	switch n {
	case L1:
		return "l1"
	case L2:
		return "l2"
	}
	return fmt.Sprintf("Norm(%d)", int(n))
}

// Sensitivity is how far, at most, an integer vector moves between neighbouring
// databases, in lattice steps. It carries its norm, so that an l1 bound cannot be used
// where an l2 bound is needed. The Euclidean one is kept as its square, an
// integer: the square root is never taken before noise is drawn.
type Sensitivity struct {
	norm Norm
	v    *big.Int
}

// NewL1 returns an l1 sensitivity of d steps.
func NewL1(d *big.Int) Sensitivity { return newSensitivity(L1, d) }

// NewL2Squared returns the l2 sensitivity whose square is d.
func NewL2Squared(d *big.Int) Sensitivity { return newSensitivity(L2, d) }

func newSensitivity(n Norm, d *big.Int) Sensitivity {
	if d.Sign() <= 0 {
		panic("dp: a sensitivity must be positive")
	}
	return Sensitivity{n, new(big.Int).Set(d)}
}

// Norm returns the norm the bound is in; zero for the zero value.
func (s Sensitivity) Norm() Norm { return s.norm }

// L1 returns the bound in steps. It panics where the norm is another.
func (s Sensitivity) L1() *big.Int { return s.value(L1) }

// L2Squared returns the square of the bound. It panics where the norm is another.
func (s Sensitivity) L2Squared() *big.Int { return s.value(L2) }

func (s Sensitivity) value(n Norm) *big.Int {
	if s.norm != n {
		panic(fmt.Sprintf("dp: sensitivity in %v used as %v", s.norm, n))
	}
	return new(big.Int).Set(s.v)
}

// Float returns the bound in steps, for reading and never for deciding.
func (s Sensitivity) Float() float64 {
	f, _ := new(big.Float).SetInt(s.v).Float64()
	if s.norm == L2 {
		f = math.Sqrt(f)
	}
	return f
}

func (s Sensitivity) String() string {
	switch s.norm {
	case L1:
		return fmt.Sprintf("%v (l1)", s.v)
	case L2:
		if r := new(big.Int).Sqrt(s.v); new(big.Int).Mul(r, r).Cmp(s.v) == 0 {
			return fmt.Sprintf("%v (l2)", r)
		}
		return fmt.Sprintf("sqrt %v (l2)", s.v)
	}
	return "none"
}

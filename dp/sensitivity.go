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
// integer: the square root is never taken before noise is drawn. Of an l1 bound it may be known
// besides how far one number of the vector moves, which makes Laplace noise cheaper in rho.
type Sensitivity struct {
	norm Norm
	v    *big.Int
	each *big.Int // how far one number moves; v where the norm is l1 and no more is known
}

// NewL1 returns an l1 sensitivity of d steps, all of which one number may move.
func NewL1(d *big.Int) Sensitivity { return NewL1Each(d, d) }

// NewL1Each returns an l1 sensitivity of d steps, of which no number moves more than each.
func NewL1Each(d, each *big.Int) Sensitivity {
	s := newSensitivity(L1, d)
	if each.Sign() <= 0 {
		panic("dp: a sensitivity must be positive")
	}
	s.each = s.v
	if each.Cmp(d) < 0 {
		s.each = new(big.Int).Set(each)
	}
	return s
}

// NewL2Squared returns the l2 sensitivity whose square is d.
func NewL2Squared(d *big.Int) Sensitivity { return newSensitivity(L2, d) }

func newSensitivity(n Norm, d *big.Int) Sensitivity {
	if d.Sign() <= 0 {
		panic("dp: a sensitivity must be positive")
	}
	return Sensitivity{norm: n, v: new(big.Int).Set(d)}
}

// Norm returns the norm the bound is in; zero for the zero value.
func (s Sensitivity) Norm() Norm { return s.norm }

// L1 returns the bound in steps. It panics where the norm is another.
func (s Sensitivity) L1() *big.Int { return s.value(L1) }

// Each returns how many of the steps one number moves at most: all of them where no more is known.
// It panics where the norm is not l1.
func (s Sensitivity) Each() *big.Int {
	s.value(L1)
	return new(big.Int).Set(s.each)
}

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
		if s.each.Cmp(s.v) < 0 {
			return fmt.Sprintf("%v (l1), each at most %v", s.v, s.each)
		}
		return fmt.Sprintf("%v (l1)", s.v)
	case L2:
		if r := new(big.Int).Sqrt(s.v); new(big.Int).Mul(r, r).Cmp(s.v) == 0 {
			return fmt.Sprintf("%v (l2)", r)
		}
		return fmt.Sprintf("sqrt %v (l2)", s.v)
	}
	return "none"
}

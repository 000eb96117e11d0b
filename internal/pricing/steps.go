package pricing

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Steps is an error in whole steps of a measure.
func Steps(e *big.Rat, m tree.Measure) int64 {
	q := new(big.Rat).Quo(e, m.Step())
	k := new(big.Int).Quo(q.Num(), q.Denom())
	if !k.IsInt64() {
		return math.MaxInt64
	}
	return k.Int64()
}

// Scaled is a number of steps in units of the answer.
func Scaled(n *big.Int, step *big.Rat) float64 {
	f, _ := new(big.Rat).Mul(new(big.Rat).SetInt(n), step).Float64()
	return f
}

// Decimals returns how many digits after the point multiples of a step need, at
// most 12: a step of a third has no end.
func Decimals(step *big.Rat) int {
	x := new(big.Rat).Set(step)
	for n := range 12 {
		if x.IsInt() {
			return n
		}
		x.Mul(x, big.NewRat(10, 1))
	}
	return 12
}

package solve

import (
	"math"
	"math/big"
)

// grid is where minimisers are rounded to: multiples of step. lambda is how strongly convex the sum
// is.
type grid struct {
	step, lambda float64
	// slack is how many steps what is rounded may be from the minimiser; 0: it has to be what the
	// minimiser itself rounds to.
	slack float64
}

// round returns round(x/step) of the minimiser x, if that follows: the gradient at w is at most
// gradient long, so x is within gradient/lambda of w. Both ends of where a coordinate can be have
// to round to the same.
func (g *grid) round(w []*big.Float, gradient *big.Float) ([]int64, bool) {
	off := above(0).Quo(gradient, above(g.lambda))
	near := off.Cmp(big.NewFloat(g.slack*g.step)) <= 0 // exact: step is a power of two
	_, e := math.Frexp(g.step)                         // step = 2^(e-1)
	out := make([]int64, len(w))
	for j, v := range w {
		// These two round outward, each in its direction; dividing by step is exact.
		lo := new(big.Float).SetPrec(v.Prec()).SetMode(big.ToNegativeInf).Sub(v, off)
		hi := new(big.Float).SetPrec(v.Prec()).SetMode(big.ToPositiveInf).Add(v, off)
		a, b := nearest(lo.SetMantExp(lo, 1-e)), nearest(hi.SetMantExp(hi, 1-e))
		switch {
		case a == b:
			out[j] = a
		case near:
			whole := new(big.Float).SetPrec(v.Prec()).Set(v)
			out[j] = nearest(whole.SetMantExp(whole, 1-e))
		default:
			return nil, false
		}
	}
	return out, true
}

// nearest is the nearest whole number, halves up, or the nearest one that fits. It never falls
// where x rises.
func nearest(x *big.Float) int64 {
	limit := new(big.Float).SetInt64(math.MaxInt64)
	switch {
	case x.Cmp(limit) >= 0:
		return math.MaxInt64
	case x.Cmp(limit.Neg(limit)) <= 0:
		return -math.MaxInt64
	}
	// 2x+1 below, halved: floor(x + 1/2) without a rounding.
	prec := uint(max(int(x.MinPrec()), 1)) + 130 + uint(max(0, -x.MantExp(nil)))
	sum := new(big.Float).SetPrec(prec).Add(new(big.Float).SetPrec(prec).Set(x), big.NewFloat(0.5))
	whole, _ := sum.Int(nil) // towards 0
	if sum.Signbit() && !sum.IsInt() {
		whole.Sub(whole, big.NewInt(1))
	}
	if !whole.IsInt64() {
		return math.MaxInt64
	}
	return whole.Int64()
}

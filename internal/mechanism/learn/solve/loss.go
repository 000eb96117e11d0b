package solve

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// The losses that models are trained with are functions phi(z, y) of a score z and a target y.
//
//	           phi(z, y)                                                            |phi'| <= G   phi'' <= c   sign of phi'
//	logistic   ln(1 + exp(-yz))                                                          1           1/4       one for each y
//	huber      0 where yz > 1+h; 1-yz where yz < 1-h; (1+h-yz)^2/(4h) between            1           1/(2h)    one for each y
//	squares    r = z-y: r^2/2 where |r| <= q, q|r| - q^2/2 beyond                        q            1        both
//
// For logistic and huber y counts as 1 where it is above 0 and as -1 everywhere else. For squares
// it is brought into [-1, 1]; what is no number is 0. So all of this is total: no target has a
// slope above G.
//
// # What is proven
//
// [Loss.Derivative] returns a number that is within [Loss.DerivativeError] of phi'(z, y) for every
// finite z. Write u = 2^-53 for half the distance of 1 to the next float64; each operation is
// within u of exact, in proportion. A processor that fuses a product with a sum rounds once less,
// and every count below only becomes smaller.
//
// Logistic needs e^-a for a = |z|. With n the nearest whole number to 64a/ln 2 and r = a - n
// ln2/64, e^-a = 2^-(n div 64) T(n mod 64) e^-r. ln2/64 is kept as l1 + l2, where l1 has 33 bits,
// so that n l1 is exact (n < 2^17) and r has an error of at most 2^-60 from each of two
// subtractions, because |r| < 2^-7, and less than 2^-74 from l2. n is nearest but for 2^-36, so |r|
// < 0.00542, and the seven terms of the series for e^-r leave out less than r^7/5040 < 2^-64.
// Horner's rule ends in 1 - r q, which rounds once on a number near 1, and what q has lost is
// multiplied by r: 1.1u. T comes from numbers of 128 bits and is within 1.01u; multiplying by it
// costs u, by the power of two nothing. Together below 4u, in proportion. Then 1/(1+e) is within
// 2u + u + u, and e/(1+e), at most 1/2, within (4u + 3u + u)/2, and leaving out e^-a for a >= 700
// costs less than 2^-1000. So 5u, and we say 8u = 2^-50.
//
// Huber is the number (1+h-yz)/(2h) brought into [0, 1]. 1+h has an error of u(1+h), the difference
// and the quotient of u each in proportion; bringing into [0, 1] moves nothing apart and leaves at
// most 1. So u(1+h)/(2h) + 3u.
//
// Squares is z-y brought into [-q, q]: 2uq.
//
// [Loss.PreciseDerivative] returns phi' within any 2^-bits. See there for why.

// Loss is a convex function phi(z, y) of a score z = w.x and a target y, with a slope and a
// curvature in z that are bounded. For classes y is -1 or 1; for numbers it is from -1 to 1.
type Loss struct {
	kind  kind
	width float64 // the half-width of Huber, or the residual where squares become straight
}

type kind uint8

const (
	noLoss kind = iota
	logistic
	huber
	squares
)

// Bounds of the half-width and of the residual. Within them no error of rounding is worth a
// thought.
const (
	MinWidth = 0x1p-10
	MaxWidth = 0x1p+10
)

// errWidth is returned for a half-width or a residual that is out of bounds.
var errWidth = errors.New("choose a number from 1/1024 to 1024")

// Logistic is the loss of logistic regression.
func Logistic() Loss { return Loss{logistic, 0} }

// Huber is the hinge loss of support vector machines, with a parabola of half-width h in place of
// its corner (Chaudhuri, Monteleoni, Sarwate 2011, Section 3.4.2).
func Huber(h float64) (Loss, error) {
	if !(h >= MinWidth && h <= MaxWidth) {
		return Loss{}, fmt.Errorf("the half-width of the huber loss is %v: %w", h, errWidth)
	}
	return Loss{huber, h}, nil
}

// Squares is half the square of the residual, and straight where the residual is above q in size.
func Squares(q float64) (Loss, error) {
	if !(q >= MinWidth && q <= MaxWidth) {
		return Loss{}, fmt.Errorf("the residual of the squares loss is %v: %w", q, errWidth)
	}
	return Loss{squares, q}, nil
}

// Name is "logistic", "huber" or "squares", and "" for a Loss that nobody made.
func (l Loss) Name() string { return [...]string{"", "logistic", "huber", "squares"}[l.kind] }

// Slope is G: no derivative is larger in size.
func (l Loss) Slope() float64 {
	if l.kind == squares {
		return l.width
	}
	return 1
}

// Curvature is c: no second derivative is larger.
func (l Loss) Curvature() float64 {
	switch l.kind {
	case logistic:
		return 0.25
	case huber:
		return 1 / (2 * l.width)
	}
	return 1
}

// OneSided says whether the sign of the derivative never changes, for a given target.
func (l Loss) OneSided() bool { return l.kind != squares }

// DerivativeError is how far First can be from the derivative.
func (l Loss) DerivativeError() float64 {
	const u = 0x1p-53
	switch l.kind {
	case logistic:
		return 8 * u
	case huber:
		return u * (4 + (1+l.width)/l.width) // generous, so that rounding here does not matter
	}
	return 4 * u * l.width
}

// Widened is the same loss with a bend that is four times as wide, and whether the loss is narrow
// enough for that to be of use to somebody who minimises it.
func (l Loss) Widened() (Loss, bool) {
	if l.kind == logistic || !(l.width < 0.25) || l.kind == noLoss {
		return l, false
	}
	return Loss{l.kind, 4 * l.width}, true
}

// Target is what the loss takes a target for.
func (l Loss) Target(y float64) float64 {
	switch {
	case l.kind != squares && y > 0:
		return 1
	case l.kind != squares:
		return -1
	case y != y:
		return 0
	}
	return max(-1, min(1, y))
}

// Value is phi(z, y), about.
func (l Loss) Value(z, y float64) float64 {
	y = l.Target(y)
	switch l.kind {
	case logistic:
		m := y * z
		return math.Log1p(decay(math.Abs(m))) + max(0, -m)
	case huber:
		switch m, h := y*z, l.width; {
		case m > 1+h:
			return 0
		case m < 1-h:
			return 1 - m
		default:
			return (1 + h - m) * (1 + h - m) / (4 * h)
		}
	}
	if r := math.Abs(z - y); r > l.width {
		return l.width*r - l.width*l.width/2
	} else {
		return r * r / 2
	}
}

// Derivative is the derivative of phi in z, within Error for every finite z.
func (l Loss) Derivative(z, y float64) float64 {
	y = l.Target(y)
	switch l.kind {
	case logistic:
		m := y * z
		e := decay(math.Abs(m))
		if m < 0 {
			return -y / (1 + e)
		}
		return -y * (e / (1 + e))
	case huber:
		h := l.width
		return -y * max(0, min(1, ((1+h)-y*z)/(2*h)))
	}
	return max(-l.width, min(l.width, z-y))
}

// LargestSecondDerivative is the largest second derivative of phi in z, about, of all scores that
// are at most slack away from z; at a corner of the first, the larger of the two.
func (l Loss) LargestSecondDerivative(z, slack, y float64) float64 {
	y = l.Target(y)
	switch l.kind {
	case logistic:
		e := decay(max(0, math.Abs(z)-slack))
		return e / ((1 + e) * (1 + e))
	case huber:
		if math.Abs(1-y*z) <= l.width+slack {
			return 1 / (2 * l.width)
		}
		return 0
	}
	if math.Abs(z-y) <= l.width+slack {
		return 1
	}
	return 0
}

// ln2/64 in two parts: the first has 33 bits, so that its products with whole numbers below 2^17
// are exact.
const (
	ln2High    = 0x1.62e42fefp-7
	ln2Low     = math.Ln2/64 - ln2High
	inverseLn2 = 64 / math.Ln2
)

// powersOfRoot has e^(-j ln2/64) for j = 0..63. It is made from numbers of 128 bits and not written
// down, so that nobody has to believe it.
var powersOfRoot = func() (t [64]float64) {
	for j := range t {
		t[j], _ = root64(j).Float64()
	}
	return t
}()

// root64 is 2^(-j/64), within 2^-100: square roots of 1/2, six deep, and products of them.
func root64(j int) *big.Float {
	out := big.NewFloat(1).SetPrec(128)
	root := big.NewFloat(0.5).SetPrec(128)
	for bit := 32; bit > 0; bit /= 2 {
		root = new(big.Float).SetPrec(128).Sqrt(root) // 2^-(bit/64)
		if j&bit != 0 {
			out.Mul(out, root)
		}
	}
	return out
}

// decay is e^-a for a >= 0, within 4 * 2^-53 in proportion where a is below 700, and 0 above. The
// package's comment has the proof.
func decay(a float64) float64 {
	if !(a < 700) {
		return 0
	}
	n := int(a*inverseLn2 + 0.5)
	k := float64(n)
	r := (a - k*ln2High) - k*ln2Low
	p := 1 - r*(1-r*(1./2-r*(1./6-r*(1./24-r*(1./120-r*(1./720))))))
	return powersOfRoot[n&63] * p * math.Float64frombits(uint64(1023-n>>6)<<52)
}

// PreciseDerivative is the derivative of phi in z, within 2^-bits.
func (l Loss) PreciseDerivative(z *big.Float, y float64, bits uint) *big.Float {
	y = l.Target(y)
	p := bits + 64 // room for widths up to 2^10, and for the few roundings
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(p).SetFloat64(x) }
	number := func() *big.Float { return new(big.Float).SetPrec(p) }
	switch l.kind {
	case logistic:
		out := falling(number().Mul(z, exact(y)), bits)
		if y > 0 {
			out.Neg(out)
		}
		return out
	case huber:
		// Each of these rounds by 2^-p in proportion, and what is brought into [0, 1] is at most 1.
		// y is a sign, and 1+h has at most 64 bits.
		m := number().Mul(exact(y), z)
		out := number().Quo(m.Sub(number().Add(exact(1), exact(l.width)), m), exact(2*l.width))
		return out.Mul(clamp(out, exact(0), exact(1)), exact(-y))
	}
	return clamp(number().Sub(z, exact(y)), exact(-l.width), exact(l.width))
}

func clamp(x, lo, hi *big.Float) *big.Float {
	switch {
	case x.Cmp(lo) < 0:
		return lo
	case x.Cmp(hi) > 0:
		return hi
	}
	return x
}

// falling is 1/(1 + e^t), within 2^-bits.
//
// Where |t| >= bits it is within e^-|t| < 2^-bits of 0 or 1. Otherwise e^|t| is the 2^k-th power of
// the series for s = |t|/2^k < 2^-8. All terms of that are positive, so N of them have an error of
// (3N+1) 2^-p in proportion, with what is left out (less than the first term that is left out,
// twice) among it; squaring k times makes it 2^k times as much and adds less than 2^k roundings. t
// may be rounded to p bits first: that moves e^|t| by |t| 2^-p in proportion, at most bits 2^-p.
// With N < 2^12 all this is below 2^(k+16-p) while bits < 2^15, and the two operations of 1/(1+e)
// are far below; p is larger than that asks for.
func falling(t *big.Float, bits uint) *big.Float {
	negative := t.Signbit()
	one := big.NewFloat(1)
	if limit := new(big.Float).SetUint64(uint64(bits)); new(big.Float).Abs(t).Cmp(limit) >= 0 {
		if negative {
			return one
		}
		return new(big.Float)
	}
	k := max(0, t.MantExp(nil)+8) // |t| < 2^MantExp
	if bits > 256 {
		k += 8 // fewer terms, for more squarings
	}
	p := bits + uint(k) + 32
	s := new(big.Float).SetPrec(p).Abs(t)
	s.SetMantExp(s, -k)
	sum := new(big.Float).SetPrec(p).SetInt64(1)
	term := new(big.Float).SetPrec(p).SetInt64(1)
	divisor := new(big.Float).SetPrec(64)
	for i := int64(1); i < 1<<12; i++ {
		term.Mul(term, s)
		term.Quo(term, divisor.SetInt64(i))
		if term.Sign() == 0 || term.MantExp(nil) < -int(p) {
			break
		}
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum)
	}
	// 1/(1+e), or e/(1+e) = 1/(1 + 1/e)
	if negative {
		above := new(big.Float).SetPrec(p).Add(sum, one)
		return sum.Quo(sum, above)
	}
	sum.Add(sum, one)
	return sum.Quo(new(big.Float).SetPrec(p).SetInt64(1), sum)
}

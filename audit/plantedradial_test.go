package audit

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/audit/enumerate"
	"github.com/discreet-dp/discreet/noise"
)

// vectored is two numbers that both move by two, at epsilon 1: the scale is sqrt 8.
func vectored(law func(x []int64) enumerate.Law, draw func(src *noise.Source) []int64) Mechanism {
	return Mechanism{Name: "vector", Claim: Claim{Epsilon: 1}, Law: law,
		Pairs: []Pair{{[]int64{0, 0}, []int64{2, 2}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() int64 {
				z := draw(src)
				return enumerate.Both(x[0]+z[0], x[1]+z[1])
			}
		}}
}

func vectoredRadial(s float64) Mechanism {
	scale := new(big.Rat).SetFloat64(s)
	return vectored(func(x []int64) enumerate.Law { return enumerate.RadialPair(s, x[0], x[1]) },
		func(src *noise.Source) []int64 { return noise.NewRadial(src, 2).Round(scale) })
}

var rootOf8 = math.Nextafter(math.Sqrt(8), 3)

// The sensitivity is 2 in each of two numbers, and 2 is taken for the norm.
func radialLargest(bug bool) Mechanism { return vectoredRadial(either(bug, 2, rootOf8)) }

// The root is taken twice: of an l2 bound that is kept as its square.
func radialRootedTwice(bug bool) Mechanism {
	return vectoredRadial(either(bug, math.Sqrt(rootOf8), rootOf8))
}

// Laplace noise of the l2 scale for every number.
func radialEach(bug bool) Mechanism {
	scale := new(big.Rat).SetFloat64(rootOf8)
	return vectored(func(x []int64) enumerate.Law { return enumerate.RadialPair(rootOf8, x[0], x[1]) },
		func(src *noise.Source) []int64 {
			if !bug {
				return noise.NewRadial(src, 2).Round(scale)
			}
			return append(noise.NewRadial(src, 1).Round(scale), noise.NewRadial(src, 1).Round(scale)...)
		})
}

// A direction from a square, or a length of one dimension: floating point, as libraries have it.
func radialPolar(square, short func(bug bool) bool) func(bool) Mechanism {
	return func(bug bool) Mechanism {
		number := func(r *noise.Reals) float64 {
			f, _ := r.Approximate(60)[0].Float64()
			return f
		}
		return vectored(func(x []int64) enumerate.Law { return enumerate.RadialPair(rootOf8, x[0], x[1]) },
			func(src *noise.Source) []int64 {
				length := math.Abs(number(noise.NewRadial(src, 1)))
				if !short(bug) {
					length += math.Abs(number(noise.NewRadial(src, 1)))
				}
				a, b := number(noise.NewNormals(src, 1)), number(noise.NewNormals(src, 1))
				if square(bug) {
					a, b = float64(src.Bits(53))/(1<<52)-1, float64(src.Bits(53))/(1<<52)-1
				}
				f := rootOf8 * length / math.Hypot(a, b)
				return []int64{int64(math.Round(f * a)), int64(math.Round(f * b))}
			})
	}
}

var (
	radialSquare = radialPolar(func(bug bool) bool { return bug }, func(bool) bool { return false })
	radialShort  = radialPolar(func(bool) bool { return false }, func(bug bool) bool { return bug })
)

package audit

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
)

func lap(num, den int64) *noise.Laplace { return must(noise.NewLaplace(big.NewRat(num, den))) }

// counted is a count of 0 or 1 people at epsilon 1.
func counted(law func([]int64) enumerate.Law, draw func(src *noise.Source) int64) Mechanism {
	return Mechanism{Name: "count", Claim: Claim{Epsilon: 1}, Ordered: true, Law: law,
		Pairs: []Pair{{[]int64{0}, []int64{1}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() int64 { return x[0] + draw(src) }
		}}
}

func scaleShort(bug bool) Mechanism {
	l := lap(either(bug, int64(95), 100), 100)
	b := toFloat(l.Scale())
	return counted(func(x []int64) enumerate.Law { return enumerate.Laplace(b, x[0]) }, l.Draw)
}

func samplerShort(bug bool) Mechanism {
	l := lap(either(bug, int64(90), 100), 100)
	return counted(func(x []int64) enumerate.Law { return enumerate.Laplace(1, x[0]) }, l.Draw)
}

// A sign and a magnitude, without starting over on minus zero.
func zeroTwice(bug bool) Mechanism {
	l := lap(1, 1)
	return counted(func(x []int64) enumerate.Law { return enumerate.Laplace(1, x[0]) }, func(src *noise.Source) int64 {
		if !bug {
			return l.Draw(src)
		}
		z := l.Draw(src)
		for z < 0 {
			z = l.Draw(src)
		}
		return either(src.Bits(1) == 1, z, -z)
	})
}

// gaussed is a sum that moves by 16, at mu = 1.
func gaussed(g *noise.Gaussian) Mechanism {
	sigma2 := toFloat(g.Sigma2())
	return Mechanism{Name: "sum", Claim: Claim{Rho: 0.5, Slack: 1.0 / (12 * 256)}, Ordered: true,
		Pairs: []Pair{{[]int64{0}, []int64{16}}},
		Law:   func(x []int64) enumerate.Law { return enumerate.Gaussian(sigma2, x[0]) },
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() int64 { return x[0] + g.Draw(src) }
		}}
}

func sigmaShort(bug bool) Mechanism {
	// 0.95^2 = 0.9025
	return gaussed(must(noise.NewGaussian(big.NewRat(either(bug, int64(9025), 10000)*256, 10000))))
}

func sensitivityNotSquared(bug bool) Mechanism {
	return gaussed(must(noise.NewGaussian(big.NewRat(either(bug, int64(16), 256), 1))))
}

// rows are what a policy's table holds; a release is the sum of a column whose bounds are 0 and 1.
func rows(x, y []int64, sum func(rows []int64) int64, noisy func(src *noise.Source, rows []int64) int64) Mechanism {
	return Mechanism{Name: "sum of rows", Claim: Claim{Epsilon: 1}, Ordered: true, Pairs: []Pair{{x, y}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() int64 { return sum(x) + noisy(src, x) }
		}}
}

func clampedTo(high int64) func([]int64) int64 {
	return func(rows []int64) (sum int64) {
		for _, v := range rows {
			sum += max(0, min(v, high))
		}
		return sum
	}
}

func forgottenClamp(bug bool) Mechanism {
	l := lap(1, 1)
	return rows([]int64{1, 0}, []int64{1, 0, 4}, clampedTo(either(bug, int64(math.MaxInt64), 1)),
		func(src *noise.Source, _ []int64) int64 { return l.Draw(src) })
}

// The bounds are the largest value that there is, and so is the scale of the noise.
func dataBounds(bug bool) Mechanism {
	high := func(rows []int64) int64 {
		top := int64(1)
		for _, v := range rows {
			top = max(top, v)
		}
		return either(bug, top, 5)
	}
	return rows([]int64{1, 1}, []int64{1, 1, 5}, func(r []int64) int64 { return clampedTo(high(r))(r) },
		func(src *noise.Source, r []int64) int64 { return lap(high(r), 1).Draw(src) })
}

// With noise for each row, a table without rows has none.
func noisePerRow(bug bool) Mechanism {
	l := lap(1, 1)
	return rows(nil, []int64{1}, clampedTo(1), func(src *noise.Source, r []int64) (z int64) {
		for range either(bug, len(r), 1) {
			z += l.Draw(src)
		}
		return z
	})
}

// One person is in three groups, and the noise is for one. What is seen is in how many
// groups somebody seems to be.
func withoutMaxGroups(bug bool) Mechanism {
	l := lap(either(bug, int64(1), 3), 1)
	return Mechanism{Name: "groups", Claim: Claim{Epsilon: 1}, Ordered: true,
		Pairs: []Pair{{[]int64{0, 0, 0}, []int64{1, 1, 1}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() (seen int64) {
				for _, v := range x {
					if v+l.Draw(src) >= 1 {
						seen++
					}
				}
				return seen
			}
		}}
}

// Two counts share their noise, so that their difference is exact.
func reusedNoise(bug bool) Mechanism {
	l := lap(1, 1)
	return Mechanism{Name: "two counts", Claim: Claim{Epsilon: 1}, Pairs: []Pair{{[]int64{0, 0}, []int64{1, 0}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() int64 {
				a := l.Draw(src)
				b := a
				if !bug {
					b = l.Draw(src)
				}
				return enumerate.PairOutcome(x[0]+a, x[1]+b)
			}
		}}
}

// A second answer to the same question for which nothing is charged.
func missingCharge(bug bool) Mechanism {
	l := lap(1, 1)
	m := Mechanism{Name: "two answers", Claim: Claim{Epsilon: either(bug, 1.0, 2)}, Pairs: []Pair{{[]int64{0}, []int64{1}}}}
	m.Open = func(src *noise.Source, x []int64) func() int64 {
		return func() int64 { return enumerate.PairOutcome(x[0]+l.Draw(src), x[0]+l.Draw(src)) }
	}
	return m
}

// A second answer that is charged with the difference, and drawn as if there were no first one.
func sharpenedAlone(bug bool) Mechanism {
	m := sharpened()
	if bug {
		one := dp.NewL1(big.NewInt(1))
		from, to := must(mech.NewLaplace(one, dp.One/2)), must(mech.NewLaplace(one, dp.One))
		m.Law = nil
		m.Open = func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 { return enumerate.PairOutcome(r.Release(v, from)[0], r.Release(v, to)[0]) }
		}
	}
	return m
}

// A second answer with the first one's noise in it, in which the average has no noise of its own.
func averagedTwice(bug bool) Mechanism {
	m := averaged()
	if bug {
		from := must(mech.NewGaussian(dp.NewL2Squared(big.NewInt(64)), dp.One/8))
		m.Open = func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 {
				first := r.Release(v, from)[0]
				return x[0] + (first-x[0])/4 // the exact number and a quarter of the noise
			}
		}
	}
	return m
}

// Noise that is the same in every run.
func fixedSeed(bug bool) Mechanism {
	l := lap(1, 1)
	return counted(nil, func(src *noise.Source) int64 {
		if bug {
			return 3
		}
		return l.Draw(src)
	})
}

// textbook is Laplace noise by inversion in floating point, with 53 bits of a uniform
// number, and magnitudes only: it is the logarithm that has holes.
func textbook(src *noise.Source) float64 { return -math.Log(float64(src.Bits(53)+1) / (1 << 53)) }

// Outcomes in steps of 2^-20. On the lattice of the integers they are whole; the textbook's
// are anywhere.
func floatSupport(bug bool) Mechanism {
	const step = 1 << 20
	l := lap(1, 1)
	m := counted(func(x []int64) enumerate.Law {
		whole, logs := enumerate.Laplace(1, x[0]), map[int64]float64{}
		for _, k := range whole.Outcomes() {
			logs[k*step] = math.Log(whole.P(k))
		}
		return enumerate.NewLaw(logs, whole.Rest())
	}, nil)
	m.Open = func(src *noise.Source, x []int64) func() int64 {
		return func() int64 {
			if !bug {
				return (x[0] + l.Draw(src)) * step
			}
			z := textbook(src)
			if src.Bits(1) == 1 {
				z = -z
			}
			return int64((float64(x[0]) + z) * step)
		}
	}
	return m
}

// Mironov 2012: a sum that no uniform number could have led to from 0 is a sum with
// another count. The outcome is whether 0 is possible.
func floatAttack(bug bool) Mechanism {
	l := lap(1, 1)
	return Mechanism{Name: "float", Claim: Claim{Epsilon: 1}, Pairs: []Pair{{[]int64{0}, []int64{1}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() int64 {
				if !bug {
					return either[int64](x[0]+l.Draw(src) >= 1, 1, 0)
				}
				sum := float64(x[0]) + textbook(src)
				near := math.Round(math.Exp(-sum) * (1 << 53))
				for by := -4.0; by <= 4; by++ {
					if -math.Log((near+by)/(1<<53)) == sum {
						return 1
					}
				}
				return 0
			}
		}}
}

// vectored is two numbers that both move by two, at epsilon 1: the scale is sqrt 8.
func vectored(law func(x []int64) enumerate.Law, draw func(src *noise.Source) []int64) Mechanism {
	return Mechanism{Name: "vector", Claim: Claim{Epsilon: 1}, Law: law,
		Pairs: []Pair{{[]int64{0, 0}, []int64{2, 2}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() int64 {
				z := draw(src)
				return enumerate.PairOutcome(x[0]+z[0], x[1]+z[1])
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

// The groups and their total, each with noise for the whole price.
func wholePriceEach(bug bool) Mechanism {
	m := residuals()
	if bug {
		each := must(mech.NewGaussian(dp.NewL2Squared(big.NewInt(marginalSteps*marginalSteps)), dp.One/2))
		m.Open = func(src *noise.Source, x []int64) func() int64 {
			r, cells, total := mech.NewReleaser(src), mech.Seal(x...), mech.Seal(x[0]+x[1])
			return func() int64 { return r.Release(cells, each)[0] + r.Release(total, each)[0] }
		}
	}
	return m
}

// One of two counts moves by two, which is as far in l1, and dearer in rho.
func countMovesByTwo(bug bool) Mechanism {
	m := laplaceCounts()
	if bug {
		m.Pairs = append(m.Pairs, Pair{[]int64{0, 0}, []int64{2, 0}})
	}
	return m
}

// What is calibrated to one person more or less is asked about two who are replaced.
func residualsOfReplaced(bug bool) Mechanism {
	m := substitutedResiduals()
	if bug {
		wrong := must(mech.NewResiduals(mech.ResidualsConfig{Sizes: []int{2}, Hidden: []bool{false}, Sets: [][]int{{0}, {}},
			Low: new(big.Int), High: big.NewInt(marginalSteps)}, dp.One/2))
		m.Open = func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 {
				cells := r.ReleaseMarginals(v, wrong).Values[0]
				return cells[0] - cells[1]
			}
		}
	}
	return m
}

// A value of a person that was not clamped to what the residuals are calibrated to.
func residualsOfTwo(bug bool) Mechanism {
	m := residuals()
	if bug {
		m.Pairs = []Pair{{[]int64{0, 0}, []int64{2 * marginalSteps, 0}}}
	}
	return m
}

// People of two days with the noise of one.
func runningOfOne(bug bool) Mechanism {
	m := runningOf(either[int64](bug, 1, 2))
	m.Pairs = []Pair{{[]int64{0, 0}, []int64{marginalSteps, marginalSteps}}}
	return m
}

// Noise for the first number of a column, and not for its length: Kx moves by steps in the first
// number and by half of it in the second.
func runningShort(bug bool) Mechanism {
	m := runningTotals()
	if bug {
		short := must(mech.NewGaussian(dp.NewL2Squared(big.NewInt(4*marginalSteps*marginalSteps)), dp.One/2))
		m.Open = func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Seal(2*x[0], x[0]+2*x[1]) // 2 Kx, in integers
			return func() int64 {
				y := r.Release(v, short)
				return 2*y[0] + y[1]
			}
		}
	}
	return m
}

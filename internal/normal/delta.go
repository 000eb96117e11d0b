package normal

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// Delta brackets the smallest delta for which Gaussian noise with sensitivity
// over deviation mu > 0 is (epsilon, delta)-differentially private, epsilon >= 0:
// Balle, Wang 2018, Theorem 8,
//
//	delta = Tail(a) - exp(epsilon) Tail(b), a = epsilon/mu - mu/2, b = epsilon/mu + mu/2.
//
// Since exp(epsilon) density(b) = density(a) it is density(a) (Mills(a) -
// Mills(b)), which neither overflows nor compares numbers of different size.
//
// The bracket is of relative width 2^-41 down to 1e-300. Below that the
// lower end is 0 and the upper end at most 1e-300. An argument that is not a
// number, or out of range, gives the bracket from 0 to 1.
func Delta(mu, epsilon float64) dp.Bracket {
	if !(mu > 0) || !(epsilon >= 0) || math.IsInf(mu, 0) || math.IsInf(epsilon, 0) {
		return dp.Bracket{Lower: 0, Upper: 1}
	}
	c := epsilon / mu
	rest := math.FMA(-c, mu, epsilon) / mu
	a, aLow := twoSum(c, -mu/2, rest)
	b, _ := twoSum(c, mu/2, rest)
	switch {
	case math.IsInf(c, 0) || a > negligible:
		return dp.Bracket{Lower: 0, Upper: tiniest}
	case mu <= 1:
		return bracket(density(a, aLow) * millsDifference(c, mu))
	case a >= 0:
		// For mu > 1 the difference is at least 1/40 of Mills(a).
		return bracket(density(a, aLow) * (Mills(a) - Mills(b)))
	case a < -negligible:
		return dp.Bracket{Lower: 1 - margin, Upper: 1}
	default:
		// Tail(a) = 1 - Tail(-a). The result is at least Delta(1, 1/2) > 0.2.
		return bracket(1 - density(a, aLow)*(Mills(-a)+Mills(b)))
	}
}

const (
	tiniest = 1e-300
	// margin covers the error of Delta. Mills and density are within 2^-48, the
	// worst difference multiplies that by 2*40 < 2^7, and what is measured is
	// below 2^-46: the differences are of numbers that err together.
	margin = 0x1p-42
)

func bracket(d float64) dp.Bracket {
	if d < tiniest {
		return dp.Bracket{Lower: 0, Upper: tiniest * (1 + margin)}
	}
	return dp.Bracket{Lower: d * (1 - margin), Upper: math.Min(1, d*(1+margin))}
}

// millsDifference returns Mills(c - mu/2) - Mills(c + mu/2) for 0 < mu <= 1 and c
// >= 0, where subtraction would lose the digits of mu. Under the integral of the
// package comment the difference of exponentials is exp(-c t) 2 sinh(mu t/2), so
// in the notation of ratio
//
//	difference = 2 sum over odd j of (mu/2)^j/j! I(j),
//
// a series of positive terms, each less than (mu/2)^2/(j+2) of the one before.
func millsDifference(c, mu float64) float64 {
	const last = 19 // (1/2)^20/(3*5*...*21) is less than 1e-16
	var integral [last + 1]float64
	if c > fromErfc {
		r := ratio(c, last)
		var ratios [last + 1]float64
		ratios[last] = r
		for j := last - 1; j >= 1; j-- {
			r = float64(j) / (c + r)
			ratios[j] = r
		}
		integral[0] = 1 / (c + r)
		for j := 1; j <= last; j++ {
			integral[j] = integral[j-1] * ratios[j]
		}
	} else {
		// Upwards the recurrence is unstable, by exp(2 c sqrt j) at most; for
		// c <= 1 that is far less than the powers of mu/2 over j! take away.
		integral[0] = Mills(c)
		integral[1] = 1 - c*integral[0]
		for j := 2; j <= last; j++ {
			integral[j] = float64(j-1)*integral[j-2] - c*integral[j-1]
		}
	}
	sum, power := 0.0, 1.0
	for j := 1; j <= last; j++ {
		power *= mu / 2 / float64(j)
		if j%2 == 1 {
			sum += power * integral[j]
		}
	}
	return 2 * sum
}

// twoSum returns x + y + z as a float64 and what it lacks, where z is far
// smaller than x (Knuth's exact addition, and one correction).
func twoSum(x, y, z float64) (sum, rest float64) {
	s := x + y
	v := s - x
	e := (x - (s - v)) + (y - v) + z
	sum = s + e
	return sum, e - (sum - s)
}

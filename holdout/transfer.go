package holdout

import (
	"math"

	"github.com/discreet-dp/discreet/internal/root"
)

// Transfer is the transfer theorem of Jung, Ligett, Neel, Roth, Sharifi-Malvajerdi, Shenfeld 2019,
// for (epsilon, delta): a mechanism that is (epsilon, delta)-differentially private and whose
// answers are all within accuracy of the means over the sample, but with probability miss, has
// answers that are all within the tolerance of the means over the distribution, but with
// probability beta, for every c and g above 0:
//
//	tolerance = accuracy + (exp(epsilon) - 1) + c + 2g,  beta = miss/c + delta/g.
//
// With delta 0 there is no need of g, which may be 0.
func Transfer(accuracy, miss, epsilon, delta, c, g float64) (tolerance, beta float64) {
	if !(accuracy >= 0 && miss >= 0 && epsilon >= 0 && delta >= 0 && c > 0 && g >= 0) || delta > 0 && g == 0 {
		return math.Inf(1), 1
	}
	beta = miss / c
	if delta > 0 {
		beta += delta / g
	}
	return accuracy + math.Expm1(epsilon) + c + 2*g, math.Min(1, beta)
}

// Transferred is the smallest tolerance that was found, with what it takes.
type Transferred struct {
	Tolerance, Epsilon, Delta float64
	// Miss is the probability at which the accuracy was taken, and C and G are the theorem's.
	Miss, C, G float64
}

// BestTransfer looks for the miss, the delta, and the c and g that make the tolerance of [Transfer]
// smallest at a given beta. What it returns holds whether or not it is the smallest.
//
// Accuracy is how near answers are to the sample, but with the given probability; epsilon is what
// the mechanism costs at a delta, which may be 0 where it has a pure claim and is +Inf there where
// it has none. Of beta, a share pays for miss/c and the rest for delta/g, so c and g follow.
func BestTransfer(accuracy, epsilon func(float64) float64, beta float64) Transferred {
	if !(beta > 0 && beta < 1) {
		return Transferred{Tolerance: math.Inf(1), Epsilon: math.Inf(1)}
	}
	at := func(share, delta float64) Transferred {
		b := lowest(beta*1e-12, beta, func(b float64) float64 { return accuracy(b) + b/(share*beta) })
		t := Transferred{Epsilon: epsilon(delta), Delta: delta, Miss: b, C: b / (share * beta)}
		if delta > 0 {
			t.G = delta / ((1 - share) * beta)
		}
		t.Tolerance, _ = Transfer(accuracy(b), b, t.Epsilon, delta, t.C, t.G)
		return t
	}
	best := at(1, 0)
	for _, share := range []float64{0.1, 0.5, 0.9} {
		delta := lowest(beta*1e-15, beta, func(d float64) float64 { return math.Expm1(epsilon(d)) + 2*d/((1-share)*beta) })
		if t := at(share, delta); t.Tolerance < best.Tolerance || math.IsNaN(best.Tolerance) {
			best = t
		}
	}
	return best
}

// lowest returns where a function that falls and then rises is lowest, between two numbers above 0,
// as near as half of a per cent.
func lowest(from, to float64, f func(float64) float64) float64 {
	// Of two that are infinite the larger argument is nearer to what is finite: more noise, more
	// delta.
	low, high := root.Valley(func(x float64) float64 { return f(math.Exp(x)) }, math.Log(from), math.Log(to), 0.005)
	return math.Exp((low + high) / 2)
}

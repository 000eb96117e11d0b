package utility

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// RandomizedResponse is the binary form: each of People tells a bit truthfully with
// probability exp(Epsilon)/(1 + exp(Epsilon)) and the opposite otherwise (Warner
// 1965). Write 1/2 + g for that probability, so 2g = tanh(Epsilon/2). The proportion
// of ones is estimated, without bias, by (mean - 1/2 + g)/(2g).
//
// The population is fixed: the people are those who are asked, and only their coins are random.
type RandomizedResponse struct {
	Epsilon float64
	People  int
}

// maxPeople keeps sums over people short and exact.
const maxPeople = 1 << 30

func (r RandomizedResponse) check() error {
	if r.People > maxPeople {
		return fmt.Errorf("%w: the number of people is %d; write at most %d", errInput, r.People, maxPeople)
	}
	if err := firstError(checkPositive("epsilon", r.Epsilon), checkAtLeast("the number of people", r.People, 1)); err != nil {
		return err
	}
	if r.keptShare() == 0 {
		return fmt.Errorf("%w: epsilon is %v, which tells nothing; write a larger one", errInput, r.Epsilon)
	}
	return nil
}

// keptShare is 2g, which the error of the mean is divided by.
func (r RandomizedResponse) keptShare() float64 { return math.Tanh(r.Epsilon / 2) }

// Variance returns the exact variance of the estimate, (1/(16 g^2) - 1/4)/n =
// 1/(4 n sinh(Epsilon/2)^2), the same whoever holds a one.
func (r RandomizedResponse) Variance() (float64, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	s := math.Sinh(r.Epsilon / 2)
	return 1 / (4 * s * s * float64(r.People)), nil
}

// Alpha returns Hoeffding's bound on the error of the estimate, which holds
// whoever holds a one: sqrt(ln(2/beta)/(2n))/(2g) (Hoeffding 1963, Theorem 2).
// Nobody needs to know the true proportion for it.
func (r RandomizedResponse) Alpha(beta float64) (float64, error) {
	if err := firstError(r.check(), checkProbability(beta)); err != nil {
		return 0, err
	}
	return math.Sqrt((math.Ln2-math.Log(beta))/(2*float64(r.People))) / r.keptShare() * roundUpFactor, nil
}

// AlphaAt returns the exact alpha when the true number of ones is known: the smallest with
// P(|estimate - ones/n| > alpha) <= beta, rounded up. The sum of answers less its mean is U - V -
// c, where U and V count the zeros and the ones that were turned, both binomial with q = 1/2 - g,
// and c = (n - 2 ones) q; the error is that over 2gn.
//
// Below beta = 1e-200 it is Hoeffding's bound.
func (r RandomizedResponse) AlphaAt(ones int, beta float64) (float64, error) {
	hoeffding, err := r.Alpha(beta)
	if err != nil {
		return 0, err
	}
	if ones < 0 || ones > r.People {
		return 0, fmt.Errorf("%w: %d people hold a one; write 0 to %d", errInput, ones, r.People)
	}
	if beta < 1e-200 {
		return hoeffding, nil
	}
	f := newFlipDifference(r.People, ones, r.Epsilon)
	return math.Min(hoeffding, f.within(beta)/(r.keptShare()*float64(r.People))*roundUpFactor), nil
}

// flipDifference is the law of U - V.
type flipDifference struct {
	zeros, ones binomial
	c, slack    float64 // c is within slack of the mean of U - V, and so are sums with it
}

func newFlipDifference(n, ones int, epsilon float64) flipDifference {
	odds := math.Exp(-epsilon) // q/(1-q)
	f := flipDifference{zeros: newBinomial(n-ones, odds), ones: newBinomial(ones, odds)}
	if n != 2*ones {
		f.c = float64(n-2*ones) * (odds / (1 + odds))
		f.slack = float64(n) * 0x1p-50
	}
	return f
}

// within returns the smallest t with P(|U - V - c| > t) <= beta. The candidates are |j - c| over
// the integers j, above c and below it, and for each side the smallest is found by bisection.
func (f flipDifference) within(beta float64) float64 {
	above, below := math.Ceil(f.c), math.Floor(f.c)
	reach := int64(f.zeros.n) + int64(f.ones.n) + 2
	t := math.Inf(1)
	for _, side := range []struct{ from, sign float64 }{{above, 1}, {below, -1}} {
		// The number of steps from the candidate next to c.
		_, steps := numeric.BisectWhole(-1, reach, func(n int64) bool {
			return !(f.beyond(side.from+side.sign*float64(n)) <= beta)
		})
		t = math.Min(t, math.Abs(side.from+side.sign*float64(steps)-f.c))
	}
	return t + 8*f.slack
}

// beyond bounds P(|U - V - c| > |j - c| + 8 slack) from above. Whether an integer
// at the mirror image 2c - j of j, within rounding, is nearer to c than j is or
// farther cannot be seen; the slack makes it near enough.
func (f flipDifference) beyond(j float64) float64 {
	mirror := 2*f.c - j
	var p float64
	if j >= f.c {
		p = f.atLeast(j+1) + f.atMost(math.Ceil(mirror-4*f.slack)-1)
	} else {
		p = f.atMost(j-1) + f.atLeast(math.Floor(mirror+4*f.slack)+1)
	}
	return p*(1+f.zeros.err+f.ones.err) + 1e-270
}

// atLeast is P(U - V >= x), the sum over v of P(V = v) P(U >= x + v).
func (f flipDifference) atLeast(x float64) float64 {
	sum := 0.0
	for i, p := range f.ones.mass {
		sum += p * f.zeros.from(x+float64(f.ones.first+i))
	}
	return sum
}

// atMost is P(U - V <= x), the sum over v of P(V = v) P(U <= x + v).
func (f flipDifference) atMost(x float64) float64 {
	sum := 0.0
	for i, p := range f.ones.mass {
		sum += p * f.zeros.to(x+float64(f.ones.first+i))
	}
	return sum
}

// binomial is the law of the number of successes in n trials, without the parts that
// are together below 1e-270.
type binomial struct {
	n, first     int
	mass         []float64 // of first, first+1, ...
	lower, upper []float64 // P(<= first+i) and P(>= first+i)
	err          float64   // the relative error of all of them is below this
}

// newBinomial takes the odds p/(1-p). Starting at the mode with weight 1 it multiplies by
// (n-k)/(k+1) odds upwards and by the inverse downwards, and divides by the sum: no factorial and
// no logarithm, so a mass that is m steps from the mode is within 8 (m+1) units in the last place.
func newBinomial(n int, odds float64) binomial {
	mode := int(float64(n+1) * (odds / (1 + odds)))
	mode = min(max(mode, 0), n)
	const smallest = 1e-290
	var down, above []float64
	for k, w := mode, 1.0; k > 0; k-- {
		w *= float64(k) / (float64(n-k+1) * odds)
		if w < smallest {
			break
		}
		down = append(down, w)
	}
	for k, w := mode, 1.0; k < n; k++ {
		w *= float64(n-k) / float64(k+1) * odds
		if w < smallest {
			break
		}
		above = append(above, w)
	}
	b := binomial{n: n, first: mode - len(down)}
	for i := len(down) - 1; i >= 0; i-- {
		b.mass = append(b.mass, down[i])
	}
	b.mass = append(append(b.mass, 1), above...)
	b.err = 16 * float64(len(b.mass)+2) * 0x1p-52
	b.lower, b.upper = make([]float64, len(b.mass)), make([]float64, len(b.mass))
	total := 1.0
	for i := len(down) - 1; i >= 0; i-- {
		total += down[i]
	}
	for i := len(above) - 1; i >= 0; i-- {
		total += above[i]
	}
	sum := 0.0
	for i := range b.mass {
		b.mass[i] /= total
		sum += b.mass[i]
		b.lower[i] = sum
	}
	sum = 0
	for i := len(b.mass) - 1; i >= 0; i-- {
		sum += b.mass[i]
		b.upper[i] = sum
	}
	return b
}

// from is P(X >= x) for an integer x.
func (b binomial) from(x float64) float64 {
	i := x - float64(b.first)
	switch {
	case i <= 0:
		return 1
	case i >= float64(len(b.mass)):
		return 0
	}
	return b.upper[int(i)]
}

// to is P(X <= x) for an integer x.
func (b binomial) to(x float64) float64 {
	i := x - float64(b.first)
	switch {
	case i < 0:
		return 0
	case i >= float64(len(b.mass)-1):
		return 1
	}
	return b.lower[int(i)]
}

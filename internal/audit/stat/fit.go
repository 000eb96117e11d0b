package stat

import (
	"fmt"
	"math"
)

// Law is a distribution on numbered outcomes. Rest bounds the probability of all that
// are not listed.
type Law interface {
	Outcomes() []int64
	P(outcome int64) float64
	Rest() float64
}

// Fit compares outcomes to the law that they should have, and returns what is wrong. A
// law that is right is refused with probability at most beta.
//
// Half of beta is for the distribution function, which is nowhere further from the
// counts than sqrt(ln(2/b)/(2n)) except with probability b (Massart 1990). The other
// half is shared by the listed outcomes, each on both sides, and by all others together:
// that is where an outcome shows that cannot be.
func Fit(c Counts, l Law, beta float64) error {
	n := c.Total()
	outcomes := l.Outcomes()
	each := beta / 2 / float64(2*len(outcomes)+1)
	margin := math.Sqrt(math.Log(4/beta) / (2 * float64(n)))
	other := n
	for _, k := range outcomes {
		other -= c[k]
	}
	if isTooMany(other, n, l.Rest(), each) {
		return fmt.Errorf("%d of %d outcomes are not in the support", other, n)
	}
	seen, sum := 0.0, 0.0
	for _, k := range outcomes {
		p := l.P(k)
		// The law is rounded, and may be wrong by a rest.
		least, most := p*(1-1e-9), p*(1+1e-9)+l.Rest()
		if at := c[k]; isTooMany(at, n, most, each) || isTooMany(n-at, n, 1-least, each) {
			return fmt.Errorf("outcome %d came %d times out of %d; its probability is %.6g", k, at, n, p)
		}
		seen += float64(c[k]) / float64(n)
		sum += p
		if math.Abs(seen-sum) > margin+l.Rest()+1e-9 {
			return fmt.Errorf("outcomes up to %d came with frequency %.6f; the probability is %.6f", k, seen, sum)
		}
	}
	return nil
}

// isTooMany reports whether k or more out of n have a probability below beta.
func isTooMany(k, n int, p, beta float64) bool {
	if p >= 1 || float64(k) <= float64(n)*p {
		return false
	}
	return binomialTail(k, n, p) < beta*(1-tailSlack)
}

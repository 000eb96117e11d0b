package account

import "math"

// Repeated is a claim that is made by several mechanisms.
type Repeated struct {
	Approx
	Times int
}

// Validate refuses what is no claim. A claim that is made no times is allowed.
func (r Repeated) Validate() error {
	if r.Times < 0 || r.Times > mostTimes {
		return &ParameterError{"the number of times", float64(r.Times), "a whole number from 0 to 2^53"}
	}
	return r.Approx.Validate()
}

// Basic returns the claim of all mechanisms together by basic composition (Dwork, Roth
// 2014, Theorem 3.16): the sum of epsilon with the sum of delta, rounded up.
func Basic(terms []Repeated) (Approx, error) {
	if err := validated(terms); err != nil {
		return Approx{}, err
	}
	total := Approx{}
	for _, r := range terms {
		total.Epsilon = addUp(total.Epsilon, mulUp(float64(r.Times), r.Epsilon))
		total.Delta = addUp(total.Delta, mulUp(float64(r.Times), r.Delta))
	}
	total.Delta = math.Min(1, total.Delta)
	epsilon, err := finite(total.Epsilon)
	return Approx{epsilon, total.Delta}, err
}

// sums adds up times and the given function of every claim.
func sums(terms []Repeated, f func(Approx) span) span {
	total := span{}
	for _, r := range terms {
		if part := f(r.Approx); r.Times > 0 && part.hi > 0 {
			total = total.add(exactly(float64(r.Times)).mul(part))
		}
	}
	return total
}

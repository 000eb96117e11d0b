package survey

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

// Oracle is one way of asking everybody for a value out of a public domain of Size
// values, numbered from 0, and of estimating how many hold each. Oracles are made by
// this package only and are immutable, so they may be shared.
type Oracle interface {
	// Name is "direct", "oue", "olh" or "hadamard".
	Name() string
	// Size is the number of values of the domain.
	Size() int
	// Cost is what one report costs the person who sends it.
	Cost() dp.Cost
	// Rates are p and q, the probabilities that a report supports the value that is
	// held and one that is not. They are rounded, and decide nothing.
	Rates() (p, q float64)
	// Variance is that of the estimate of a proportion f among n people.
	Variance(f float64, n int64, of Population) float64
	// Bits is how long a report is, at least.
	Bits() int
	// Randomize makes the report of a person who holds a value. It is an error, and
	// nothing is drawn, where the value is outside of the domain. Call it once for each
	// person: a second report is a second charge.
	Randomize(src *noise.Source, value int) (Report, error)

	report(c randomness, value int) Report
	// check refuses what report cannot have made: reports come from anywhere.
	check(r Report) error
	// sumsLen is how many numbers a collector keeps.
	sumsLen() int
	add(sums []int64, r Report)
	// counts returns how many of n reports support each value.
	counts(sums []int64, n int64) []int64
	ownRates() rates
}

// Report is what a person sends. Which fields are used depends on the oracle.
type Report struct {
	Hash   Hash     `json:"hash,omitzero"`  // olh: the hash function, public
	Row    uint64   `json:"row,omitempty"`  // hadamard: the row, public
	Answer uint64   `json:"answer"`         // direct: a value; olh: a bucket; hadamard: a sign
	Bits   []uint64 `json:"bits,omitempty"` // oue: a bit for each value, 64 to a word
}

// New returns an oracle by its name: direct, oue, olh or hadamard.
func New(name string, size int, epsilon dp.Amount) (Oracle, error) {
	// An interface must not hold a nil pointer.
	var o Oracle
	var err error
	switch name {
	case "direct":
		o, err = NewDirect(size, epsilon)
	case "oue":
		o, err = NewUnary(size, epsilon)
	case "olh":
		o, err = NewHashing(size, epsilon)
	case "hadamard":
		o, err = NewHadamard(size, epsilon)
	default:
		err = fmt.Errorf("%w: %q; name one of direct, oue, olh, hadamard", errOracle, name)
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// oraclePlan is what all oracles have.
type oraclePlan struct {
	size int
	cost dp.Cost
	rates
}

func (p *oraclePlan) Size() int       { return p.size }
func (p *oraclePlan) Cost() dp.Cost   { return p.cost }
func (p *oraclePlan) ownRates() rates { return p.rates }

// rates are p and q, with p - q without the cancellation.
type rates struct{ p, q, gap float64 }

func (r rates) Rates() (p, q float64) { return r.p, r.q }

// Variance returns the variance of the estimate. See the package comment.
func (r rates) Variance(f float64, n int64, of Population) float64 {
	v := r.q*(1-r.q)/(r.gap*r.gap) + f*(1-r.p-r.q)/r.gap
	if of == Sample {
		v += f * (1 - f)
	}
	return v / float64(n)
}

// estimate returns the unbiased estimate of a proportion.
func (r rates) estimate(count, n int64) float64 { return (float64(count)/float64(n) - r.q) / r.gap }

// Domains up to which an oracle is chosen.
const (
	maxUnarySize     = 128  // a report of olh is as long
	maxHashedSize    = 4096 // a million reports take olh's collector seconds
	maxVarianceRatio = 1.5  // how much more variance hadamard may have, beyond that
)

// ChooseOracle returns the oracle of the smallest variance, where few hold a value, among
// those that are quick to collect, and says why. It depends on public numbers only.
//
// Direct encoding has the variance (E+k-2)/(E-1)^2, oue 4E/(E-1)^2, and olh nearly
// that; so direct is better where k < 3E + 2.
func ChooseOracle(size int, epsilon dp.Amount) (Oracle, string, error) {
	if _, err := reportCost(epsilon); err != nil {
		return nil, "", err
	}
	if err := checkDomain(size, maxValues); err != nil {
		return nil, "", err
	}
	name, why := "", ""
	border := 3*math.Exp(epsilon.Float()) + 2
	switch {
	case float64(size) < border:
		name, why = "direct",
			fmt.Sprintf("%d values are fewer than 3 exp(epsilon) + 2 = %.4g, so sending a value is more exact than sending a "+
				"bit for each", size, border)
	case size <= maxUnarySize:
		name, why = "oue",
			fmt.Sprintf("%d values are more than 3 exp(epsilon) + 2 = %.4g, and few enough to send a bit for each", size, border)
	case size <= maxHashedSize:
		name, why = "olh", fmt.Sprintf("%d values are too many to send a bit for each, and a hash is as exact", size)
	default:
		olh, rows := hashedRates(epsilon), hadamardRates(epsilon)
		ratio := rows.Variance(0, 1, Fixed) / olh.Variance(0, 1, Fixed)
		if ratio <= maxVarianceRatio {
			name, why = "hadamard",
				fmt.Sprintf("%d values are counted by one fast transform, at %.3g times the variance of olh", size, ratio)
		} else {
			name, why = "olh",
				fmt.Sprintf("%d values are slow to count with olh, but hadamard would have %.3g times the variance", size, ratio)
		}
	}
	o, err := New(name, size, epsilon)
	return o, why, err
}

// Errors when a survey is planned.
var (
	// errEpsilon is returned when an epsilon randomizes nothing or everything.
	errEpsilon = errors.New("a survey cannot have this epsilon")
	// errDomain is returned when there are too few or too many values to choose from.
	errDomain = errors.New("a survey cannot have this domain")
	// errOracle is returned when there is no oracle of a name.
	errOracle = errors.New("there is no such oracle")
)

// Errors while people answer.
var (
	// errValue is returned when somebody answers with a value outside of the domain.
	// Nothing was drawn.
	errValue = errors.New("the answer is outside the domain")
	// errReport is returned when a report cannot have been made by this survey's
	// clients. It was not counted.
	errReport = errors.New("this report is not from this survey")
)

// Errors when answers are counted.
var (
	// errMerge is returned when reports of different surveys are added up.
	errMerge = errors.New("the reports are from another survey")
	// errNobody is returned when nobody has answered.
	errNobody = errors.New("nobody has answered, so there is nothing to estimate")
	// errConfidence is returned when a confidence is none.
	errConfidence = errors.New("a confidence must be a number such as 0.95")
)

// maxEpsilon is the largest epsilon: beyond it one answer in 10^14 is turned, which
// is not a survey with privacy.
const maxEpsilon = 32 * dp.One

// reportCost checks an epsilon and returns what one report costs.
func reportCost(epsilon dp.Amount) (dp.Cost, error) {
	switch {
	case epsilon == 0:
		return dp.Cost{}, fmt.Errorf("%w: with epsilon 0 the answers tell nothing; ask with an epsilon such as 1", errEpsilon)
	case epsilon > maxEpsilon:
		return dp.Cost{},
			fmt.Errorf("%w: above 32 hardly any answer is ever changed, and nobody is protected; ask with an "+
				"epsilon such as 1", errEpsilon)
	}
	rho, err := dp.CeilFloat(dp.RhoOfPure(epsilon.Float()))
	if err != nil {
		return dp.Cost{}, err
	}
	return dp.Cost{Epsilon: epsilon, Rho: rho}, nil
}

// checkDomain refuses domains of other than 2 to most values.
func checkDomain(size, most int) error {
	switch {
	case size < 2:
		return fmt.Errorf("%w: it has %d values, but a question needs at least two answers", errDomain, size)
	case size > most:
		return fmt.Errorf("%w: it has %d values, but this oracle takes at most %d; combine rare values, or use another oracle",
			errDomain, size, most)
	}
	return nil
}

func checkValue(value, size int) error {
	if value < 0 || value >= size {
		return fmt.Errorf("%w: a value must be a number from 0 to %d", errValue, size-1)
	}
	return nil
}

package survey

import (
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
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
	// room is how many numbers a collector keeps.
	room() int
	add(sums []int64, r Report)
	// counts returns how many of n reports support each value.
	counts(sums []int64, n int64) []int64
	rated() rates
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
		err = fmt.Errorf("%w: %q; name one of direct, oue, olh, hadamard", ErrOracle, name)
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// plan is what all oracles have.
type plan struct {
	size int
	cost dp.Cost
	rates
}

func (p *plan) Size() int     { return p.size }
func (p *plan) Cost() dp.Cost { return p.cost }

func (p *plan) rated() rates { return p.rates }

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
func (r rates) estimate(count, n int64) float64 {
	return (float64(count)/float64(n) - r.q) / r.gap
}

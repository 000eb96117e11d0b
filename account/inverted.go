package account

import (
	"math"

	"github.com/discreet-dp/discreet/account/loss"
)

// inversion is the privacy loss of randomized responses whose values are too many
// to enumerate.
type inversion struct{ sum loss.Sum }

func inverted(groups []Repeated) (losses, error) {
	var s loss.Sum
	for _, g := range groups {
		law, err := loss.Response(g.Epsilon, 0)
		if err != nil {
			return nil, err
		}
		if s, err = s.Plus(law, g.Times); err != nil {
			return nil, err
		}
	}
	return inversion{s}, nil
}

// The sum checks its arguments, which were checked before: what is refused is
// answered with a bracket that says nothing.

func (i inversion) delta(epsilon float64) span {
	b, err := i.sum.Delta(epsilon)
	if err != nil {
		return span{0, 1}
	}
	return span{b.Lower, b.Upper}
}

func (i inversion) epsilon(x span) span {
	most, err := i.sum.Epsilon(max(0, min(x.lo, 1-0x1p-53)))
	if err != nil {
		return span{0, math.Inf(1)}
	}
	if x.lo == x.hi {
		return span{most.Lower, most.Upper}
	}
	least, err := i.sum.Epsilon(max(0, min(x.hi, 1-0x1p-53)))
	if err != nil {
		return span{0, most.Upper}
	}
	return span{least.Lower, most.Upper}
}
